// The first page: what there is, what the server does, and what ends soon.
import { html, useEffect, useMemo, useState } from '../../vendor/preact.js';
import { activity, followActivity, lately } from '../activity.js';
import { containerPath, get, session } from '../api.js';
import { catalog, reloadCatalog } from '../catalog.js';
import { bytes, compact, duration, policy } from '../format.js';
import { number, t } from '../messages.js';
import { link } from '../router.js';
import { useStore } from '../store.js';
import { clock, useAt } from '../time.js';
import { axis, Chart, color, timeAxis } from '../ui/chart.js';
import { Failure, Skeleton } from '../ui/parts.js';
import { Welcome } from './home-welcome.js';

const most = 100; // containers in the table before one asks for more: each asks the server what ends soon

export function Home() {
  const { databases, error } = useStore(catalog);
  useEffect(followActivity, []);
  if (!databases) return error ? html`<${Failure} error=${error} retry=${reloadCatalog} />` : html`<${Skeleton} lines=${8} />`;
  if (databases.length === 0) return html`<${Welcome} />`;
  return html`<h1 class="visually-hidden">${t('nav.home')}</h1><${Figures} databases=${databases} /><${Traffic} />
    <${Containers} databases=${databases} />`;
}

// Figures are the numbers at the top. They end today by the forecast of everything.
function Figures({ databases }) {
  const samples = useStore(activity);
  const { at, seen } = useStore(clock);
  const [ahead, setAhead] = useState(null);
  const minute = Math.floor(at / 60);
  useEffect(() => {
    const stop = new AbortController();
    get('/forecast', { query: { by: 'hour', count: 24 }, signal: stop.signal }).then(setAhead, () => {});
    return () => stop.abort();
  }, [databases, minute]);
  const all = databases.flatMap((db) => db.containers);
  const { rate, slowest, errors, backlog, lag } = lately(samples);
  return html`<section class="figures" aria-label=${t('home.figures')}>
    <${Figure} label=${t('home.items')} value=${compact(sum(all, 'items'))} detail=${bytes(sum(all, 'bytes'))} />
    <${Figure} label=${t('home.containers')} value=${number(all.length)} detail=${t('home.databases', { n: databases.length })} />
    <${Figure} label=${t('home.soon')} value=${ahead ? approximately(ahead, total(ahead)) : '…'}
      detail=${ahead ? bytes(sum(ahead.buckets, 'bytes')) : ''} href=${link('lifetime')} />
    <${Figure} label=${t('home.requests')} value=${t('home.rate', { n: round(rate) })}
      detail=${errors ? t('home.errors', { n: errors }) : t('home.slowest', { ms: round(slowest) })} bad=${errors > 0} />
    <${Figure} label=${t('home.backlog')} value=${compact(backlog)} detail=${lag > 0 ? t('home.lag', { time: duration(lag) }) : t('home.nolag')} />
  </section>`;
}

const sum = (list, name) => list.reduce((n, one) => n + (one[name] ?? 0), 0);
const total = (forecast) => sum(forecast.buckets, 'documents');
const round = (n) => (n >= 100 ? Math.round(n) : Math.round(n * 10) / 10);

// approximately marks a number that is an estimate.
const approximately = (forecast, n) => (forecast.exact ? '' : '≈ ') + compact(n);

function Figure({ label, value, detail, href, bad }) {
  const content = html`<span class="label">${label}</span><span class="value">${value}</span>
    <span class=${bad ? 'detail bad' : 'detail'}>${detail}</span>`;
  return href ? html`<a class="figure" href=${href}>${content}</a>` : html`<div class="figure">${content}</div>`;
}

