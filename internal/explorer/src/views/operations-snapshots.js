// Snapshots: states of all data to go back to.
import { html, useState } from '../../vendor/preact.js';
import { get, path, post, remove, useRequest } from '../api.js';
import { reloadCatalog } from '../catalog.js';
import { bytes, instant, utc } from '../format.js';
import { t } from '../messages.js';
import { lookAtClock } from '../time.js';
import { Confirm, Failure, Skeleton, toast } from '../ui/parts.js';
import { Machine } from './operations-parts.js';

export function Snapshots({ write }) {
  const { data, error, reload } = useRequest((signal) => get('/snapshots', { signal }), []);
  const [asking, setAsking] = useState(null);
  const list = data?.snapshots;
  const load = async ({ name }) => {
    await post(`${path('snapshots', name)}/load`);
    toast(t('operations.snapshots.loaded', { name }), 'good');
    await Promise.all([reloadCatalog(), lookAtClock()]);
  };
  const drop = async ({ name }) => {
    await remove(path('snapshots', name));
    toast(t('operations.snapshots.deleted', { name }), 'good');
    reload();
  };
  const ask = (work, name) => html`<button class="quiet" aria-label=${t(`operations.snapshots.${work}.of`, { name: name.name })}
    onClick=${() => setAsking({ work, one: name })}>${t(work === 'load' ? 'operations.snapshots.load' : 'delete')}</button>`;
  return html`<section class="panel" aria-labelledby="snapshots"><h2 id="snapshots">${t('operations.snapshots')}</h2>
    <p class="hint">${t('operations.snapshots.what')}</p>
    ${write && html`<${Save} onSaved=${reload} />`}
    <${Failure} error=${data ? null : error} retry=${reload} />
    ${!data && !error && html`<${Skeleton} lines=${2} />`}
    ${list?.length === 0 && html`<p class="hint">${t('operations.snapshots.none')}</p>`}
    ${list?.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label=${t('operations.snapshots')}><table>
      <thead><tr><th>${t('name')}</th><th>${t('operations.snapshots.saved')}</th><th>${t('nav.clock')}</th><th class="number">${t('home.column.bytes')}</th>
        ${write && html`<th><span class="visually-hidden">${t('operations.actions')}</span></th>`}</tr></thead>
      <tbody>${list.map((s) => html`<tr key=${s.name}><th scope="row" class="ellipsis" title=${s.name}>${s.name}</th><td><${Machine} time=${s.saved} /></td>
        <td><time datetime=${s.clock} title=${utc(Math.floor(Date.parse(s.clock) / 1000))}>${instant(Date.parse(s.clock) / 1000)}</time></td>
        <td class="number">${bytes(s.bytes)}</td>${write && html`<td class="actions">${ask('load', s)}${ask('delete', s)}</td>`}</tr>`)}</tbody></table></div>`}
    ${asking && html`<${Confirm} title=${t(`operations.snapshots.${asking.work}.of`, { name: asking.one.name })} onClose=${() => setAsking(null)}
      action=${t(asking.work === 'load' ? 'operations.snapshots.load' : 'delete')} onConfirm=${() => (asking.work === 'load' ? load : drop)(asking.one)}>
      <p>${t(`operations.snapshots.${asking.work}.ask`)}</p><//>`}</section>`;
}

function Save({ onSaved }) {
  const [name, setName] = useState('');
  const [error, setError] = useState(null);
  const save = async (e) => {
    e.preventDefault();
    setError(null);
    try {
      await post('/snapshots', { name });
      toast(t('operations.snapshots.done', { name }), 'good');
      setName('');
      onSaved();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<form class="row save-snapshot" onSubmit=${save}><input aria-label=${t('operations.snapshots.name')} placeholder=${t('operations.snapshots.name')}
      value=${name} onInput=${(e) => setName(e.target.value)} autocomplete="off" spellcheck="false" />
    <button disabled=${!name}>${t('operations.snapshots.save')}</button></form><${Failure} error=${error} />`;
}
