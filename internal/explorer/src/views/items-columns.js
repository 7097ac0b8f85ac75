// The columns of the grid: members seen in the page, the id and the partition key first, nested ones by their path.
// A column is an array of names; its key is that array as JSON.
import { html, useRef, useState, useEffect } from '../../vendor/preact.js';
import { t } from '../messages.js';
import { isMongo, isNumber, isObject, isWrapped, lookUp, partitionSteps, systemMembers } from './items-names.js';

const automatic = 8; // columns that are shown until somebody chooses
const deepest = 4; // steps of a path that becomes a column
const most = 300; // columns in the picker

export const keyOf = (steps) => JSON.stringify(steps);

export const titleOf = (steps) => steps.map((s) => (/^[^.\s"]+$/.test(s) ? s : JSON.stringify(s))).join('.');

// firstColumns name the item.
export function firstColumns(container) {
  const id = [isMongo(container) ? '_id' : 'id'];
  return unique([id, ...partitionSteps(container)]);
}

function unique(list) {
  const seen = new Set();
  return list.filter((steps) => !seen.has(keyOf(steps)) && seen.add(keyOf(steps)));
}

function collect(value, steps, into) {
  for (const [name, member] of Object.entries(value)) {
    if (into.size >= most) return;
    const path = [...steps, name];
    if (!into.has(keyOf(path))) into.set(keyOf(path), path);
    if (isObject(member) && !isWrapped(member) && path.length < deepest) collect(member, path, into);
  }
}

// columnsOf are all columns that the items of a page could have, system members last.
export function columnsOf(container, items) {
  const found = new Map(firstColumns(container).map((steps) => [keyOf(steps), steps]));
  for (const item of items) if (isObject(item)) collect(item, [], found);
  const all = [...found.values()];
  const isSystem = (steps) => !isMongo(container) && steps.length === 1 && systemMembers.includes(steps[0]);
  return [...all.filter((s) => !isSystem(s)), ...all.filter(isSystem)];
}

// shownColumns are those that were chosen, or some that suit: no system members, and no members of shown objects.
export function shownColumns(container, all, chosen) {
  if (chosen) return unique([...firstColumns(container), ...chosen]);
  const first = firstColumns(container);
  const rest = all.filter((s) => s.length === 1 && (isMongo(container) || !systemMembers.includes(s[0])));
  return unique([...first, ...rest]).slice(0, automatic);
}

// isNumeric reports whether a column has numbers alone.
export function isNumeric(items, steps) {
  let seen = false;
  for (const item of items) {
    const value = lookUp(item, steps);
    if (value === undefined || value === null) continue;
    if (!isNumber(value)) return false;
    seen = true;
  }
  return seen;
}

// sortRule says whether a column can be sorted by: 'yes', 'no', or 'slow' where the server would sort in memory.
export function sortRule(container, steps) {
  if (!isMongo(container)) return 'yes'; // the server knows the paths that are not indexed
  if (steps.some((s) => s.includes('.') || s.startsWith('$'))) return 'no';
  const path = steps.join('.');
  return path === '_id' || (container.indexes ?? []).some((i) => Object.keys(i.key)[0] === path) ? 'yes' : 'slow';
}

// Columns is the picker: a button with a list of check boxes.
export function Columns({ all, shown, fixed, onChoose, chosen }) {
  const [open, setOpen] = useState(false);
  const ref = useRef(null);
  useEffect(() => {
    if (!open) return undefined;
    const away = (e) => { if (!ref.current.contains(e.target)) setOpen(false); };
    addEventListener('pointerdown', away);
    ref.current.querySelector('input:not(:disabled)')?.focus();
    return () => removeEventListener('pointerdown', away);
  }, [open]);
  const close = (e) => {
    if (e.key !== 'Escape') return;
    e.stopPropagation();
    setOpen(false);
    ref.current.querySelector('button').focus();
  };
  const keys = new Set(shown.map(keyOf));
  const locked = new Set(fixed.map(keyOf));
  const listed = unique([...all, ...shown]);
  const toggle = (steps) => onChoose(keys.has(keyOf(steps))
    ? shown.filter((s) => keyOf(s) !== keyOf(steps)) : [...shown, steps]);
  return html`<div class="picker" ref=${ref} onKeyDown=${open ? close : undefined}>
    <button aria-expanded=${open} aria-haspopup="true" onClick=${() => setOpen(!open)}>${t('items.columns')}
      <span class="count">${shown.length}</span></button>
    ${open && html`<div class="picker-list" role="group" aria-label=${t('items.columns')}>
      ${listed.map((steps) => html`<label key=${keyOf(steps)} class="choice depth-${steps.length}">
        <input type="checkbox" checked=${keys.has(keyOf(steps))} disabled=${locked.has(keyOf(steps))} onChange=${() => toggle(steps)} />
        <span class="ellipsis" title=${titleOf(steps)}>${titleOf(steps)}</span></label>`)}
      <button class="quiet" disabled=${!chosen} onClick=${() => onChoose(null)}>${t('items.columns.reset')}</button></div>`}
  </div>`;
}
