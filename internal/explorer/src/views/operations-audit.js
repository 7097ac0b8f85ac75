// Who changed what: the audit trail, newest first, in pages.
import { html, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { call } from '../api.js';
import { instant, utc } from '../format.js';
import { t } from '../messages.js';
import { Failure, Skeleton, Spinner } from '../ui/parts.js';
import { save } from './operations-parts.js';

const page = 100; // events

const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
const ask = (query, signal) => call('GET', '/audit', { query, signal, as: 'text', headers: { Accept: '*/*' } }).then((a) => lines(a.body));

// join puts the newest events to those that are there, oldest first. Numbers have no gaps, and fall if a snapshot is
// loaded: what does not fit together is left to be asked for again.
function join(all, newest) {
  const last = all.at(-1)?.number ?? 0;
  const fits = newest.length > 0 && newest[0].number <= last + 1 && newest.at(-1).number >= last;
  return fits ? [...all, ...newest.filter((e) => e.number > last)] : newest;
}

// useTrail is {events, error, older}: events newest first, undefined until they are read; older() reads a page more.
function useTrail() {
  const [state, setState] = useState({ all: undefined, error: null, whole: false });
  const all = useRef([]);
  const show = (next, more) => {
    all.current = next;
    const first = next[0]?.number ?? 1;
    setState((s) => ({ all: next, error: null, whole: first === 1 || (s.whole && first === s.all?.[0]?.number), ...more }));
  };
  const fail = (error) => { if (error.name !== 'AbortError') setState((s) => ({ ...s, error })); };
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const look = () => ask({ max: page }, stop.signal).then((newest) => show(join(all.current, newest)), fail);
    look();
    const timer = setInterval(() => { if (!document.hidden) look(); }, 5000);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [turn]);
  const older = async () => {
    const first = all.current[0].number;
    try {
      const before = first - 1 - page;
      const from = before > 0 ? { after: before } : { since: '1970-01-01T00:00:00Z' }; // after=0 asks for the newest
      const got = (await ask({ ...from, max: page })).filter((e) => e.number < first);
      if (all.current[0].number === first) show([...got, ...all.current], got.length ? {} : { whole: true }); // the rest is forgotten
    } catch (error) {
      fail(error);
    }
  };
  return { events: state.all?.toReversed(), error: state.error, whole: state.whole, older, reload: () => setTurn(turn + 1) };
}

export function Audit() {
  const { events, error, whole, older, reload } = useTrail();
  const [filter, setFilter] = useState('');
  const [busy, setBusy] = useState('');
  const [failed, setFailed] = useState(null);
  const wanted = filter.trim().toLowerCase();
  const shown = useMemo(() => events?.filter((e) => !wanted || JSON.stringify(e).toLowerCase().includes(wanted)), [events?.length, events?.[0]?.number, wanted]);
  const during = async (name, work) => {
    setBusy(name);
    setFailed(null);
    await work().catch(setFailed);
    setBusy('');
  };
  const exportAll = async () => {
    const answer = await call('GET', '/audit', { query: { max: '0' }, as: 'response', headers: { Accept: '*/*' } });
    save('mayfly-audit.jsonl', await answer.blob());
  };
  return html`<section class="panel" aria-labelledby="audit"><div class="row panel-head"><h2 id="audit" class="grow">${t('operations.audit')}</h2>
      <input type="search" aria-label=${t('operations.audit.filter')} placeholder=${t('operations.audit.filter')} value=${filter} onInput=${(e) => setFilter(e.target.value)} />
      <button disabled=${busy !== ''} onClick=${() => during('export', exportAll)}>${busy === 'export' && html`<${Spinner} />`}${t('operations.audit.export')}</button></div>
    <p class="hint">${t('operations.audit.what')}</p>
    <${Failure} error=${failed ?? error} retry=${failed ? undefined : reload} />
    ${!events && !error && html`<${Skeleton} lines=${6} />`}
    ${events?.length === 0 && html`<p class="hint">${t('operations.audit.none')}</p>`}
    ${events?.length > 0 && shown.length === 0 && html`<p class="hint">${t('operations.audit.nothing', { n: events.length })}</p>`}
    ${shown?.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label=${t('operations.audit')}><table class="audit-table">
      <thead><tr><th class="number">${t('operations.audit.number')}</th><th>${t('operations.time')}</th><th>${t('operations.audit.change')}</th><th>${t('operations.audit.who')}</th></tr></thead>
      <tbody>${shown.map((e) => html`<${Row} key=${e.number} event=${e} />`)}</tbody></table></div>`}
    ${events?.length > 0 && html`<div class="row buttons">${!whole && html`<button disabled=${busy !== ''} onClick=${() => during('older', older)}>${t('operations.audit.older')}</button>`}
      <small role="status">${t(wanted ? 'operations.audit.matching' : 'operations.audit.count', { n: shown.length, all: events.length })}</small></div>`}</section>`;
}

function Row({ event: e }) {
  const unix = Date.parse(e.time) / 1000;
  return html`<tr><td class="number">${e.number}</td><td><time datetime=${e.time} title=${utc(Math.floor(unix))}>${instant(unix)}</time></td>
    <td class="change"><strong>${e.action}</strong> ${e.kind} ${e.target && html`<code>${e.target}</code>`}<${Changes} changes=${e.changes ?? []} /></td>
    <td><span class="badge">${e.api}</span> ${e.principal ?? ''} <small>${e.address ?? ''}</small></td></tr>`;
}

const short = (value) => (value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value));
const most = 60; // characters of settings that stand beside the change; more of them open below it

function Changes({ changes }) {
  if (changes.length === 0) return null;
  const list = html`<ul>${changes.map((c) => html`<li>${c.name}: <code>${short(c.before)}</code> → <code>${short(c.after)}</code></li>`)}</ul>`;
  const text = changes.map((c) => c.name + short(c.before) + short(c.after)).join('');
  return text.length <= most ? list : html`<details><summary>${t('operations.audit.settings', { n: changes.length })}</summary>${list}</details>`;
}
