// Expirations ahead, of one container or of all, and what was written, expired and reclaimed in the last minutes.
import { html, useEffect, useMemo, useState } from '../../vendor/preact.js';
import { activity, followActivity, lately } from '../activity.js';
import { containerPath, get, useRequest } from '../api.js';
import { catalog } from '../catalog.js';
import { bytes, compact, duration, instant, policy, utc } from '../format.js';
import { number, t } from '../messages.js';
import { link } from '../router.js';
import { remembered, useStore } from '../store.js';
import { clock } from '../time.js';
import { axis, Chart, color, timeAxis } from '../ui/chart.js';
import { Empty, Failure, Skeleton } from '../ui/parts.js';

const spans = { hour: [24, 48, 72], day: [7, 30, 90], month: [6, 12, 24] };
const chosenSpan = remembered('span', { by: 'day', count: 30 });
const most = 7; // containers with a colour of their own; the rest share one
const asked = 60; // containers that are asked, the largest first

export function Lifetime({ db, container }) {
  const span = useStore(chosenSpan);
  const { at, virtual } = useStore(clock);
  const { databases } = useStore(catalog);
  const all = container ? [container] : (databases ?? []).flatMap((d) => d.containers).filter((c) => !c.view);
  const changes = all.map((c) => `${c.database}/${c.id}/${c.items}/${c._etag}`).join();
  const { data, error, reload } = useRequest((signal) => read(all, span, signal), [span, changes, virtual ? at : 0],
    { every: container ? 10000 : 30000, keep: true });
  if (!container && databases?.length === 0) return html`<${Empty} title=${t('lifetime.nothing')}><a href=${link()}>${t('nav.home')}</a><//>`;
  return html`<h1 class="visually-hidden">${t('nav.lifetime')}</h1>
    <section class="panel ahead" aria-labelledby="ahead">
      <div class="row"><h2 id="ahead" class="grow">${t('lifetime.ahead')}</h2><${SpanChoice} span=${span} /></div>
      ${container && html`<p><a class="plain" href=${link('c', db, container.id, 'settings')}>${policy(container)}</a></p>`}
      <${Failure} error=${error} retry=${reload} />
      ${!data && !error && html`<${Skeleton} lines=${6} />`}
      ${data && html`<${Ahead} stacks=${data} by=${span.by} />`}
    </section>
    ${!container && html`<${Tide} />`}`;
}

function SpanChoice({ span }) {
  const choose = (e) => {
    const [by, count] = e.target.value.split('-');
    chosenSpan.set({ by, count: Number(count) });
  };
  return html`<select aria-label=${t('lifetime.span')} value=${`${span.by}-${span.count}`} onChange=${choose}>
    ${Object.entries(spans).flatMap(([by, counts]) => counts.map((n) => html`
      <option value=${`${by}-${n}`} selected=${span.by === by && span.count === n}>${t(`lifetime.span.${by}`, { n })}</option>`))}</select>`;
}

// read asks for the forecasts of the containers, the largest first, and of everything if there are several.
async function read(containers, { by, count }, signal) {
  const query = { by, count };
  const largest = [...containers].sort((a, b) => b.items - a.items).slice(0, asked);
  const forecasts = [];
  for (const c of largest) {
    if (c.items === 0 && containers.length > 1) continue;
    try {
      forecasts.push({ container: c, forecast: await get(`${containerPath(c.database, c.id)}/forecast`, { query, signal }) });
    } catch (error) {
      if (error.status !== 404) throw error; // deleted meanwhile
    }
  }
  const total = containers.length === 1 && forecasts.length === 1 ? forecasts[0].forecast : await get('/forecast', { query, signal });
  return stack(total, forecasts);
}

const ending = (forecast) => forecast.buckets.reduce((n, b) => n + b.documents, 0);

// stack gives each bucket a part for each of the containers that have most to lose, and one for all others.
function stack(total, forecasts) {
  const shown = forecasts.filter((f) => ending(f.forecast) > 0).sort((a, b) => ending(b.forecast) - ending(a.forecast)).slice(0, most);
  const buckets = total.buckets.map((b, i) => {
    const parts = shown.map(({ container, forecast }, n) => ({ container, color: n, documents: forecast.buckets[i]?.documents ?? 0 }));
    const rest = b.documents - parts.reduce((sum, p) => sum + p.documents, 0);
    if (rest > 0 && forecasts.length > shown.length) parts.push({ container: null, color: most, documents: rest });
    const documents = parts.length ? parts.reduce((sum, p) => sum + p.documents, 0) : b.documents;
    return { ...b, documents, parts: parts.filter((p) => p.documents > 0) };
  });
  return { total, buckets, shown: shown.map((s) => s.container), others: buckets.some((b) => b.parts.some((p) => !p.container)) };
}

