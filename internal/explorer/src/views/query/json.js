// Values as coloured JSON.
import { html, useMemo } from '../../../vendor/preact.js';
import { t } from '../../messages.js';
import { copyText, Countdown } from '../../ui/parts.js';

const longest = 40000; // longer texts stay without colours

const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

function colored(text) {
  if (text.length > longest) return text;
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(token)) {
    const [all, quoted, colon] = found;
    const name = colon ? 'name' : quoted ? 'string' : 'number';
    parts.push(text.slice(at, found.index), html`<span class=${`json-${name}`}>${quoted ?? all}</span>`, colon ?? '');
    at = found.index + all.length;
  }
  parts.push(text.slice(at));
  return parts;
}

export function Json({ value }) {
  const shown = useMemo(() => colored(JSON.stringify(value, null, 2)), [value]);
  return html`<pre class="json">${shown}</pre>`;
}

// mortal reports that at least one row is an item: false stands for a row that is none.
export const mortal = (lifetimes) => lifetimes.some((life) => life !== false);

// Documents lists rows, each with its number, its time left and a button that copies it.
export const Documents = ({ page }) => html`<ol class="documents" aria-label=${t('query.results')}>
  ${page.items.map((item, i) => html`<li key=${page.first + i}>
    <div class="document-head"><span class="detail">${page.first + i}</span>
      <span class="grow">${mortal(page.lifetimes) && page.lifetimes[i] !== false && html`
        <${Countdown} deadline=${page.lifetimes[i]} />`}</span>
      <button class="quiet" aria-label=${t('query.copy.row', { n: page.first + i })}
        onClick=${() => copyText(JSON.stringify(item, null, 2))}>${t('query.copy')}</button></div>
    <${Json} value=${item} /></li>`)}</ol>`;
