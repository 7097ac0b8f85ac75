// The account keys. A new key is shown once, when it has replaced the old one.
import { html, useState } from '../../vendor/preact.js';
import { call, get, path, post, session, useRequest } from '../api.js';
import { t } from '../messages.js';
import { createStore, useStore } from '../store.js';
import { Confirm, Dialog, Failure, Skeleton } from '../ui/parts.js';
import { Copyable, Machine } from './operations-parts.js';

// made is the key that has just been made. It outlives this part: the page may ask to sign in right after a rotation.
const made = createStore(null);

async function rotate(name) {
  const key = await post(`${path('keys', name)}/rotate`);
  made.set(key);
  // The session of this page ends if it was one of the old key: go on with the new one.
  const state = await get('/session');
  if (state.needsKey && !state.signedIn && !key.readOnly) session.set((await call('POST', '/session', { body: { key: key.key } })).body);
}

export function Keys({ write }) {
  const { data, error, reload } = useRequest((signal) => get('/keys', { signal }), []);
  const [asking, setAsking] = useState(null);
  const fresh = useStore(made);
  return html`<section class="panel" aria-labelledby="keys"><h2 id="keys">${t('operations.keys')}</h2>
    <p class="hint">${t('operations.keys.what')}</p>
    <${Failure} error=${data ? null : error} retry=${reload} />
    ${!data && !error && html`<${Skeleton} lines=${4} />`}
    ${data && html`<div class="scroll" tabindex="0" role="region" aria-label=${t('operations.keys')}><table class="keys-table">
      <thead><tr><th>${t('name')}</th><th>${t('operations.keys.rights')}</th><th>${t('operations.keys.origin')}</th><th>${t('operations.keys.since')}</th>
        ${write && html`<th><span class="visually-hidden">${t('operations.actions')}</span></th>`}</tr></thead>
      <tbody>${data.keys.map((k) => html`<tr key=${k.name}><th scope="row"><code>${k.name}</code></th>
        <td>${t(k.readOnly ? 'operations.keys.reads' : 'operations.keys.writes')}</td><td>${k.origin}</td>
        <td>${k.since ? html`<${Machine} time=${k.since} />` : '–'}</td>
        ${write && html`<td class="actions"><button class="quiet" aria-label=${t('operations.keys.rotate.of', { name: k.name })}
          onClick=${() => setAsking(k.name)}>${t('operations.keys.rotate')}</button></td>`}</tr>`)}</tbody></table></div>`}
    ${asking && html`<${Confirm} title=${t('operations.keys.rotate.of', { name: asking })} action=${t('operations.keys.rotate')} onClose=${() => setAsking(null)}
      onConfirm=${async () => {
    await rotate(asking);
    reload();
  }}><p>${t('operations.keys.ask')}</p><//>`}
    ${fresh && !asking && html`<${Dialog} title=${t('operations.keys.new', { name: fresh.name })} onClose=${() => made.set(null)}
      footer=${html`<button class="primary" onClick=${() => made.set(null)}>${t('close')}</button>`}>
      <p>${t('operations.keys.once')}</p><${Copyable} label=${t('operations.keys.key')} text=${fresh.key} /><//>`}</section>`;
}
