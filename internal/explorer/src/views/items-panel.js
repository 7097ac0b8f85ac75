// The panel of one item: its text, to read or to edit, and what can be done with it.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { useRequest } from '../api.js';
import { t } from '../messages.js';
import { remembered, useStore } from '../store.js';
import { useAt } from '../time.js';
import { Editor, jsonProblem } from '../ui/editor.js';
import { Countdown, Failure, Menu, Skeleton, copyText, toast } from '../ui/parts.js';
import { ConflictDialog } from './items-conflict.js';
import { isMongo, isObject, labelOf, newId, parseText, partitionSteps, put, show, withoutSystem } from './items-names.js';
import { Conflict, createItem, keepsIdentity, readItem, replaceItem } from './items-store.js';
import { relaxed } from './items-types.js';
import { Why } from './items-why.js';

// How items are shown, for all containers.
const looks = remembered('items.look', { system: false, canonical: false });

function textOf(container, item, look) {
  if (isMongo(container)) return show(look.canonical ? item : relaxed(item));
  return show(look.system ? item : withoutSystem(item));
}

// template is the text of a new item.
function template(container) {
  if (isMongo(container)) return '{\n  \n}';
  const item = { id: newId() };
  for (const steps of partitionSteps(container)) if (steps.join() !== 'id') put(item, steps, '');
  return show(item);
}

// copyOf is the start of a new item like another one: {text, like}, like with the types of MongoDB that the text lacks.
function copyOf(container, item) {
  if (!isMongo(container)) return { text: show({ ...withoutSystem(item), id: newId() }) };
  const { _id, ...like } = item;
  return { text: show(relaxed(like)), like };
}

// problemOf says what is wrong with a text, and where: "line 3, column 5: …".
function problemOf(text) {
  const wrong = jsonProblem(text);
  if (!wrong) return isObject(parseText(text)) ? null : t('items.notObject');
  const before = text.slice(0, wrong.from).split('\n');
  return t('items.syntax', { line: before.length, column: before.at(-1).length + 1, message: wrong.message });
}

// Panel shows the item of a name, or a new one if name is null, which begins as start says (copyOf).
export function Panel(props) {
  const { db, container, name } = props;
  const [turn, setTurn] = useState(0);
  const { data, error, loading, reload } = useRequest(
    (signal) => (name ? readItem(db, container, name, signal) : Promise.resolve(null)), [JSON.stringify(name), turn]);
  const title = name ? labelOf(name) : t('items.new');
  const ref = useRef(null);
  const key = (e) => {
    if (e.key !== 'Escape' || e.defaultPrevented || e.target.closest('dialog')) return;
    e.preventDefault();
    props.onClose();
  };
  useEffect(() => {
    if (ref.current && !ref.current.contains(document.activeElement)) ref.current.focus();
  }, [JSON.stringify(name)]);
  return html`<section class="item-panel" ref=${ref} tabindex="-1" aria-label=${title} onKeyDown=${key}>
    <header><h2 class="ellipsis" title=${title}>${title}</h2>
      ${data && !container.view && html`<${Countdown} deadline=${data.deadline} />`}
      <button class="quiet" aria-label=${t('close')} onClick=${props.onClose}>✕</button></header>
    ${error && html`<${Gone} error=${error} retry=${reload} />`}
    ${loading && data === undefined && html`<${Skeleton} lines=${8} />`}
    ${data !== undefined && !error && html`<${Body} ...${props} key=${`${JSON.stringify(name)} ${turn}`} loaded=${data}
        onReload=${() => setTurn(turn + 1)} />`}
  </section>`;
}

const Gone = ({ error, retry }) => (error.status === 404
  ? html`<div class="failure" role="alert"><strong>${t('items.gone')}</strong><p>${t('items.gone.why')}</p></div>`
  : html`<${Failure} error=${error} retry=${retry} />`);

