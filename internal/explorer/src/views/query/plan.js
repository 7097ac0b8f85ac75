// Plans as steps, from the documents that are read to the rows that are returned. A step is
// {title, detail, note, noIndex, inMemory, branches}; branches are lists of steps whose results it puts together.
import { html } from '../../../vendor/preact.js';
import { t } from '../../messages.js';
import { show } from './exact.js';

// sqlWords are the words with which lines of a plan of SQL begin: docs/sql.md, "Plans".
const sqlWords = ['partition', 'span', 'lookup', 'walk', 'index', 'scan', 'count only', 'nothing', 'from', 'join', 'filter',
  'order', 'sort', 'group by', 'distinct', 'top', 'offset', 'project', 'rules'];

function lineOf(line) {
  const word = sqlWords.find((w) => line === w || line.startsWith(`${w} `)) ?? '';
  return { word, rest: line.slice(word.length).trim() };
}

// sqlSteps reads the text of a SQL plan.
export function sqlSteps(text) {
  const lines = text.split('\n').filter(Boolean).map(lineOf);
  const narrows = lines.some(({ word }) => word === 'filter' || word === 'sort');
  return lines.map(({ word, rest }) => {
    const step = { title: word ? t(`query.plan.${word.replace(' ', '')}`) : '', detail: rest };
    if (word === 'scan') step.noIndex = narrows;
    if (word === 'sort') step.inMemory = true;
    if (word === 'filter' && rest.endsWith(', exact')) {
      step.detail = rest.slice(0, -', exact'.length);
      step.note = t('query.plan.exact');
    }
    return step;
  });
}

// shownStages are the stages of MongoDB's plans that have a title in words.
const shownStages = ['COLLSCAN', 'IXSCAN', 'FETCH', 'SORT', 'IDHACK', 'EOF', 'OR', 'LIMIT', 'SKIP', 'PROJECTION_SIMPLE',
  'PROJECTION_DEFAULT', 'PROJECTION_COVERED', 'COUNT_SCAN', 'COUNT', 'SORT_MERGE', 'TEXT', 'SUBPLAN'];

// details are the members of a stage that say what it does, in this order.
const details = ['indexName', 'keyPattern', 'indexBounds', 'filter', 'sortPattern', 'transformBy', 'limitAmount', 'skipAmount',
  'direction'];

// stageSteps are the steps of a stage of MongoDB's plans and of what it reads from.
function stageSteps(stage) {
  const before = stage.inputStage ? stageSteps(stage.inputStage) : [];
  const name = stage.stage ?? '';
  const step = {
    title: shownStages.includes(name) ? t(`query.plan.${name}`) : name,
    note: shownStages.includes(name) ? name : undefined,
    parts: details.filter((d) => stage[d] !== undefined && !(d === 'direction' && stage[d] === 'forward'))
      .map((d) => [d, show(stage[d])]),
    noIndex: name === 'COLLSCAN' && isNarrow(stage.filter),
    inMemory: name === 'SORT',
    branches: (stage.inputStages ?? []).map(stageSteps),
  };
  return [...before, step];
}

const isNarrow = (filter) => filter !== undefined && Object.keys(filter).length > 0;

const planOf = (planner) => stageSteps(planner.winningPlan?.queryPlan ?? planner.winningPlan ?? {});

// mongoSteps reads what MongoDB's explain answers for a find or an aggregate.
export function mongoSteps(answer) {
  if (!answer.stages) return planOf(answer.queryPlanner ?? {});
  return answer.stages.flatMap((stage) => {
    const [name, argument] = Object.entries(stage)[0];
    if (name === '$cursor') return planOf(argument.queryPlanner ?? {});
    return [{ title: name, detail: show(argument) }];
  });
}

export const stepsOf = (plan) => (typeof plan === 'string' ? sqlSteps(plan) : mongoSteps(plan));

const hasScan = (steps) => steps.some((s) => s.noIndex || s.branches?.some(hasScan));

export function Plan({ plan }) {
  const steps = stepsOf(plan);
  return html`<div class="query-plan">
    <p class=${hasScan(steps) ? 'verdict bad' : 'verdict'}>${t(hasScan(steps) ? 'query.plan.slow' : 'query.plan.order')}</p>
    <${Steps} steps=${steps} label=${t('query.plan')} />
    <details><summary>${t('query.plan.raw')}</summary>
      <pre tabindex="0">${typeof plan === 'string' ? plan : JSON.stringify(plan, null, 2)}</pre></details></div>`;
}

const Steps = ({ steps, label }) => html`<ol class="steps" aria-label=${label}>${steps.map((step) => html`
  <li class=${step.noIndex ? 'step no-index' : 'step'}>
    ${step.branches?.length > 0 && html`<div class="branches">${step.branches.map((branch, i) => html`
      <${Steps} steps=${branch} label=${t('query.plan.branch', { n: i + 1 })} />`)}</div>`}
    <div class="step-head"><strong>${step.title}</strong>
      ${step.noIndex && html`<span class="badge bad">⚠ ${t('query.plan.noIndex')}</span>`}
      ${step.inMemory && html`<span class="badge warn">${t('query.plan.inMemory')}</span>`}
      ${step.note && html`<small>${step.note}</small>`}</div>
    ${step.detail && html`<code>${step.detail}</code>`}
    ${step.parts?.length > 0 && html`<dl>${step.parts.map(([name, text]) => html`<dt>${name}</dt><dd><code>${text}</code></dd>`)}</dl>`}
  </li>`)}</ol>`;
