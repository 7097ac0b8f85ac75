// Long work: what runs and what has ended, by server-sent events; checking and reclaiming; backup, snapshots and keys.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { follow, get, path, post, remove, session, useRequest } from '../api.js';
import { bytes, duration } from '../format.js';
import { number, t } from '../messages.js';
import { useStore } from '../store.js';
import { Confirm, Failure, Skeleton, Spinner, toast } from '../ui/parts.js';
import { Backup } from './operations-backup.js';
import { Keys } from './operations-keys.js';
import { Machine } from './operations-parts.js';
import { Snapshots } from './operations-snapshots.js';

export function Work() {
  const { write } = useStore(session);
  return html`<${Running} write=${write} /><div class="operations-pair"><${Reclaim} write=${write} /><${Backup} write=${write} /></div>
    <${Snapshots} write=${write} /><${Keys} write=${write} />`;
}

const running = (op) => !op.ended;

// useOperations are all operations, newest first. The stream sends whole states, so the list is only for the start.
function useOperations() {
  const [list, setList] = useState({ all: undefined, error: null });
  const merge = (op) => setList(({ all = [] }) => ({
    error: null, all: [op, ...all.filter((o) => o.id !== op.id)].sort((a, b) => Date.parse(b.started) - Date.parse(a.started)),
  }));
  const forget = (id) => setList((l) => ({ ...l, all: l.all.filter((o) => o.id !== id) }));
  useEffect(() => follow((signal) => get('/operations', { signal }), ({ operations }) => {
    setList({ all: operations, error: null });
    return { route: '/operations/events', name: 'operation', use: merge };
  }, (error) => setList((l) => ({ ...l, error }))), []);
  return { ...list, merge, forget };
}

function Running({ write }) {
  const { all, error, merge, forget } = useOperations();
  const [failed, setFailed] = useState(null);
  const attempt = (work) => {
    setFailed(null);
    return work().catch(setFailed);
  };
  const check = () => attempt(async () => merge(await post('/check')));
  const end = (op) => attempt(async () => {
    const state = await remove(path('operations', op.id));
    if (state) merge(state);
    else forget(op.id);
  });
  return html`<section class="panel" aria-labelledby="running"><div class="row panel-head"><h2 id="running" class="grow">${t('operations.work')}</h2>
      <button onClick=${check}>${t('operations.check')}</button></div>
    <${Failure} error=${failed ?? error} />
    ${!all && !error && html`<${Skeleton} lines=${2} />`}
    ${all?.length === 0 && html`<p class="hint">${t('operations.work.none')}</p>`}
    <ul class="operation-list">${all?.map((op) => html`<${Operation} key=${op.id} op=${op} end=${write ? end : null} />`)}</ul></section>`;
}

const known = ['check', 'index build', 'import', 'backup', 'copy'];
const kindOf = (kind) => (known.includes(kind) ? t(`operations.kind.${kind.replace(' ', '-')}`) : kind);
const marks = { failed: 'bad', cancelled: 'warn', cancelling: 'warn' };

// Operation is one piece of work: a bar while it runs, and afterwards what came of it.
function Operation({ op, end }) {
  const live = running(op);
  const name = op.target ? `${kindOf(op.kind)} ${op.target}` : kindOf(op.kind);
  const action = live ? 'cancel' : 'forget';
  return html`<li class="operation">
    <div class="operation-name"><strong>${kindOf(op.kind)}</strong> ${op.target && html`<code class="ellipsis" title=${op.target}>${op.target}</code>`}
      <span class=${`badge ${marks[op.state] ?? ''}`}>${t(`operations.state.${op.state}`)}</span></div>
    <div class="operation-state">${live ? html`<${Progress} op=${op} name=${name} />` : html`<${Outcome} op=${op} />`}</div>
    <small class="operation-time"><${Machine} time=${op.started} /> · ${op.seconds < 1 ? t('operations.moment') : duration(op.seconds)}</small>
    ${end && op.state !== 'cancelling' ? html`<button class="quiet" aria-label=${t(`operations.${action}.of`, { name })}
      onClick=${() => end(op)}>${t(live ? 'cancel' : 'operations.forget')}</button>` : html`<span></span>`}</li>`;
}

