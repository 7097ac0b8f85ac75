// The line below the grid: which page this is, how to go on, and what it took.
import { html } from '../../vendor/preact.js';
import { number, t } from '../messages.js';
import { remembered, useStore } from '../store.js';
import { Spinner } from '../ui/parts.js';

// The largest page is what the admin API gives.
const sizes = [25, 100, 250, 500, 1000];

export const pageSize = remembered('items.pageSize', 100);

export function Pager({ pages, total, left }) {
  const { rows, page, more, loading, load, charge, took } = pages;
  const size = useStore(pageSize);
  return html`<nav class="pager" aria-label=${t('items.pages')}>
    <button disabled=${page === 0 || loading} onClick=${() => load(page - 1)} aria-label=${t('items.previous')}>‹</button>
    <span role="status">${t('items.page', { page: page + 1 })}<span class="wide-only"> · ${t('items.rows', { n: rows.length })}${
  total === null || total === undefined ? '' : ` ${t('items.of', { n: total })}`}</span></span>
    <button disabled=${!more || loading} onClick=${() => load(page + 1)} aria-label=${t('items.next')}>›</button>
    <label class="size"><span class="wide-only">${t('items.size')}</span>
      <select aria-label=${t('items.size')} value=${size} onChange=${(e) => pageSize.set(Number(e.target.value))}>
        ${sizes.map((n) => html`<option value=${n} selected=${n === size}>${number(n)}</option>`)}</select></label>
    ${left > 0 && html`<span class="hint">${t('items.left.count', { n: left })}</span>`}
    <span class="hint cost">${loading ? html`<${Spinner} />` : html`${number(Math.round(took ?? 0))} ms${
  charge === undefined ? '' : ` · ${number(charge, { maximumFractionDigits: 2 })} RU`}`}</span></nav>`;
}
