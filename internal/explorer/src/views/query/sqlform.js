// The editor of SQL: the text, a value for each parameter it names, and a partition key.
import { html, useMemo } from '../../../vendor/preact.js';
import { t } from '../../messages.js';
import { Editor } from '../../ui/editor.js';
import { sqlCompletions } from './complete.js';
import { explainJSON, parameterNames } from './request.js';
import { jsonError } from './scan.js';

export function SqlForm({ query, change, run, tree, containers, errors }) {
  const names = useMemo(() => parameterNames(query.sql), [query.sql]);
  const complete = sqlCompletions({ tree, containers, parameters: names });
  const set = (name) => (text) => change({ parameters: { ...query.parameters, [name]: text } });
  return html`<div class="query-editor sql"><${Editor} language="sql" label=${t('query.sql')} value=${query.sql}
      onChange=${(sql) => change({ sql })} onRun=${run} complete=${complete} errors=${errors} autofocus /></div>
    <div class="query-values">
      ${names.map((name) => html`<${JsonField} key=${name} label=${name} value=${query.parameters[name] ?? ''} set=${set(name)}
        placeholder=${t('query.parameter.hint')} />`)}
      <${JsonField} label=${t('query.partitionKey')} value=${query.partitionKey} set=${(partitionKey) => change({ partitionKey })}
        placeholder=${t('query.partitionKey.hint')} /></div>`;
}

// JsonField is an input for one value as JSON; empty is none.
function JsonField({ label, value, set, placeholder }) {
  const error = value.trim() ? jsonError(value) : null;
  return html`<label class="inline-field"><span>${label}</span>
    <input class="mono" value=${value} placeholder=${placeholder} onInput=${(e) => set(e.target.value)} spellcheck="false" autocomplete="off"
      aria-invalid=${error ? 'true' : undefined} />
    ${error && html`<small class="wrong">${t('query.notJSON', { why: explainJSON(error) })}</small>`}</label>`;
}
