// The tree of databases and containers at the left.
import { html, useState } from '../vendor/preact.js';
import { path, post, remove, session } from './api.js';
import { catalog, reloadCatalog } from './catalog.js';
import { policy } from './format.js';
import { t } from './messages.js';
import { go, link, useRoute } from './router.js';
import { useStore } from './store.js';
import { Confirm, Dialog, Failure, Menu, Skeleton, toast } from './ui/parts.js';
import { NewContainer } from './views/newcontainer.js';

export function Tree() {
  const { databases, error } = useStore(catalog);
  const { write } = useStore(session);
  const [filter, setFilter] = useState('');
  const [dialog, setDialog] = useState(null);
  const close = () => setDialog(null);
  const wanted = filter.toLowerCase();
  const matching = (databases ?? []).map((db) => ({
    ...db,
    shown: db.containers.filter((c) => `${db.id}/${c.id}`.toLowerCase().includes(wanted)),
  })).filter((db) => db.shown.length || db.id.toLowerCase().includes(wanted));
  return html`<div class="tree">
    <div class="tree-head"><input type="search" placeholder=${t('tree.filter')} aria-label=${t('tree.filter')} value=${filter}
        onInput=${(e) => setFilter(e.target.value)} />
      ${write && html`<button class="quiet" title=${t('database.new')} aria-label=${t('database.new')} onClick=${() => setDialog({ new: 'database' })}>+</button>`}</div>
    ${error && html`<${Failure} error=${error} retry=${reloadCatalog} />`}
    ${!databases && !error && html`<${Skeleton} lines=${5} />`}
    ${databases?.length === 0 && html`<p class="hint">${t('tree.empty')}</p>`}
    ${databases?.length > 0 && matching.length === 0 && html`<p class="hint">${t('tree.nothing')}</p>`}
    <ul>${matching.map((db) => html`<li key=${db.id}>
      <div class="tree-row database"><span class="ellipsis" title=${db.id}>${db.id}</span>
        ${write && html`<${Menu} label=${t('database.menu', { name: db.id })} entries=${[
    { label: t('container.new'), action: () => setDialog({ new: 'container', db: db.id }) },
    { label: t('database.delete'), danger: true, action: () => setDialog({ delete: db }) }]} />`}</div>
      <ul>${db.shown.map((c) => html`<${Row} key=${c.id} db=${db.id} container=${c} />`)}
        ${db.containers.length === 0 && html`<li class="hint">${t('database.empty')}</li>`}</ul></li>`)}</ul>
    ${dialog?.new === 'database' && html`<${NewDatabase} onClose=${close} />`}
    ${dialog?.new === 'container' && html`<${NewContainer} db=${dialog.db} onClose=${close} />`}
    ${dialog?.delete && html`<${Confirm} title=${t('database.delete')} action=${t('delete')} typed=${dialog.delete.id} onClose=${close}
      onConfirm=${async () => {
    await remove(path('databases', dialog.delete.id));
    toast(t('database.deleted', { name: dialog.delete.id }), 'good');
    await reloadCatalog(); // first, so that no view asks for what is gone
    go();
  }}><p>${t('database.delete.ask', { name: dialog.delete.id, n: dialog.delete.containers.length })}</p><//>`}
  </div>`;
}

function Row({ db, container }) {
  const { steps } = useRoute();
  const current = steps[0] === 'c' && steps[1] === db && steps[2] === container.id;
  return html`<li><a class="tree-row" href=${link('c', db, container.id, steps[0] === 'c' ? steps[3] ?? 'items' : 'items')}
      aria-current=${current ? 'page' : undefined} title=${`${db}/${container.id} · ${policy(container)}`}>
    <span class="ellipsis">${container.id}</span>
    <span class="dialect">${container.dialect === 'mongodb' ? 'M' : 'N'}</span></a></li>`;
}

function NewDatabase({ onClose }) {
  const [id, setId] = useState('');
  const [error, setError] = useState(null);
  const create = async (e) => {
    e.preventDefault();
    try {
      await post('/databases', { id });
      await reloadCatalog();
      toast(t('database.created', { name: id }), 'good');
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Dialog} title=${t('database.new')} onClose=${onClose} footer=${html`<button onClick=${onClose}>${t('cancel')}</button>
      <button class="primary" disabled=${!id} onClick=${create}>${t('create')}</button>`}>
    <form onSubmit=${create}><label class="field">${t('name')}
      <input value=${id} onInput=${(e) => setId(e.target.value)} autofocus autocomplete="off" spellcheck="false" maxlength="255" /></label></form>
    <${Failure} error=${error} /><//>`;
}
