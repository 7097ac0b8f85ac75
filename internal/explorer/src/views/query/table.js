// Rows as a table: a column for each member, the time left first.
import { html, useMemo, useState } from '../../../vendor/preact.js';
import { t } from '../../messages.js';
import { useNow } from '../../time.js';
import { copyText, Countdown, Dialog } from '../../ui/parts.js';
import { isObject, kindOf, show } from './exact.js';
import { Json, mortal } from './json.js';

const mostColumns = 60;
const longestCell = 300;

// system are the members that the server adds to items.
const system = new Set(['_rid', '_self', '_etag', '_attachments', '_ts']);

// columnsOf are the columns of some rows, without those of the system unless they are all there is.
export function columnsOf(rows, withSystem = false) {
  const names = new Set();
  for (const row of rows) {
    if (isObject(row)) for (const name of Object.keys(row)) names.add(name);
    else names.add('value');
  }
  const own = [...names].filter((name) => !system.has(name));
  return withSystem || own.length === 0 ? [...names] : own;
}

export const valueIn = (row, column) => (isObject(row) ? row[column] : column === 'value' ? row : undefined);

const isTime = (life) => life !== null && life !== false && life !== undefined;

export function Table({ page }) {
  const [withSystem, setSystem] = useState(false);
  const [open, setOpen] = useState(null);
  const { items, lifetimes } = page;
  const all = columnsOf(items, withSystem);
  const columns = all.slice(0, mostColumns);
  const hides = items.some((row) => isObject(row) && '_rid' in row && Object.keys(row).some((name) => !system.has(name)));
  const numbers = useMemo(() => numeric(items, columns), [items, withSystem]);
  const at = useNow();
  const gone = lifetimes.filter((life) => isTime(life) && life <= at).length;
  const rows = useMemo(() => items.map((row, i) => html`
    <tr key=${i} class=${isTime(lifetimes[i]) && lifetimes[i] <= at ? 'gone' : ''}>
      <th scope="row" class="number"><button class="quiet" aria-label=${t('query.row', { n: page.first + i })}
        onClick=${() => setOpen(i)}>${page.first + i}</button></th>
      ${mortal(lifetimes) && html`<td class="life">${lifetimes[i] === false ? '' : html`<${Countdown} deadline=${lifetimes[i]} />`}</td>`}
      ${columns.map((column) => html`<${Cell} value=${valueIn(row, column)} number=${numbers.has(column)} />`)}</tr>`),
  [items, withSystem, gone]);
  return html`<div class="query-table">
    ${(hides || all.length > columns.length) && html`<div class="row table-options">
      ${hides && html`<label class="choice"><input type="checkbox" checked=${withSystem}
        onChange=${(e) => setSystem(e.target.checked)} />${t('query.system')}</label>`}
      ${all.length > columns.length && html`<small>${t('query.columns.more', { n: all.length - columns.length })}</small>`}</div>`}
    <div class="scroll" tabindex="0" role="region" aria-label=${t('query.results')}><table>
      <thead><tr><th scope="col" class="number">#</th>${mortal(lifetimes) && html`<th scope="col">${t('query.left')}</th>`}
        ${columns.map((name) => html`<th scope="col" class=${numbers.has(name) ? 'number' : ''}>
          <span class="ellipsis">${name}</span></th>`)}</tr></thead>
      <tbody>${rows}</tbody></table></div>
    ${open !== null && html`<${RowDialog} n=${page.first + open} row=${items[open]} onClose=${() => setOpen(null)} />`}</div>`;
}

// numeric are the columns whose values are all numbers.
function numeric(items, columns) {
  return new Set(columns.filter((column) => {
    const kinds = new Set(items.map((row) => kindOf(valueIn(row, column))));
    return kinds.has('number') && [...kinds].every((kind) => ['number', 'undefined', 'null'].includes(kind));
  }));
}

function Cell({ value, number }) {
  const kind = kindOf(value);
  const text = show(value);
  const short = text.length > longestCell ? `${text.slice(0, longestCell)}…` : text;
  return html`<td class=${number ? 'number' : ''}><span class="cell ${kind}" title=${short.length > 40 ? short : undefined}>${short}</span></td>`;
}

const RowDialog = ({ n, row, onClose }) => html`<${Dialog} title=${t('query.row', { n })} wide onClose=${onClose}
    footer=${html`<button onClick=${() => copyText(JSON.stringify(row, null, 2))}>${t('query.copy')}</button>
      <button onClick=${onClose}>${t('close')}</button>`}>
  <${Json} value=${row} /><//>`;
