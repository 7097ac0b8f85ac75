// What a query has answered: as a table, as JSON, as a chart, or its plan; pages; export.
import { html, useEffect, useState } from '../../../vendor/preact.js';
import { number, t } from '../../messages.js';
import { Empty, Failure, Skeleton } from '../../ui/parts.js';
import { remembered, useStore } from '../../store.js';
import { ChartOf } from './chart.js';
import { Export } from './export.js';
import { Documents } from './json.js';
import { Plan } from './plan.js';
import { isInput } from './run.js';
import { Table } from './table.js';

const forms = ['table', 'json', 'chart'];
const form = remembered('query.form', 'table');

const seconds = (ms, digits = 1) => `${number(ms / 1000, { minimumFractionDigits: digits, maximumFractionDigits: digits })} s`;
const milliseconds = (ms) => (ms >= 1000 ? seconds(ms, 2) : `${number(ms, { maximumFractionDigits: ms < 10 ? 1 : 0 })} ms`);

// Elapsed counts while a query runs.
export function Elapsed({ since }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 100);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="elapsed">${seconds(performance.now() - since)}</span>`;
}

export function Results({ db, container, run, writesTo }) {
  const chosen = useStore(form);
  const page = run.pages[run.at];
  const failed = run.error && !isInput(run.error);
  if (failed && !page) return html`<${Failure} error=${run.error} />`;
  if (run.cancelled && !page) return html`<${Empty} title=${t('query.cancelled')} />`;
  if (run.plan !== null) {
    return html`<section class="query-results" aria-label=${t('query.plan')}><div class="results-head">
      <h2>${t('query.plan')}</h2><span class="grow"></span>
      ${page && html`<button onClick=${run.hidePlan}>${t('query.plan.hide')}</button>`}</div><${Plan} plan=${run.plan} /></section>`;
  }
  if (run.since !== null && !page) return html`<${Skeleton} lines=${6} />`;
  if (!page) return html`<${Empty} title=${t('query.start')}><p>${t('query.start.how')} <kbd>Ctrl</kbd> <kbd>Enter</kbd></p><//>`;
  return html`<section class="query-results" aria-label=${t('query.results')}>
    ${failed && html`<${Failure} error=${run.error} />`}
    <div class="results-head">
      <div class="segments" role="group" aria-label=${t('query.form')}>${forms.map((name) => html`
        <button aria-pressed=${chosen === name} onClick=${() => form.set(name)}>${t(`query.form.${name}`)}</button>`)}</div>
      <p class="numbers" role="status">${t('query.rows', { n: page.items.length })}
        <span title=${t('query.elapsed')}>${milliseconds(page.milliseconds)}</span>
        ${page.charge !== undefined && html`<span title=${t('query.charge')}>${number(page.charge, { maximumFractionDigits: 2 })} RU</span>`}
        ${run.cancelled && html`<span>${t('query.cancelled')}</span>`}</p>
      <${Pager} run=${run} />
      ${page.items.length > 0 && html`<${Export} db=${db} container=${container} run=${run} all=${!writesTo} />`}
    </div>
    ${page.items.length === 0
    ? html`<${Empty} title=${t(writesTo ? 'query.written' : 'query.nothing')} />`
    : html`${chosen === 'table' && html`<${Table} key=${page.first} page=${page} />`}
      ${chosen === 'json' && html`<${Documents} page=${page} />`}
      ${chosen === 'chart' && html`<${ChartOf} pages=${run.pages} />`}`}</section>`;
}

function Pager({ run }) {
  const { pages, at } = run;
  const more = at < pages.length - 1 || pages.at(-1).continuation;
  if (pages.length === 1 && !more) return null;
  const next = () => (at < pages.length - 1 ? run.show(at + 1) : run.next());
  const first = pages[at].first;
  return html`<nav class="pager" aria-label=${t('query.pages')}>
    <button disabled=${at === 0 || run.since !== null} onClick=${() => run.show(at - 1)} aria-label=${t('query.previous')}>‹</button>
    <span>${t('query.range', { from: first, to: first + pages[at].items.length - 1 })}</span>
    <button disabled=${!more || run.since !== null} onClick=${next} aria-label=${t('query.next')}>›</button></nav>`;
}
