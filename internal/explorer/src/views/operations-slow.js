// Slow requests of both APIs, newest first, and from which duration on a request counts as one.
import { html, useState } from '../../vendor/preact.js';
import { get, put, session, useRequest } from '../api.js';
import { inWords } from '../format.js';
import { number, t } from '../messages.js';
import { useStore } from '../store.js';
import { Empty, Failure, Skeleton, toast } from '../ui/parts.js';
import { Machine } from './operations-parts.js';

const sizes = { ns: 1e-6, us: 1e-3, 'µs': 1e-3, ms: 1, s: 1000, m: 60000, h: 3600000 };

// milliseconds reads a duration as Go writes it: 100ms, 1m0.5s. It is NaN for anything else.
export function milliseconds(text) {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return NaN;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * sizes[unit], 0);
}

// thresholdWords is a threshold in words: "100 milliseconds", "1 minute 30 seconds".
function thresholdWords(text) {
  const ms = milliseconds(text);
  if (!(ms >= 1)) return text;
  return ms >= 1000 && ms % 1000 === 0 ? inWords(ms / 1000) : t('operations.slow.ms', { n: ms });
}

export function Slow() {
  const { data, error, reload } = useRequest((signal) => get('/slow', { query: { max: 200 }, signal }), [], { every: 3000 });
  const { write } = useStore(session);
  const [open, setOpen] = useState(null);
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Skeleton} lines=${6} />`;
  const { threshold, mongoThreshold, queries } = data;
  return html`<section class="panel" aria-labelledby="slow"><h2 id="slow">${t('operations.slow')}</h2>
      <p>${threshold ? t('operations.slow.from', { time: thresholdWords(threshold) }) : t('operations.slow.off')}
        ${mongoThreshold !== undefined && html` ${mongoThreshold ? t('operations.slow.mongo', { time: thresholdWords(mongoThreshold) }) : t('operations.slow.mongo.off')}`}</p>
      ${write && html`<${Threshold} now=${threshold} onSet=${reload} />`}</section>
    <${Failure} error=${error} retry=${reload} />
    ${queries.length === 0 ? html`<${Empty} title=${t('operations.slow.none')}><p>${t(threshold ? 'operations.slow.none.why' : 'operations.slow.none.off')}</p><//>`
    : html`<section class="panel"><div class="scroll" tabindex="0" role="region" aria-label=${t('operations.slow')}><table class="slow-table">
      <thead><tr><th>${t('operations.time')}</th><th class="number">${t('operations.slow.took')}</th><th>${t('operations.slow.what')}</th><th>${t('operations.slow.query')}</th><th class="number">${t('operations.slow.examined')}</th><th class="number">${t('operations.slow.returned')}</th></tr></thead>
      <tbody>${queries.map((q, i) => {
    const id = `${q.time}/${q.operation}/${q.milliseconds}`;
    return html`<${Row} key=${id} q=${q} id=${`slow-${i}`} open=${open === id} toggle=${() => setOpen(open === id ? null : id)} />`;
  })}</tbody></table></div></section>`}`;
}

// A scan of a whole container suggests that an index is missing.
const scans = (plan) => /\bCOLLSCAN\b|^scan\b/m.test(plan);

function Row({ q, id, open, toggle }) {
  return html`<tr><td><${Machine} time=${q.time} short /></td><td class="number">${number(q.milliseconds, { maximumFractionDigits: q.milliseconds < 10 ? 2 : 0 })} ms</td>
      <td class="what"><div class="row"><span>${q.operation}</span><span class="badge">${q.api === 'mongo' ? 'MongoDB' : 'NoSQL'}</span></div>
        <div class="ellipsis detail" title=${`${q.database}/${q.container}`}>${q.database}${q.container && ` / ${q.container}`}</div></td>
      <td><div class="query-cell"><button class="quiet" aria-expanded=${open} aria-controls=${id} title=${q.query} onClick=${toggle}>
        <span aria-hidden="true">${open ? '▾' : '▸'}</span><code class="ellipsis">${q.query || t('operations.slow.details')}</code></button>
        ${scans(q.plan) && html`<span class="badge warn">${t('operations.slow.scan')}</span>`}</div></td>
      <td class="number">${number(q.examined)}</td><td class="number">${number(q.returned)}</td></tr>
    ${open && html`<tr class="details" id=${id}><td colspan="6"><div class="slow-details">
      ${q.query && html`<div><h3>${t('operations.slow.query')}</h3><pre>${q.query}</pre></div>`}
      <div><h3>${t('operations.slow.plan')}</h3>${q.plan ? html`<pre>${q.plan}</pre>` : html`<p class="hint">${t('operations.slow.noplan')}</p>`}</div></div></td></tr>`}`;
}

// Threshold sets what is slow until the next start.
function Threshold({ now, onSet }) {
  const [text, setText] = useState('');
  const [error, setError] = useState(null);
  const wanted = text.trim();
  const valid = milliseconds(wanted) > 0;
  const set = async (threshold) => {
    setError(null);
    try {
      await put('/slow', { threshold });
      toast(threshold ? t('operations.slow.from', { time: thresholdWords(threshold) }) : t('operations.slow.off'), 'good');
      setText('');
      onSet();
    } catch (problem) {
      setError(problem);
    }
  };
  const submit = (e) => {
    e.preventDefault();
    if (valid) set(wanted);
  };
  return html`<form class="row" onSubmit=${submit}><label class="row">${t('operations.slow.set')}
      <input class="short-field" value=${text} placeholder=${now || '100ms'} spellcheck="false" autocomplete="off" aria-invalid=${wanted !== '' && !valid}
        aria-describedby="slow-words" onInput=${(e) => setText(e.target.value)} /></label>
    <button class="primary" disabled=${!valid}>${t('operations.set')}</button>
    ${now && html`<button type="button" onClick=${() => set('')}>${t('operations.slow.disable')}</button>`}
    <small id="slow-words" class=${wanted && !valid ? 'bad-text' : ''}>${wanted === '' ? t('operations.slow.until') : valid ? `= ${thresholdWords(wanted)}` : t('operations.slow.invalid')}</small></form>
    <${Failure} error=${error} />`;
}
