// The view query: SQL, find and pipelines on one container, their results, history and plans.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { session } from '../api.js';
import { catalog, reloadCatalog } from '../catalog.js';
import { t } from '../messages.js';
import { useStore } from '../store.js';
import { Confirm, toast } from '../ui/parts.js';
import { FindForm } from './query/findform.js';
import { History, note, restored, save, SaveAs } from './query/history.js';
import { targetOf } from './query/pipeline.js';
import { fresh, pageSizes, writesIn } from './query/request.js';
import { Elapsed, Results } from './query/results.js';
import { isInput, positionIn, useRun } from './query/run.js';
import { useSample } from './query/sample.js';
import { SqlForm } from './query/sqlform.js';
import { PipelineForm } from './query/stages.js';

const forms = { sql: SqlForm, find: FindForm, aggregate: PipelineForm };

// drafts keep what is in the editors while other views are shown.
const drafts = new Map();

// asked is the query that an address brings: …/query?sql=… or ?filter=….
function fromAddress(base, address) {
  if (address.get('sql')) return { ...base, language: 'sql', sql: address.get('sql') };
  if (address.get('filter')) return { ...base, language: 'find', find: { ...base.find, filter: address.get('filter') } };
  return null;
}

export function Query({ db, container, query: address }) {
  const place = `${db}/${container.id}`;
  const [query, setQuery] = useState(() => fromAddress(fresh(container), address) ?? drafts.get(place) ?? fresh(container));
  const [dialog, setDialog] = useState(null);
  const run = useRun(db, container);
  const tree = useSample(db, container);
  const { write } = useStore(session);
  const all = useStore(catalog);
  const containers = all.databases?.find((d) => d.id === db)?.containers.map((c) => c.id) ?? [];
  // What runs is what has been typed, even if it has not been drawn yet.
  const latest = useRef(query);
  const change = (part) => {
    latest.current = { ...latest.current, ...part };
    setQuery(latest.current);
  };
  useEffect(() => { drafts.set(place, query); }, [query]);

  const start = async () => {
    const asked = latest.current;
    note(db, container, asked);
    const writer = safely(() => writesIn(asked));
    if (await run.run(asked) && writer) {
      toast(t('query.wrote', { name: targetOf(writer) }), 'good');
      reloadCatalog();
    }
  };
  const ask = () => {
    const writer = safely(() => writesIn(latest.current));
    if (writer && !write) return;
    if (writer) setDialog('write');
    else start();
  };
  useEditorKeys({ run: ask, cancel: run.since === null ? null : run.cancel });
  const errors = useMemo(() => marksOf(run.error, run.asked), [run.error, run.asked]);
  const Form = forms[query.language];
  const writer = safely(() => writesIn(query));
  return html`<div class="query">
    <section class="panel query-form" aria-label=${t('tab.query')}>
      <div class="row query-head">
        <div class="segments" role="group" aria-label=${t('query.language')}>${Object.keys(forms).map((name) => html`
          <button aria-pressed=${query.language === name} onClick=${() => change({ language: name })}>
            ${t(`query.language.${name}`)}</button>`)}</div>
        <span class="grow"></span>
        <div><button class="quiet" onClick=${() => setDialog('save')}>${t('query.save')}</button>
          <button class="quiet" onClick=${() => setDialog('history')}>${t('query.history')}</button></div></div>
      <${Form} db=${db} container=${container} query=${query} change=${change} run=${ask} tree=${tree} containers=${containers}
        errors=${errors} />
      <div class="row query-actions">
        ${run.since === null
    ? html`<button class="primary" disabled=${writer && !write} onClick=${ask}><span aria-hidden="true">▶</span>${t('query.run')}</button>`
    : html`<button class="danger" onClick=${run.cancel}><span aria-hidden="true">■</span>${t('query.cancel')}</button>`}
        <button disabled=${run.since !== null} onClick=${() => run.explain(latest.current)}>${t('query.plan.show')}</button>
        ${run.since !== null && html`<span class="row" role="status"><span class="spinner"></span>${t('query.running')}</span>
          <${Elapsed} since=${run.since} />`}
        <span class="grow"></span>
        <label class="inline-field"><span>${t('query.max')}</span>
          <select value=${query.max} onChange=${(e) => change({ max: Number(e.target.value) })}>
          ${pageSizes.map((n) => html`<option value=${n} selected=${n === query.max}>${n}</option>`)}</select></label></div>
      ${writer && !write && html`<p class="hint">${t('query.readOnly')}</p>`}
      ${isInput(run.error) && html`<div class="failure" role="alert">${run.error.message}</div>`}
    </section>
    <${Results} db=${db} container=${container} run=${run} writesTo=${run.ran && safely(() => writesIn(run.ran))} />
    ${dialog === 'history' && html`<${History} db=${db} container=${container} onClose=${() => setDialog(null)}
      onChoose=${(kept) => change(restored(latest.current, kept))} />`}
    ${dialog === 'save' && html`<${SaveAs} onClose=${() => setDialog(null)} onSave=${(name) => {
    save(db, container, name, query);
    toast(t('query.saved.as', { name }), 'good');
  }} />`}
    ${dialog === 'write' && html`<${Confirm} title=${t('query.writes')} action=${t('query.run')} onClose=${() => setDialog(null)}
      onConfirm=${() => { start(); }}>
      <p>${t(writer?.op === '$out' ? 'query.writes.out' : 'query.writes.merge', { name: writer ? targetOf(writer) : '' })}</p><//>`}
  </div>`;
}

// safely is undefined for a query that has a mistake: running it says which.
function safely(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

// marksOf are the places in the editor that an error names: a range of the SQL, or an operator in a filter or a pipeline.
function marksOf(error, ran) {
  if (!error || !ran) return [];
  if (ran.language === 'sql') {
    const found = positionIn(error.message, ran.sql);
    return found ? [{ ...found, message: error.message }] : [];
  }
  const name = /\$\w+/.exec(error.message)?.[0];
  const text = ran.language === 'find' ? ran.find.filter : ran.text;
  const from = name ? text.indexOf(`"${name}"`) : -1;
  return from < 0 ? [] : [{ from, to: from + name.length + 2, message: error.message }];
}

// useEditorKeys runs at Ctrl-Enter and cancels at Escape wherever the focus is, unless something nearer has used the key.
function useEditorKeys({ run, cancel }) {
  useLayoutEffect(() => { // before the next key
    const key = (e) => {
      if (e.defaultPrevented || e.isComposing || document.querySelector('dialog[open]')) return;
      const runs = e.key === 'Enter' && (e.ctrlKey || e.metaKey);
      if (!runs && !(e.key === 'Escape' && cancel)) return;
      e.preventDefault();
      if (runs) run();
      else cancel();
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  });
}