// Traffic draws requests and latency of the last minutes.
function Traffic() {
  const samples = useStore(activity);
  const data = useMemo(() => columns(samples.slice(-300)), [samples]);
  const make = () => ({
    cursor: { points: { show: false } },
    legend: { show: false },
    scales: { requests: { range: (u, min, max) => [0, Math.max(max, 5)] }, ms: { range: (u, min, max) => [0, Math.max(max, 1)] } },
    axes: [timeAxis(), axis({ scale: 'requests', size: 44 }), axis({ scale: 'ms', side: 1, size: 50, grid: { show: false } })],
    series: [{}, { scale: 'requests', stroke: color(0), fill: color(0, 0.14), width: 1.5 },
      { scale: 'ms', stroke: color(1), width: 1.5 }],
  });
  return html`<section class="panel traffic" aria-labelledby="traffic">
    <h2 id="traffic">${t('home.traffic')}</h2>
    <p class="legend"><span class="key one"></span>${t('home.traffic.requests')} <span class="key two"></span>${t('home.traffic.latency')}</p>
    <${Chart} make=${make} data=${data} height=${130} label=${t('home.traffic.label')} /></section>`;
}

function columns(samples) {
  return [samples.map((s) => s.time), samples.map((s) => s.nosql.requests + s.mongo.requests),
    samples.map((s) => Math.max(s.nosql.p99Ms, s.mongo.p99Ms))];
}

const orders = {
  name: (a, b) => `${a.database}/${a.id}`.localeCompare(`${b.database}/${b.id}`),
  items: (a, b) => b.items - a.items,
  bytes: (a, b) => b.bytes - a.bytes,
};

function Containers({ databases }) {
  const [order, setOrder] = useState('name');
  const [shown, setShown] = useState(most);
  const all = databases.flatMap((db) => db.containers).sort(orders[order]);
  const head = (name, number_) => html`<th class=${number_ ? 'number' : ''} aria-sort=${order === name ? (number_ ? 'descending' : 'ascending') : undefined}>
    <button class="quiet" onClick=${() => setOrder(name)}>${t(`home.column.${name}`)}</button></th>`;
  return html`<section class="panel"><h2>${t('home.containers')}</h2><div class="scroll" tabindex="0" role="region" aria-label=${t('home.containers')}>
    <table class="home-table"><thead><tr>${head('name')}<th>${t('container.dialect')}</th>${head('items', true)}${head('bytes', true)}
      <th>${t('home.column.policy')}</th><th class="number">${t('home.soon')}</th></tr></thead>
    <tbody>${all.slice(0, shown).map((c) => html`<${Row} key=${`${c.database}/${c.id}`} container=${c} />`)}</tbody></table></div>
    ${all.length > shown && html`<button onClick=${() => setShown(shown + most)}>${t('home.more', { n: all.length - shown })}</button>`}
    ${all.length === 0 && html`<p class="hint">${t('home.nocontainers')}</p>`}</section>`;
}

function Row({ container }) {
  const { database, id } = container;
  const [ahead, setAhead] = useState(null);
  const minute = useAt((at) => Math.floor(at / 60));
  const changes = `${container.items}/${container.bytes}/${container._etag}`;
  useEffect(() => {
    if (container.view) return undefined;
    const stop = new AbortController();
    get(`${containerPath(database, id)}/forecast`, { query: { by: 'hour', count: 24 }, signal: stop.signal }).then(setAhead, () => {});
    return () => stop.abort();
  }, [changes, minute]);
  const ending = ahead ? total(ahead) : 0;
  return html`<tr>
    <th scope="row"><a class="name" title=${`${database}/${id}`} href=${link('c', database, id, 'items')}><span class="of">${database} /</span> ${id}</a></th>
    <td>${container.dialect === 'mongodb' ? 'MongoDB' : 'NoSQL'}${container.view ? ` · ${t('home.view')}` : ''}</td>
    <td class="number">${container.view ? '' : number(container.items)}</td>
    <td class="number">${container.view ? '' : bytes(container.bytes)}</td>
    <td><a class="plain" href=${link('c', database, id, 'settings')}>${policy(container)}</a></td>
    <td class="number">${ahead && (ending > 0
    ? html`<a class="ending" href=${link('c', database, id, 'lifetime')}>${approximately(ahead, ending)}</a>` : '–')}</td></tr>`;
}
