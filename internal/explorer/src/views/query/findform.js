// The parts of a MongoDB find, in extended JSON.
import { html } from '../../../vendor/preact.js';
import { t } from '../../messages.js';
import { mongoCompletions } from './complete.js';
import { JsonEditor } from './jsoneditor.js';

export function FindForm({ query, change, run, tree, containers, errors }) {
  const { find } = query;
  const set = (name) => (text) => change({ find: { ...find, [name]: text } });
  const complete = (kind) => mongoCompletions({ tree, containers, kind });
  const editor = (name, kind, placeholder) => html`<div class=${`find-part ${name}`}><h3>${t(`query.${name}`)}</h3>
    <${JsonEditor} label=${t(`query.${name}`)} value=${find[name]} kind="object" set=${set(name)} run=${run} complete=${complete(kind)}
      placeholder=${placeholder} errors=${name === 'filter' ? errors : undefined} autofocus=${name === 'filter'} /></div>`;
  const count = (name) => html`<label class="inline-field"><span>${t(`query.${name}`)}</span>
    <input class="number" type="number" min="0" step="1" value=${find[name]} onInput=${(e) => set(name)(e.target.value)} /></label>`;
  return html`<div class="query-find">${editor('filter', 'filter', '{ "n": { "$gt": 1 } }')}
    ${editor('projection', 'stage', '{ "_id": 1 }')}${editor('sort', 'none', '{ "_id": -1 }')}</div>
    <div class="query-values">${count('skip')}${count('limit')}</div>`;
}
