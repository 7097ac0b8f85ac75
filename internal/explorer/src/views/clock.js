// The virtual clock: its time, steps, a date to go to, and the forecast to drag over: what will be gone by then.
import { html, useEffect, useMemo, useState } from '../../vendor/preact.js';
import { get, post, session, useRequest } from '../api.js';
import { reloadCatalog } from '../catalog.js';
import { bytes, compact, inWords, instant, utc } from '../format.js';
import { t } from '../messages.js';
import { useStore } from '../store.js';
import { clock, noteTime } from '../time.js';
import { Empty, Failure, Skeleton, toast } from '../ui/parts.js';

const steps = [1, 60, 3600, 86400, 604800, 2592000];
const spans = { hour: 72, day: 60, month: 24 };

export function ClockView() {
  const { virtual, at } = useStore(clock);
  const { write } = useStore(session);
  const [error, setError] = useState(null);
  if (!virtual) return html`<${Empty} title=${t('clock.real')}><p>${t('clock.real.how')}</p><pre>mayfly --clock=virtual</pre><//>`;
  const move = async (route, body) => {
    setError(null);
    try {
      const answer = await post(route, body);
      noteTime(answer);
      toast(t('clock.moved', { time: instant(Date.parse(answer.time) / 1000) }), 'good');
      reloadCatalog();
    } catch (problem) {
      setError(problem);
    }
  };
  const advance = (seconds) => move('/clock/advance', { duration: `${seconds}s` });
  const goTo = (unix) => move('/clock/set', { time: utc(unix) });
  return html`<h1 class="visually-hidden">${t('nav.clock')}</h1>
    <section class="panel clock-now"><time datetime=${utc(at)}>${instant(at)}</time><small>${utc(at)}</small>
      ${write && html`<div class="row">${steps.map((s) => html`<button onClick=${() => advance(s)}>+ ${inWords(s)}</button>`)}</div>
      <${GoTo} at=${at} goTo=${goTo} /><p class="hint">${t('clock.forward')}</p>`}<${Failure} error=${error} /></section>
    <${Scrubber} at=${at} goTo=${write ? goTo : () => {}} />`;
}

// GoTo takes a date in UTC, as the command line does.
function GoTo({ at, goTo }) {
  const [text, setText] = useState('');
  const unix = Date.parse(`${text}Z`) / 1000;
  const submit = (e) => {
    e.preventDefault();
    if (unix > at) goTo(unix);
  };
  return html`<form class="row" onSubmit=${submit}><label>${t('clock.date')}
      <input type="datetime-local" step="1" value=${text} min=${utc(at).slice(0, 19)} onInput=${(e) => setText(e.target.value)} /></label>
    <button class="primary" disabled=${!(unix > at)}>${t('clock.go')}</button></form>`;
}

// Scrubber shows the expirations ahead as bars under a slider. Dragging says what will be gone; release goes there.
function Scrubber({ at, goTo }) {
  const [by, setBy] = useState('day');
  const [to, setTo] = useState(0);
  const { data, error, reload } = useRequest((signal) => get('/forecast', { query: { by, count: spans[by] }, signal }), [by, at]);
  useEffect(() => setTo(0), [by, at]);
  const buckets = data?.buckets ?? [];
  const sums = useMemo(() => runningSums(buckets), [data]);
  if (error) return html`<${Failure} error=${error} retry=${reload} />`;
  const tallest = Math.max(1, ...buckets.map((b) => b.documents));
  const gone = sums[to];
  const until = to === 0 ? at : buckets[to - 1]?.until.unix ?? at;
  const release = () => { if (to > 0) goTo(until); };
  return html`<section class="panel scrubber" aria-labelledby="scrubber"><div class="row"><h2 id="scrubber" class="grow">${t('clock.ahead')}</h2>
      <select aria-label=${t('clock.by')} value=${by} onChange=${(e) => setBy(e.target.value)}>
        ${Object.keys(spans).map((name) => html`<option value=${name} selected=${name === by}>${t(`clock.by.${name}`)}</option>`)}</select></div>
    ${!data && html`<${Skeleton} />`}
    ${data && html`<div class="bars" aria-hidden="true">${buckets.map((b, i) => html`<div class=${i < to ? 'gone' : ''}
        title=${`${instant(b.from.unix)}: ${compact(b.documents)}`}><span style=${{ height: `${(100 * b.documents) / tallest}%` }}></span></div>`)}</div>
      <input type="range" min="0" max=${buckets.length} value=${to} aria-label=${t('clock.scrub')}
        aria-valuetext=${t('clock.gone', { n: gone?.documents ?? 0, time: instant(until) })}
        onInput=${(e) => setTo(Number(e.target.value))} onPointerUp=${release}
        onKeyDown=${(e) => { if (e.key === 'Enter') release(); }} />
      <p class="result" aria-live="polite">${to === 0 ? t('clock.drag') : html`${t('clock.gone', { n: gone.documents, time: instant(until) })}
        <span class="detail"> ${bytes(gone.bytes)}${data.exact ? '' : ` · ${t('clock.estimate')}`}</span>`}</p>`}
  </section>`;
}

// runningSums are what has ended before bucket i.
function runningSums(buckets) {
  const sums = [{ documents: 0, bytes: 0 }];
  for (const b of buckets) {
    const last = sums.at(-1);
    sums.push({ documents: last.documents + b.documents, bytes: last.bytes + b.bytes });
  }
  return sums;
}