function Ahead({ stacks, by }) {
  const { total, buckets, shown, others } = stacks;
  const tallest = Math.max(1, ...buckets.map((b) => b.documents));
  const sum = buckets.reduce((n, b) => n + b.documents, 0);
  return html`<p class="totals">
      <strong>${t('lifetime.ends', { n: sum })}</strong> · ${t('lifetime.later', { n: total.beyond.documents })} · ${t('lifetime.never', { n: total.noEnd.documents })}
      ${!total.exact && html` <span class="badge warn" title=${t('lifetime.estimate.why')}>${t('clock.estimate')}</span>`}</p>
    <div class="columns" role="group" aria-label=${t('lifetime.bars')}>
      <span class="top" aria-hidden="true">${compact(tallest)}</span>
      ${buckets.map((b) => html`<${Bar} key=${b.from.unix} bucket=${b} tallest=${tallest} by=${by} />`)}</div>
    <div class="ticks" aria-hidden="true">${ticks(buckets).map((b) => html`<span>${label(b.from.unix, by)}</span>`)}</div>
    ${shown.length > 1 && html`<ul class="legend-list">${shown.map((c, i) => html`<li><span class=${`swatch s${i}`}></span>
      <a href=${link('c', c.database, c.id, 'lifetime')}>${c.database} / ${c.id}</a></li>`)}
      ${others && html`<li><span class=${`swatch s${most}`}></span>${t('lifetime.others')}</li>`}</ul>`}
    <details><summary>${t('lifetime.numbers')}</summary><div class="scroll" tabindex="0" role="region" aria-label=${t('lifetime.numbers')}>
      <table><thead><tr><th>${t('lifetime.from')}</th><th class="number">${t('home.items')}</th><th class="number">${t('home.column.bytes')}</th></tr></thead>
      <tbody>${buckets.filter((b) => b.documents > 0).map((b) => html`<tr><th scope="row" title=${utc(b.from.unix)}>${label(b.from.unix, by, true)}</th>
        <td class="number">${number(b.documents)}</td><td class="number">${bytes(b.bytes)}</td></tr>`)}</tbody></table></div></details>`;
}

// Bar has a link for each of its parts: to the items that end then.
function Bar({ bucket, tallest, by }) {
  const { from, until, parts } = bucket;
  const text = (p) => t('lifetime.bar', { n: p.documents, time: label(from.unix, by, true),
    name: p.container ? `${p.container.database} / ${p.container.id}` : t('lifetime.others') });
  return html`<div class="column">${parts.map((p) => {
    const style = { height: `max(3px, ${(100 * p.documents) / tallest}%)` };
    if (!p.container) return html`<span class=${`part s${p.color}`} style=${style} title=${text(p)}></span>`;
    const to = link('c', p.container.database, p.container.id, 'items', { expiring: `${from.unix}-${until.unix}` });
    return html`<a class=${`part s${p.color}`} style=${style} href=${to} title=${text(p)} aria-label=${text(p)}></a>`;
  })}</div>`;
}

const ticks = (buckets) => {
  const step = Math.max(1, Math.ceil(buckets.length / 6));
  return buckets.filter((b, i) => i % step === 0);
};

// label is a bucket's beginning, as short as the width of its kind allows. Buckets begin in UTC.
function label(unix, by, long) {
  const zone = { timeZone: 'UTC' };
  if (by === 'hour') return instant(unix, { ...zone, hour: '2-digit', minute: '2-digit', ...(long && { day: 'numeric', month: 'short' }) });
  if (by === 'day') return instant(unix, { ...zone, day: 'numeric', month: 'short', ...(long && { year: 'numeric' }) });
  return instant(unix, { ...zone, month: 'short', year: 'numeric' });
}

// Tide draws what was written and what expired, and says how reclaiming goes.
function Tide() {
  const samples = useStore(activity);
  useEffect(followActivity, []);
  const data = useMemo(() => {
    const part = samples.slice(-300);
    return [part.map((s) => s.time), part.map((s) => s.written), part.map((s) => s.expired), part.map((s) => s.reclaimed)];
  }, [samples]);
  const make = () => ({
    legend: { show: false },
    scales: { y: { range: (u, min, max) => [0, Math.max(max, 5)] } },
    axes: [timeAxis(), axis({ size: 48 })],
    series: [{}, ...[0, 1, 2].map((i) => ({ stroke: color(i), fill: i < 2 ? color(i, 0.12) : undefined, width: 1.5 }))],
  });
  const { backlog, lag } = lately(samples);
  const rate = samples.slice(-10).reduce((n, s) => n + s.reclaimed, 0) / Math.max(1, Math.min(10, samples.length));
  return html`<section class="panel tide" aria-labelledby="tide"><h2 id="tide">${t('lifetime.tide')}</h2>
    <p class="legend-line">${['written', 'expired', 'reclaimed'].map((name, i) => html`<span class=${`swatch s${i}`}></span>${t(`lifetime.${name}`)} `)}</p>
    <${Chart} make=${make} data=${data} height=${160} label=${t('lifetime.tide.label')} />
    <dl class="reclaim"><div><dt>${t('home.backlog')}</dt><dd>${number(backlog)}</dd></div>
      <div><dt>${t('lifetime.rate')}</dt><dd>${t('home.rate', { n: Math.round(rate) })}</dd></div>
      <div><dt>${t('lifetime.lag')}</dt><dd>${duration(lag)}</dd></div></dl></section>`;
}
