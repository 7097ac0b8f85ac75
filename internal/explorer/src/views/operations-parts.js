// Parts of several tabs.
import { html } from '../../vendor/preact.js';
import { instant } from '../format.js';
import { t } from '../messages.js';
import { copyText } from '../ui/parts.js';

const timeOfDay = { hour: '2-digit', minute: '2-digit', second: '2-digit' };

// Machine is a time by the machine's clock, as text of RFC 3339. Seconds are enough to read; the tooltip has all of it.
// short leaves the date out if it is today's.
export function Machine({ time, short }) {
  const date = new Date(time);
  const today = short && date.toDateString() === new Date().toDateString();
  return html`<time datetime=${time} title=${time}>${instant(date / 1000, today ? timeOfDay : undefined)}</time>`;
}

// Copyable is a text to paste elsewhere, with its button.
export const Copyable = ({ label, text, note }) => html`<div class="copyable"><div class="row"><h3 class="grow">${label}</h3>
    <button class="quiet" aria-label=${t('operations.copy.of', { name: label })} onClick=${() => copyText(text)}>${t('operations.copy')}</button></div>
  <pre class=${text.includes('\n') ? '' : 'wrap'} tabindex="0" role="region" aria-label=${label}>${text}</pre>${note && html`<p class="hint">${note}</p>`}</div>`;

// save downloads a Blob as a file.
export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000); // a large file takes a while to be copied
}
