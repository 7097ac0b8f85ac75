// The connections that clients have opened, those with running requests first.
import { html, useState } from '../../vendor/preact.js';
import { get, useRequest } from '../api.js';
import { duration } from '../format.js';
import { number, t } from '../messages.js';
import { Failure, Skeleton } from '../ui/parts.js';
import { Machine } from './operations-parts.js';

const names = { nosql: 'NoSQL', mongo: 'MongoDB', admin: 'Admin' };

export function Connections() {
  const { data, error, reload } = useRequest((signal) => get('/connections', { signal }), [], { every: 3000 });
  const [api, setApi] = useState('');
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Skeleton} lines=${6} />`;
  const { connections, total } = data;
  const shown = connections.filter((c) => !api || c.api === api);
  const count = (name) => connections.filter((c) => !name || c.api === name).length;
  const choice = (name, label) => html`<label class="choice"><input type="radio" name="api" checked=${api === name} onChange=${() => setApi(name)} />
    ${label} <small>${number(count(name))}</small></label>`;
  return html`<section class="panel" aria-labelledby="connections"><div class="row panel-head"><h2 id="connections" class="grow">${t('operations.connections')}</h2>
      <fieldset class="row choices"><legend class="visually-hidden">${t('container.dialect')}</legend>
        ${choice('', t('operations.all'))}${Object.entries(names).map(([name, label]) => choice(name, label))}</fieldset></div>
    ${total > connections.length && html`<p class="hint">${t('operations.connections.first', { n: connections.length, total })}</p>`}
    <${Failure} error=${error} retry=${reload} />
    ${shown.length === 0 ? html`<p class="hint">${t('operations.connections.none')}</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label=${t('operations.connections')}><table class="connections-table">
      <thead><tr><th>${t('container.dialect')}</th><th>${t('operations.connections.remote')}</th><th>${t('operations.connections.client')}</th>
        <th>${t('operations.connections.user')}</th><th>${t('operations.connections.since')}</th><th class="number">${t('operations.connections.requests')}</th>
        <th class="number">${t('operations.connections.active')}</th></tr></thead>
      <tbody>${shown.map((c) => html`<tr key=${c.id}><td><span class="badge">${names[c.api] ?? c.api}</span></td><td class="mono">${c.remote}</td>
        <td class="ellipsis client" title=${c.client}>${c.client || '–'}</td><td>${c.user || '–'}</td>
        <td><${Machine} time=${c.since} /> <small>${duration((Date.now() - Date.parse(c.since)) / 1000)}</small></td>
        <td class="number">${number(c.requests)}</td><td class="number">${c.active > 0 ? html`<strong>${number(c.active)}</strong>` : '0'}</td></tr>`)}</tbody></table></div>`}
  </section>`;
}
