// The items of a container: a grid in pages, and a panel with the item that the address names.
//   ?id=…&pk=[…]           opens an item
//   ?new=1                 begins one
//   ?expiring=from-until   shows only items that end in that interval (Unix seconds)
import { html, useCallback, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { session } from '../api.js';
import { reloadCatalog } from '../catalog.js';
import { instant } from '../format.js';
import { useKeys } from '../keys.js';
import { t } from '../messages.js';
import { go, leaving } from '../router.js';
import { remembered, useStore } from '../store.js';
import { Confirm, Empty, Menu, Skeleton, download, toast } from '../ui/parts.js';
import { Columns, columnsOf, firstColumns, keyOf, shownColumns, titleOf } from './items-columns.js';
import { ExtendDialog } from './items-extend.js';
import { Filter, questionOf } from './items-filter.js';
import { Grid, moveBy } from './items-grid.js';
import { addressOf, isMongo, labelOf, nameFrom, refersTo, sameName } from './items-names.js';
import { rowOf, usePages } from './items-pages.js';
import { Pager, pageSize } from './items-pager.js';
import { Panel } from './items-panel.js';
import { deleteItem } from './items-store.js';
import { ExportDialog, ImportDialog } from './items-transfer.js';
import { relaxed } from './items-types.js';

// spanOf is the interval that the address names.
function spanOf(query) {
  const found = /^(-?\d+)-(-?\d+)$/.exec(query.get('expiring') ?? '');
  return found ? { from: Number(found[1]), until: Number(found[2]) } : null;
}

// useColumns are the columns of a container that somebody chose, null for those that suit.
function useColumns(db, container) {
  const store = useMemo(() => remembered(`columns.${db}/${container.id}`, null), [db, container.id]);
  return [useStore(store), store.set];
}

// useOpened is what the panel shows: what the address asks for, unless a text that is not saved would be lost by that.
function useOpened(query, dirty, address) {
  const wanted = query.has('new') ? { new: query.get('new') } : nameFrom(query) && { name: nameFrom(query) };
  const [opened, setOpened] = useState(wanted);
  const [asking, setAsking] = useState(false);
  useEffect(() => {
    if (sameName(wanted, opened)) return setAsking(false);
    if (dirty.current) return setAsking(true);
    return setOpened(wanted);
  }, [JSON.stringify(wanted)]);
  const discard = () => {
    dirty.current = false;
    setAsking(false);
    setOpened(wanted);
  };
  const stay = () => {
    setAsking(false);
    if (!dirty.current) return; // discarded
    address(opened.new ? { new: opened.new } : addressOf(opened.name));
  };
  return { opened, setOpened, asking, discard, stay };
}

export function Items({ db, container, query }) {
  const { write: mayWrite } = useStore(session);
  const write = mayWrite && !container.view;
  const span = spanOf(query);
  const [filter, setFilter] = useState('');
  const [sort, setSort] = useState(null);
  const [slow, setSlow] = useState(null);
  const [dialog, setDialog] = useState(null);
  const [why, setWhy] = useState(null);
  const [whyFirst, setWhyFirst] = useState(false);
  const [left, setLeft] = useState(0);
  const [version, setVersion] = useState(0); // of the item in the panel, as far as this view knows
  const size = useStore(pageSize);
  const [chosen, choose] = useColumns(db, container);
  const dirty = useRef(false);
  const start = useRef();
  const last = useRef(null);
  const address = (more) => go('c', db, container.id, 'items', { ...(span && { expiring: query.get('expiring') }), ...more });
  const { opened, setOpened, asking, discard, stay } = useOpened(query, dirty, address);
  const question = questionOf(container, filter, sort, span);
  const pages = usePages(db, container, question, size);
  const { rows, change, loading, error } = pages;

  const items = useMemo(() => (rows ?? []).map((row) => row.item), [rows]);
  const all = useMemo(() => columnsOf(container, items), [items, container.partitionKey]);
  const shown = useMemo(() => (span ? firstColumns(container) : shownColumns(container, all, chosen)), [all, chosen, !!span]);

  useEffect(() => setLeft(0), [rows === null, pages.page, JSON.stringify(question)]);
  useEffect(() => {
    const guard = (e) => { if (dirty.current) e.preventDefault(); };
    addEventListener('beforeunload', guard);
    const stay = leaving(() => dirty.current);
    return () => {
      removeEventListener('beforeunload', guard);
      stay();
    };
  }, []);
  const gone = useCallback((key) => {
    if (document.activeElement?.closest('tr[data-key]')?.dataset.key === key) last.current = moveBy(1);
    setLeft((n) => n + 1);
    change((list) => list.filter((row) => row.key !== key));
  }, [change]);
  // A page of which everything has expired is read again, because others may have moved up.
  useEffect(() => {
    if (rows?.length === 0 && left > 0 && !loading) pages.load(0, true);
  }, [rows?.length === 0 && left > 0]);

  const open = (row, explain = false) => {
    last.current = row.key;
    setWhyFirst(explain);
    address(addressOf(row.name));
  };
  const close = () => {
    address();
    setTimeout(() => moveBy(0, last.current), 0);
  };
  const fresh = (copy) => {
    start.current = copy;
    address({ new: copy ? 'copy' : '1' });
  };
  const saved = (got, isNew) => {
    const row = rowOf(container, isMongo(container) ? relaxed(got.item) : got.item, got.deadline);
    change((list) => (isNew ? [row, ...list.filter((one) => one.key !== row.key)]
      : list.map((one) => (sameName(one.name, row.name) ? row : one))));
    reloadCatalog();
    if (!isNew) return;
    dirty.current = false;
    setOpened({ name: row.name });
    address(addressOf(row.name));
  };
  const extended = (got) => {
    saved(got, false);
    if (!dirty.current) setVersion(version + 1); // the panel reads it again, or it would have the old ETag
  };
  const remove = async (name) => {
    await deleteItem(db, container, name);
    toast(t('items.deleted', { name: labelOf(name) }), 'good');
    change((list) => list.filter((row) => !sameName(row.name, name)));
    dirty.current = false;
    reloadCatalog();
    const at = rows.findIndex((row) => sameName(row.name, name));
    last.current = (rows[at + 1] ?? rows[at - 1])?.key;
    if (dialog.opened || refersTo(opened?.name, name)) close();
    else setTimeout(() => moveBy(0, last.current), 50); // when the dialog has gone
  };
  const sortBy = (steps, rule) => {
    const same = sort && keyOf(sort.steps) === keyOf(steps);
    if (rule === 'slow' && !same) return setSlow(steps);
    setSlow(null);
    if (same && sort.direction === 'descending') return setSort(null);
    return setSort({ steps, direction: same ? 'descending' : 'ascending' });
  };
  // current is the row of the keyboard: the one with the focus, else the last one that was opened or passed.
  const current = () => {
    const key = document.activeElement?.closest?.('tr[data-key]')?.dataset.key ?? last.current;
    return rows?.find((row) => row.key === key);
  };
  const move = (step) => () => { last.current = moveBy(step, last.current) ?? last.current; };
  const withRow = (run) => () => {
    const row = current();
    if (row) run(row);
  };
  const enter = () => {
    const control = document.activeElement?.closest('button, a, summary');
    if (control) control.click();
    else withRow(open)();
  };
  useKeys([
    ...(write ? [{ key: 'n', label: t('items.new'), run: () => fresh() }] : []),
    { key: '/', label: t('items.key.filter'), run: () => document.getElementById('items-filter')?.focus() },
    { key: 'r', label: t('items.refresh'), run: pages.reload },
    { key: 'j', label: t('items.key.down'), run: move(1) }, { key: 'k', label: t('items.key.up'), run: move(-1) },
    { key: 'arrowdown', run: move(1) }, { key: 'arrowup', run: move(-1) },
    { key: 'enter', label: t('items.key.open'), run: enter },
    ...(container.view ? [] : [{ key: 'w', label: t('items.why'), run: withRow((row) => setWhy(why === row.key ? null : row.key)) }]),
    ...(write ? [{ key: 'e', label: t('items.extend'), run: withRow((row) => setDialog({ extend: row.name })) },
      { key: 'delete', label: t('delete'), run: withRow((row) => setDialog({ delete: row.name })) }] : []),
  ]);
  const done = () => setDialog(null);

  return html`<div class="items">
    <div class="items-bar">
      ${span ? html`<p class="span"><span class="badge warn">${
    t('items.span', { from: instant(span.from), until: instant(span.until) })}</span>
          <a href=${`#/c/${encodeURIComponent(db)}/${encodeURIComponent(container.id)}/items`}>${t('items.span.all')}</a>
          ${pages.exact === false && html`<span class="hint">${t('items.span.inexact')}</span>`}</p>`
    : html`<${Filter} container=${container} value=${filter} onApply=${setFilter} error=${error} onRetry=${pages.reload}
          sorted=${!!sort} onUnsort=${() => setSort(null)} />`}
      <div class="row items-actions">
        ${write && html`<button class="primary" onClick=${() => fresh()}>${t('items.new')}</button>`}
        <button onClick=${pages.reload} title="${t('items.refresh')} (R)" aria-label=${t('items.refresh')}>↻</button>
        ${!span && html`<${Columns} all=${all} shown=${shown} fixed=${firstColumns(container)} chosen=${chosen} onChoose=${choose} />`}
        ${!container.view && html`<${Menu} label=${t('items.transfer')} entries=${[
    write && { label: t('items.import'), action: () => setDialog('import') },
    { label: t('items.export'), action: () => setDialog('export') }]} />`}</div>
    </div>
    ${span && error && html`<div class="failure" role="alert">${error.message} <button
        onClick=${pages.reload}>${t('retry')}</button></div>`}
    ${slow && html`<div class="notice" role="status">${t('items.sort.slow', { name: titleOf(slow) })}
      <button onClick=${() => { setSlow(null); setSort({ steps: slow, direction: 'ascending' }); }}>${t('items.sort.anyway')}</button>
      <button class="quiet" onClick=${() => setSlow(null)}>${t('cancel')}</button></div>`}
    ${container.view && html`<p class="hint">${t('items.view')}</p>`}
    <div class="items-body${opened ? ' with-panel' : ''}">
      <div class="items-list">
        ${!rows && loading && html`<${Skeleton} lines=${10} />`}
        ${rows?.length === 0 && !loading && html`<${Nothing} filter=${filter} span=${span} page=${pages.page} write=${write}
            onNew=${() => fresh()} />`}
        ${rows?.length > 0 && html`<${Grid} db=${db} container=${container} rows=${rows} columns=${shown} sort=${sort} onSort=${sortBy}
          sortable=${!span} opened=${opened?.name} why=${why} onWhy=${setWhy} onOpen=${open} onGone=${gone} busy=${loading} />`}
        ${rows && html`<${Pager} pages=${pages} total=${filter || span || container.view ? null : container.items} left=${left} />`}
      </div>
      ${opened && html`<${Panel} key=${`${opened.new ?? JSON.stringify(opened.name)} ${version}`} db=${db} container=${container}
          name=${opened.name ?? null} start=${opened.new === 'copy' ? start.current : undefined}
        write=${write} dirty=${dirty} whyFirst=${whyFirst} onClose=${close} onSaved=${saved} onDuplicate=${fresh}
        onDelete=${(name) => setDialog({ delete: name, opened: true })} onExtend=${(name) => setDialog({ extend: name })} />`}
    </div>
    ${asking && html`<${Confirm} title=${t('items.unsaved')} action=${t('items.unsaved.discard')} onClose=${stay} onConfirm=${discard}>
      <p>${t('items.unsaved.ask')}</p><//>`}
    ${dialog?.delete && html`<${Confirm} title=${t('items.delete')} action=${t('delete')} onClose=${done}
        onConfirm=${() => remove(dialog.delete)}>
      <p class="wrap">${t('items.delete.ask', { name: labelOf(dialog.delete) })}</p><//>`}
    ${dialog?.extend && html`<${ExtendDialog} db=${db} container=${container} name=${dialog.extend}
        onSaved=${extended} onClose=${done} />`}
    ${dialog === 'import' && html`<${ImportDialog} db=${db} container=${container} onClose=${done}
        onDone=${() => { pages.load(0, true); reloadCatalog(); }} />`}
    ${dialog === 'export' && html`<${ExportDialog} db=${db} container=${container} onClose=${done} save=${download} />`}
  </div>`;
}

function Nothing({ filter, span, page, write, onNew }) {
  const title = span ? 'items.none.span' : page > 0 ? 'items.none.page' : filter ? 'items.none.filter' : 'items.none';
  return html`<${Empty} title=${t(title)}>${write && !filter && !span && page === 0
    && html`<p>${t('items.none.hint')}</p><button onClick=${onNew}>${t('items.new')}</button>`}<//>`;
}
