// The grid: a row for each item, with its time left. Rows fade towards their deadline and leave at it.
import { html, useEffect, useMemo } from '../../vendor/preact.js';
import { language, t } from '../messages.js';
import { useAt } from '../time.js';
import { Countdown } from '../ui/parts.js';
import { isNumeric, keyOf, sortRule, titleOf } from './items-columns.js';
import { labelOf, lookUp, refersTo, short } from './items-names.js';
import { Why } from './items-why.js';

const farewell = 1600; // milliseconds for which a row that has ended stays, struck through

// phaseOf is how near the end is: 0 is far, 1 to 4 are the last minute, 5 is over.
function phaseOf(deadline, at) {
  if (typeof deadline !== 'number') return 0;
  const left = deadline - at;
  if (left <= 0) return 5;
  return left > 60 ? 0 : 4 - Math.floor(left / 16);
}

// kindOf says how a value looks: text, a value of another type, or code.
function kindOf(value, text) {
  if (value === null || value === '') return 'code';
  if (typeof value === 'string') return 'text';
  return /^[[{]/.test(text) ? 'code' : 'value';
}

function Cell({ item, steps, numeric }) {
  const value = lookUp(item, steps);
  if (value === undefined) return html`<td></td>`;
  const text = value === '' ? '""' : short(value);
  const kind = numeric ? 'number' : kindOf(value, text);
  return html`<td class=${kind} title=${text.length > 30 ? text.slice(0, 1000) : undefined}>${text.slice(0, 200)}</td>`;
}

function Row({ row, columns, numeric, opened, ends, onGone }) {
  const phase = useAt((at) => phaseOf(row.deadline, at));
  useEffect(() => {
    if (phase < 5) return undefined;
    const timer = setTimeout(() => onGone(row.key), farewell);
    return () => clearTimeout(timer);
  }, [phase === 5]);
  const [first, ...rest] = columns;
  const id = short(lookUp(row.item, first) ?? null);
  return html`<tr data-key=${row.key} data-phase=${phase} aria-current=${opened ? 'true' : undefined}>
    <th scope="row"><button class="open" title=${id}
        aria-label=${t('items.open', { name: labelOf(row.name) })}>${id.slice(0, 200)}</button></th>
    ${ends && html`<td class="life">${row.deadline !== false && html`<${Countdown} deadline=${row.deadline} />`}</td>`}
    ${rest.map((steps) => html`<${Cell} key=${keyOf(steps)} item=${row.item} steps=${steps}
        numeric=${numeric.has(keyOf(steps))} />`)}</tr>`;
}

function Head({ container, steps, numeric, sort, onSort, sortable }) {
  const title = titleOf(steps);
  const direction = sort && keyOf(sort.steps) === keyOf(steps) ? sort.direction : null;
  const rule = sortable ? sortRule(container, steps) : 'no';
  const hint = { yes: t('items.sort'), slow: t('items.sort.noIndex', { name: title }), no: undefined }[rule];
  return html`<th scope="col" class=${numeric ? 'number' : ''} aria-sort=${direction ?? undefined}>
    ${rule === 'no' ? html`<span>${title}</span>` : html`<button class="sort" title=${hint} onClick=${() => onSort(steps, rule)}>
      ${title}<span aria-hidden="true">${direction ? (direction === 'ascending' ? '▲' : '▼') : ''}</span></button>`}</th>`;
}

export function Grid({ db, container, rows, columns, sort, onSort, opened, why, onWhy, onOpen, onGone, busy, sortable }) {
  const items = useMemo(() => rows.map((row) => row.item), [rows]);
  const numeric = useMemo(() => new Set(columns.slice(1).filter((steps) => isNumeric(items, steps)).map(keyOf)), [items, columns]);
  const ends = !container.view;
  const click = (e) => {
    const key = e.target.closest('tr[data-key]')?.dataset.key;
    const row = rows.find((one) => one.key === key);
    if (row && getSelection().isCollapsed) onOpen(row);
  };
  // The same rows again are not drawn again, whatever else changes in the view.
  const body = useMemo(() => rows.flatMap((row) => [
    html`<${Row} key=${row.key} row=${row} columns=${columns} numeric=${numeric} ends=${ends} onGone=${onGone}
      opened=${refersTo(opened, row.name)} />`,
    row.key === why && html`<tr key=${`why ${row.key}`} class="why-row"><td colspan=${columns.length + 1}>
      <${Why} db=${db} container=${container} name=${row.name} onClose=${() => onWhy(null)} /></td></tr>`,
  ]), [rows, columns, numeric, opened && JSON.stringify(opened), why, language()]);
  return html`<div class="scroll grid" aria-busy=${busy}><table aria-label=${t('items.label', { name: container.id })}>
    <thead><tr>${columns.flatMap((steps, i) => [
    html`<${Head} container=${container} steps=${steps} numeric=${numeric.has(keyOf(steps))} sort=${sort} onSort=${onSort}
        sortable=${sortable} />`,
    i === 0 && ends && html`<th scope="col" class="life">${t('items.left')}</th>`])}</tr></thead>
    <tbody onClick=${click}>${body}</tbody></table></div>`;
}

// moveBy moves the focus along the rows, from the row that has or had it.
export function moveBy(step, last) {
  const rows = [...document.querySelectorAll('.grid tr[data-key]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const from = at >= 0 ? at : rows.findIndex((row) => row.dataset.key === last);
  const to = rows[from < 0 ? (step < 0 ? rows.length - 1 : 0) : Math.min(Math.max(from + step, 0), rows.length - 1)];
  to?.querySelector('.open').focus();
  return to?.dataset.key;
}
