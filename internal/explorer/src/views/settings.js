// Scale & Settings of a container: Time to Live with its preview, indexes, keys, throughput.
import { html, useState } from '../../vendor/preact.js';
import { containerPath, get, remove, session, useRequest } from '../api.js';
import { reloadCatalog } from '../catalog.js';
import { bytes } from '../format.js';
import { t } from '../messages.js';
import { go } from '../router.js';
import { useStore } from '../store.js';
import { Confirm, Failure, Skeleton, toast } from '../ui/parts.js';
import { IndexingPolicy, MongoIndexes } from './settings-indexes.js';
import { LifetimeForm } from './settings-lifetime.js';
import { Throughput } from './settings-throughput.js';

export function Settings({ db, container }) {
  const { id, dialect, view } = container;
  const { write } = useStore(session);
  const [deleting, setDeleting] = useState(false);
  const path = containerPath(db, id);
  const { data, error, reload } = useRequest((signal) => get(path, { signal }), [path, container._etag], { keep: true });
  const changed = async () => {
    reload();
    await reloadCatalog();
  };
  if (error && !data) return html`<${Failure} error=${error} retry=${reload} />`;
  if (!data) return html`<${Skeleton} lines=${8} />`;
  const mongo = dialect === 'mongodb';
  return html`<div class="settings">
    ${view ? html`<section class="panel"><h2>${t('settings.view')}</h2><pre>${JSON.stringify(data.options, null, 2)}</pre></section>`
    : html`<${LifetimeForm} path=${path} container=${data} write=${write} onSaved=${changed} />
      ${mongo ? html`<${MongoIndexes} path=${path} container=${data} write=${write} onSaved=${changed} />`
    : html`<${IndexingPolicy} path=${path} container=${data} write=${write} onSaved=${changed} />
        <${Throughput} path=${path} write=${write} /><${Facts} container=${data} />`}`}
    ${write && html`<section class="panel"><h2>${t('settings.delete')}</h2><div class="row"><p class="grow">${t('settings.delete.what')}</p>
      <button class="danger" onClick=${() => setDeleting(true)}>${t('settings.delete')}</button></div></section>`}
    ${deleting && html`<${Confirm} title=${t('settings.delete')} action=${t('delete')} typed=${id} onClose=${() => setDeleting(false)}
      onConfirm=${async () => {
    await remove(path);
    toast(t('settings.deleted', { name: id }), 'good');
    await reloadCatalog(); // first, so that no view asks for what is gone
    go();
  }}><p>${t('settings.delete.ask', { name: id, n: data.items })} (${bytes(data.bytes)})</p><//>`}
  </div>`;
}

// Facts are what cannot be changed after the container is made.
function Facts({ container }) {
  const unique = container.uniqueKeyPolicy?.uniqueKeys ?? [];
  const key = container.partitionKey ?? {};
  const rows = [
    ['settings.partitionKey', html`<code>${(key.paths ?? []).join(', ')}</code> <small>${key.kind}${key.version ? ` v${key.version}` : ''}</small>`],
    ['settings.uniqueKeys', unique.length ? html`<ul>${unique.map((u) => html`<li><code>${u.paths.join(', ')}</code></li>`)}</ul>` : t('settings.none')],
    ['settings.size', `${t('settings.items', { n: container.items })} · ${bytes(container.bytes)}`],
    ...(container.computedProperties?.length ? [['settings.computed', html`<pre>${JSON.stringify(container.computedProperties, null, 2)}</pre>`]] : []),
    ...(container.conflictResolutionPolicy ? [['settings.conflicts', html`<code>${container.conflictResolutionPolicy.mode}</code>`]] : []),
  ];
  return html`<section class="panel"><h2>${t('settings.facts')}</h2><dl class="facts">
    ${rows.map(([label, value]) => html`<div><dt>${t(label)}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}
