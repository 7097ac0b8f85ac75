// A pipeline stage by stage, with the first documents after each, or as one text.
import { html, useEffect, useMemo, useRef, useState } from '../../../vendor/preact.js';
import { t } from '../../messages.js';
import { Editor } from '../../ui/editor.js';
import { Failure } from '../../ui/parts.js';
import { mongoCompletions } from './complete.js';
import { Json } from './json.js';
import { JsonEditor } from './jsoneditor.js';
import { names } from './names.js';
import { newStage, pipelineOf, stageError, stagesOf, startOf, textOf, writes } from './pipeline.js';
import { ask, explainJSON } from './request.js';

const previewed = 5;

export function PipelineForm(props) {
  const { query, change } = props;
  const parsed = useMemo(() => (query.asText ? stagesOf(query.text) : null), [query.asText, query.text]);
  const bad = query.asText ? !!parsed.error : query.stages.some(stageError);
  const toggle = (asText) => {
    if (asText === query.asText || bad) return;
    change(asText ? { asText, text: textOf(query.stages) } : { asText, stages: parsed.stages });
  };
  return html`<div class="row pipeline-head"><div class="segments" role="group" aria-label=${t('query.pipeline.as')}>
      ${[false, true].map((asText) => html`<button aria-pressed=${asText === query.asText} disabled=${asText !== query.asText && bad}
        title=${bad ? t('query.pipeline.mend') : undefined} onClick=${() => toggle(asText)}>
        ${t(asText ? 'query.pipeline.text' : 'query.pipeline.stages')}</button>`)}</div>
      ${bad && html`<small class="wrong">${t('query.pipeline.mend')}</small>`}</div>
    ${query.asText ? html`<${PipelineText} ...${props} error=${parsed.error} />` : html`<${StageList} ...${props} />`}`;
}

function PipelineText({ query, change, run, tree, containers, error, errors }) {
  const marks = useMemo(() => (error ? [{ from: error.at, to: error.at + 1, message: explainJSON(error) }] : errors ?? []), [error, errors]);
  return html`<div class="query-editor tall"><${Editor} language="pipeline" label=${t('query.pipeline')} value=${query.text} onRun=${run}
      onChange=${(text) => change({ text })} errors=${marks} complete=${mongoCompletions({ tree, containers, kind: 'pipeline' })} /></div>
    ${error && html`<small class="wrong">${t('query.notJSON', { why: explainJSON(error) })}</small>`}
    <p class="hint">${t('query.pipeline.comments')}</p>`;
}

function StageList(props) {
  const { query, change } = props;
  const { stages } = query;
  const [turn, setTurn] = useState(0);
  const set = (list) => change({ stages: list });
  const replace = (i, part) => set(stages.map((s, j) => (j === i ? { ...s, ...part } : s)));
  const move = (i, by) => {
    const list = [...stages];
    [list[i], list[i + by]] = [list[i + by], list[i]];
    set(list);
  };
  return html`<ol class="stages" aria-label=${t('query.pipeline.stages')}>${stages.map((stage, i) => html`
      <${Stage} key=${stage.id} ...${props} stage=${stage} i=${i} turn=${turn}
        set=${(part) => replace(i, part)} move=${(by) => move(i, by)} remove=${() => set(stages.filter((s) => s !== stage))} />`)}</ol>
    <div class="row"><button onClick=${() => set([...stages, newStage()])}><span aria-hidden="true">+</span>${t('query.stage.add')}</button>
      <button class="quiet" onClick=${() => setTurn(turn + 1)}><span aria-hidden="true">↻</span>${t('query.stage.refresh')}</button></div>`;
}

function Stage({ db, container, query, stage, i, turn, set, move, remove, run, tree, containers }) {
  const { stages } = query;
  const known = names.stages.includes(stage.op);
  const name = t('query.stage.name', { n: i + 1 });
  // A stage that is as it began gets the beginning of its new operator.
  const choose = (e) => {
    const op = e.target.value;
    set({ op, text: stage.text === startOf(stage.op) ? startOf(op) : stage.text });
  };
  const complete = mongoCompletions({ tree, containers, kind: stage.op === '$match' ? 'filter' : 'stage' });
  const button = (what, sign, disabled, action) => html`<button class="quiet" disabled=${disabled} onClick=${action}
    aria-label=${t(`query.stage.${what}`, { name })} title=${t(`query.stage.${what}`, { name })}>${sign}</button>`;
  return html`<li class=${stage.enabled ? 'stage' : 'stage disabled'} aria-label=${name}>
    <div class="stage-head"><span class="detail" aria-hidden="true">${i + 1}</span>
      <select aria-label=${t('query.stage.operator', { name })} value=${stage.op} onChange=${choose}>
        ${!known && html`<option value=${stage.op} selected>${stage.op}</option>`}
        ${names.stages.map((op) => html`<option value=${op} selected=${op === stage.op}>${op}</option>`)}</select>
      <label class="choice"><input type="checkbox" checked=${stage.enabled} onChange=${(e) => set({ enabled: e.target.checked })} />
        ${t('query.stage.enabled')}</label>
      <span class="grow"></span>
      ${button('up', '↑', i === 0, () => move(-1))}${button('down', '↓', i === stages.length - 1, () => move(1))}
      ${button('remove', '✕', false, remove)}</div>
    <div class="stage-body"><div><${JsonEditor} label=${t('query.stage.argument', { name })} value=${stage.text} required
        set=${(text) => set({ text })} run=${run} complete=${complete} /></div>
      <${Preview} db=${db} container=${container} stages=${stages} i=${i} turn=${turn} name=${name} /></div></li>`;
}

// Preview shows the first documents after a stage. It waits until typing rests, and never runs what writes.
function Preview({ db, container, stages, i, turn, name }) {
  const before = stages.slice(0, i + 1);
  const [shown, setShown] = useState({});
  const last = useRef('');
  const why = !stages[i].enabled ? 'disabled' : writes(before) ? 'writes' : before.some((s) => s.enabled && stageError(s)) ? 'wrong' : '';
  const text = why ? '' : pipelineOf([...before, newLimit]);
  useEffect(() => {
    if (!text) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      setShown((s) => ({ ...s, loading: true }));
      try {
        const answer = await ask(db, container, `{"pipeline":${text},"max":${previewed}}`, stop.signal);
        setShown({ items: answer.items });
      } catch (error) {
        if (error.name !== 'AbortError') setShown({ error });
      }
    }, last.current ? 500 : 0);
    last.current = text;
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, turn]);
  return html`<section class="stage-preview" tabindex="0" aria-label=${t('query.preview', { name })}>
    ${why && html`<p class="hint">${t(`query.preview.${why}`)}</p>`}
    ${!why && shown.error && html`<${Failure} error=${shown.error} />`}
    ${!why && !shown.error && html`<p class="hint">${previewTitle(shown.items)}
      ${shown.loading && html` <span class="spinner"></span>`}</p>
      ${shown.items?.map((item) => html`<${Json} value=${item} />`)}`}</section>`;
}

function previewTitle(items) {
  if (!items) return t('loading');
  return items.length ? t('query.preview.n', { n: items.length }) : t('query.preview.none');
}

const newLimit = newStage('$limit', String(previewed));