function Progress({ op, name }) {
  const share = op.total > 0 ? Math.min(1, op.done / op.total) : null;
  const text = op.total > 0 ? t('operations.progress', { done: op.done, total: op.total, unit: unitOf(op.unit) })
    : t('operations.progress.open', { done: op.done, unit: unitOf(op.unit) });
  return html`<progress aria-label=${name} ...${share === null ? {} : { value: share, max: 1 }}></progress>
    <span class="detail">${share !== null && html`<b>${number(share, { style: 'percent' })}</b> · `}${text}</span>`;
}

const unitOf = (unit) => (['documents', 'items', 'bytes'].includes(unit) ? t(`operations.unit.${unit}`) : unit ?? '');

// Outcome says in words what a check has found, and shows other results as they are.
function Outcome({ op }) {
  const { result, error } = op;
  if (error) return html`<span class="bad-text">${error.detail || error.title}</span>`;
  if (!result) return null;
  if (op.kind !== 'check' || result.consistent === undefined) return html`<code class="outcome">${JSON.stringify(result)}</code>`;
  const found = t('operations.check.read', { n: result.documents, containers: number(result.containers), entries: number(result.entries) });
  if (result.consistent) return html`<span>✓ ${t('operations.check.good')}</span> <span class="detail">${found}</span>`;
  return html`<span class="bad-text">${t('operations.check.bad', { n: result.problemsFound })}</span> <span class="detail">${found}</span>
    <ul>${(result.problems ?? []).map((p) => html`<li>${p}</li>`)}</ul>`;
}

// Reclaim frees the space of what has expired. It changes nothing that a client sees.
function Reclaim({ write }) {
  const { data, error, reload } = useRequest((signal) => get('/reclaim', { signal }), [], { every: 2000 });
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState(null);
  const run = async (route, text) => {
    setBusy(true);
    setFailed(null);
    try {
      await post(route);
      toast(t(text), 'good');
    } catch (problem) {
      setFailed(problem);
    }
    setBusy(false);
    reload();
  };
  return html`<section class="panel" aria-labelledby="reclaim"><div class="row panel-head"><h2 id="reclaim" class="grow">${t('operations.reclaim')}
      ${data && html` <span class=${data.paused ? 'badge warn' : 'badge'}>${t(data.paused ? 'operations.reclaim.paused' : 'operations.reclaim.on')}</span>`}</h2>
      ${busy && html`<${Spinner} />`}</div>
    ${!data && !error && html`<${Skeleton} lines=${2} />`}
    <${Failure} error=${failed ?? (data ? null : error)} retry=${failed ? undefined : reload} />
    ${data && html`<dl class="facts">
      <div><dt>${t('operations.reclaim.backlog')}</dt><dd>${number(data.backlog)}</dd></div>
      <div><dt>${t('operations.reclaim.lag')}</dt><dd>${data.lagSeconds > 0 ? duration(data.lagSeconds) : '–'}</dd></div>
      <div><dt>${t('operations.reclaim.done')}</dt><dd>${number(data.reclaimedDocuments)} · ${bytes(data.reclaimedBytes)}</dd></div></dl>
      ${write && html`<div class="row buttons"><button disabled=${busy} onClick=${() => run('/reclaim', 'operations.reclaim.now.done')}>${t('operations.reclaim.now')}</button>
        ${data.paused ? html`<button disabled=${busy} onClick=${() => run('/reclaim/resume', 'operations.reclaim.resumed')}>${t('operations.reclaim.resume')}</button>`
    : html`<button disabled=${busy} onClick=${() => setAsking(true)}>${t('operations.reclaim.pause')}</button>`}</div>`}`}
    ${asking && html`<${Confirm} title=${t('operations.reclaim.pause')} action=${t('operations.reclaim.pause')} danger=${false}
      onClose=${() => setAsking(false)} onConfirm=${async () => {
    await post('/reclaim/pause');
    reload();
  }}><p>${t('operations.reclaim.pause.what')}</p><//>`}</section>`;
}
