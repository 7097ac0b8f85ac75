// Two columns of the loaded rows as a chart.
import { html, useMemo, useState } from '../../../vendor/preact.js';
import { uPlot } from '../../../vendor/uplot.js';
import { number, t } from '../../messages.js';
import { axis, Chart, color } from '../../ui/chart.js';
import { Empty } from '../../ui/parts.js';
import { numberOf, show, timeOf } from './exact.js';
import { columnsOf, valueIn } from './table.js';

const mostPoints = 5000;
const some = 200; // rows that are looked at for the kinds of columns

// kindsOf sorts columns: numbers, dates and all.
export function kindsOf(rows) {
  const all = columnsOf(rows, true);
  const first = rows.slice(0, some);
  const every = (column, is) => {
    const values = first.map((row) => valueIn(row, column)).filter((v) => v !== undefined && v !== null);
    return values.length > 0 && values.every(is);
  };
  const dates = all.filter((column) => every(column, (v) => !Number.isNaN(timeOf(v))));
  const numbers = all.filter((column) => every(column, (v) => !Number.isNaN(numberOf(v))));
  return { all, dates, numbers };
}

// chosen are the columns to begin with: the first text or date, and the first number.
function chosen({ all, dates, numbers }) {
  const own = (name) => !name.startsWith('_') || name === '_id';
  const x = all.filter(own).find((c) => dates.includes(c) || !numbers.includes(c)) ?? all.find(own) ?? all[0];
  const y = numbers.filter((c) => c !== x).find(own) ?? numbers.find((c) => c !== x) ?? numbers[0];
  return { x, y };
}

// pointsOf are [label, position, value]; a line of dates or numbers has positions of its own, anything else counts.
function pointsOf(rows, x, y, kinds, line) {
  const points = [];
  for (const row of rows) {
    const value = numberOf(valueIn(row, y));
    if (!Number.isFinite(value)) continue;
    const label = valueIn(row, x);
    const place = kinds.dates.includes(x) ? timeOf(label) : numberOf(label);
    points.push([show(label), place, value]);
    if (points.length === mostPoints) break;
  }
  const scaled = line && points.every((p) => Number.isFinite(p[1]));
  if (scaled) points.sort((a, b) => a[1] - b[1]);
  else points.forEach((p, i) => { p[1] = i; });
  return { points, scaled };
}

const shorten = (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text);

// options are uPlot's. Labels stand below their points unless the axis has a scale of its own.
function options({ points, scaled, time, line, y }) {
  const labels = points.map((p) => shorten(p[0]));
  const values = (plot, splits) => splits.map((i) => (Number.isInteger(i) ? labels[i] ?? '' : ''));
  return () => ({
    scales: { x: { time: scaled && time, ...(scaled ? {} : { range: [-0.6, Math.max(points.length, 1) - 0.4] }) },
      y: line ? {} : { range: (plot, low, high) => uPlot.rangeNum(Math.min(low, 0), Math.max(high, 0), 0.1, true) } },
    axes: [axis(scaled ? {} : { values, space: 90, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }),
      axis({ size: 64, values: (plot, splits) => splits.map((n) => number(n, { notation: 'compact' })) })],
    legend: { show: false },
    cursor: { points: { show: line } },
    series: [{}, {
      label: y, stroke: color(0), fill: line ? undefined : color(0), width: line ? 2 : 0,
      ...(line ? { points: { show: points.length < 100 } } : { paths: uPlot.paths.bars({ size: [0.7, 60] }), points: { show: false } }),
    }],
  });
}

export function ChartOf({ pages }) {
  const rows = useMemo(() => pages.flatMap((page) => page.items), [pages]);
  const kinds = useMemo(() => kindsOf(rows), [rows]);
  const first = chosen(kinds);
  const [own, setOwn] = useState({});
  const x = kinds.all.includes(own.x) ? own.x : first.x;
  const y = kinds.numbers.includes(own.y) ? own.y : first.y;
  const kind = own.kind ?? (kinds.dates.includes(x) ? 'line' : 'bar');
  const line = kind === 'line';
  const { points, scaled } = useMemo(() => pointsOf(rows, x, y, kinds, line), [rows, x, y, line]);
  const data = useMemo(() => [points.map((p) => p[1]), points.map((p) => p[2])], [points]);
  if (kinds.numbers.length === 0) return html`<${Empty} title=${t('query.chart.none')} />`;
  const choose = (name) => (e) => setOwn((o) => ({ ...o, [name]: e.target.value }));
  const select = (name, value, list) => html`<label class="inline-field">${t(`query.chart.${name}`)}
    <select value=${value} onChange=${choose(name)}>
      ${list.map((c) => html`<option value=${c} selected=${c === value}>${c}</option>`)}</select></label>`;
  const sum = points.map((p) => p[2]);
  return html`<div class="query-chart"><div class="row">${select('x', x, kinds.all)}${select('y', y, kinds.numbers)}
      <label class="inline-field">${t('query.chart.kind')}<select value=${kind} onChange=${choose('kind')}>
        ${['bar', 'line'].map((k) => html`<option value=${k} selected=${k === kind}>${t(`query.chart.${k}`)}</option>`)}</select></label>
      ${points.length === mostPoints && html`<small>${t('query.chart.most', { n: mostPoints })}</small>`}</div>
    <${Chart} height=${320} data=${data} deps=${[x, y, kind, rows]}
      make=${options({ points, scaled, time: kinds.dates.includes(x), line, y })}
      label=${t('query.chart.label', { x, y, n: points.length, low: number(Math.min(...sum)), high: number(Math.max(...sum)) })} />
    <div class="query-axes"><span>${y}</span><span>${x}</span></div></div>`;
}