function Body({ db, container, name, loaded, start, write, dirty, whyFirst, onSaved, onDelete, onExtend, onDuplicate, onReload }) {
  const look = useStore(looks);
  const [base, setBase] = useState(loaded);
  const [first] = useState(() => start?.text ?? template(container)); // which has a random id
  const shown = base ? textOf(container, base.item, look) : first;
  const [text, setText] = useState(shown);
  const [error, setError] = useState(null);
  const [conflict, setConflict] = useState(null);
  const [busy, setBusy] = useState(false);
  const [why, setWhy] = useState(whyFirst);
  const ended = useAt((at) => base?.deadline != null && base.deadline <= at);
  const mongo = isMongo(container);
  const changed = text !== shown;
  dirty.current = write && changed;
  const problem = changed || !base ? problemOf(text) : null;
  const choose = (edit) => {
    const next = { ...look, ...edit };
    looks.set(next);
    if (base) setText(textOf(container, base.item, next));
  };
  const attempt = async (action) => {
    setBusy(true);
    setError(null);
    try {
      const got = await action();
      dirty.current = false;
      setConflict(null);
      setBase(got);
      setText(textOf(container, got.item, look));
      toast(got.hint ?? t(base ? 'items.saved' : 'items.created', { name: labelOf(got.name) }), got.hint ? '' : 'good');
      onSaved(got, !base);
    } catch (e) {
      if (e instanceof Conflict) setConflict(e.theirs);
      else setError(e);
    } finally {
      setBusy(false);
    }
  };
  const saveOver = (old, wanted) => attempt(() => {
    const edited = parseText(wanted);
    if (mongo && !keepsIdentity(old, edited)) throw new Error(t('items.id.fixed'));
    return replaceItem(db, container, old, edited);
  });
  const saveMine = (wanted) => {
    setText(wanted); // which another conflict must not lose
    saveOver(conflict, wanted);
  };
  const create = () => attempt(() => createItem(db, container, parseText(text), base ? base.item : start?.like));
  const save = () => {
    if (!write || busy || problem || (base && !changed)) return;
    if (base) saveOver(base, text);
    else create();
  };
  const take = (theirs) => {
    setConflict(null);
    setBase(theirs);
    setText(textOf(container, theirs.item, look));
    onSaved(theirs, false);
  };
  return html`<div class="item-tools row">
      ${write && html`<button class="primary" disabled=${busy || !!problem || (!!base && (!changed || ended))} onClick=${save}
        title="Ctrl+S">${t(base ? 'save' : 'create')}</button>`}
      ${base && changed && write && html`<button onClick=${() => setText(shown)}>${t('items.revert')}</button>`}
      ${base && write && html`<button onClick=${() => onExtend(base.name)} disabled=${changed || ended}>${t('items.extend')}</button>`}
      ${base && !container.view && html`<button aria-pressed=${!!why} onClick=${() => setWhy(!why)}>${t('items.why.short')}</button>`}
      ${base && html`<${Menu} label=${t('items.more')} entries=${[
    { label: t('items.copy'), action: () => copyText(text) },
    { label: t('items.reload'), action: onReload, disabled: changed },
    write && { label: t('items.duplicate'), action: () => onDuplicate(copyOf(container, base.item)) },
    write && { label: t('delete'), danger: true, action: () => onDelete(base.name) }]} />`}
    </div>
    ${ended && html`<div class="failure" role="alert"><strong>${t('items.gone')}</strong>
      ${write && html`<p>${t('items.ended')}</p><button onClick=${create}
          disabled=${busy || !!problem}>${t('items.again')}</button>`}</div>`}
    ${why && base && html`<${Why} db=${db} container=${container} name=${base.name} version=${base.etag ?? base.deadline}
        onClose=${() => setWhy(false)} />`}
    <${Editor} value=${text} label=${t('items.text')} onChange=${setText} onSave=${save} readOnly=${!write || busy}
      autofocus=${!base} />
    <div class="item-foot">
      ${problem && changed && html`<p class="problem" role="status">${problem}</p>`}
      ${error && (error.status === 404 && base ? html`<div class="failure" role="alert"><strong>${t('items.gone')}</strong>
        <button onClick=${create} disabled=${busy}>${t('items.again')}</button></div>` : error.status === undefined
    ? html`<div class="failure" role="alert">${error.message}</div>` : html`<${Failure} error=${error} />`)}
      ${base && !mongo && html`<label class="choice"><input type="checkbox" checked=${look.system} disabled=${changed}
        onChange=${(e) => choose({ system: e.target.checked })} />${t('items.system')}
        <small>${look.system && t('items.system.hint')}</small></label>`}
      ${base && mongo && html`<label class="choice"><input type="checkbox" checked=${look.canonical} disabled=${changed}
        onChange=${(e) => choose({ canonical: e.target.checked })} />${t('items.canonical')}</label>`}
      ${!base && mongo && html`<small>${t('items.new.mongo')}</small>`}</div>
    ${conflict && html`<${ConflictDialog} theirs=${textOf(container, conflict.item, { ...look, system: false })} mine=${text}
        busy=${busy} error=${error}
      onMine=${saveMine} onTheirs=${() => take(conflict)} onClose=${() => setConflict(null)}
          problemOf=${problemOf} />`}`;
}
