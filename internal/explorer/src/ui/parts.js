// Small parts that all views share.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { t } from '../messages.js';
import { createStore, useStore } from '../store.js';
import { duration, instant, utc } from '../format.js';
import { useAt } from '../time.js';

export const Spinner = ({ label }) => html`<span class="spinner" role="status" aria-label=${label ?? t('loading')}></span>`;

// Skeleton stands where content will be.
export const Skeleton = ({ lines = 3 }) => html`<div class="skeleton" role="status" aria-label=${t('loading')}>
  ${Array.from({ length: lines }, () => html`<div></div>`)}</div>`;

// Failure shows an error with its remedy, and offers to try again.
export function Failure({ error, retry }) {
  if (!error) return null;
  return html`<div class="failure" role="alert">
    <strong>${failureTitle(error)}</strong>
    ${error.status !== 0 && html`<p>${error.message}</p>`}
    ${retry && html`<button onClick=${retry}>${t('retry')}</button>`}
  </div>`;
}

export const failureTitle = (error) =>
  error.status === 0 ? t('error.unreachable') : t('error.status', { status: String(error.status ?? ''), kind: error.kind || error.name });

export const Empty = ({ title, children }) => html`<div class="empty"><h3>${title}</h3>${children}</div>`;

// Countdown is the time left until a deadline: null never ends. It fades as the end comes near, and says so at the end.
export function Countdown({ deadline }) {
  const never = deadline === null || deadline === undefined;
  const text = useAt((at) => (never ? t('never') : deadline <= at ? t('expired') : duration(deadline - at)));
  const kind = useAt((at) => (never ? 'never' : kindOf(deadline - at)));
  if (never) return html`<span class="countdown never">${text}</span>`;
  return html`<time class="countdown ${kind}" datetime=${utc(deadline)} title=${`${instant(deadline)} · ${utc(deadline)}`}>
    ${text}</time>`;
}

const kindOf = (left) => (left <= 0 ? 'gone' : left < 60 ? 'soon' : left < 3600 ? 'near' : 'far');

// Dialog is modal. onClose is called by Escape and by the close button.
export function Dialog({ title, onClose, children, footer, wide }) {
  const ref = useRef(null);
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  return html`<dialog ref=${ref} class=${wide ? 'wide' : ''} aria-label=${title}
      onCancel=${(e) => { e.preventDefault(); onClose(); }}>
    <header><h2>${title}</h2>
      <button class="quiet" aria-label=${t('close')} onClick=${onClose}>✕</button></header>
    <div class="content">${children}</div>
    ${footer && html`<footer>${footer}</footer>`}
  </dialog>`;
}

// Confirm asks before something that cannot be undone. typed is a text to type first, such as a container's name.
export function Confirm({ title, children, action, danger = true, typed, onConfirm, onClose }) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const ready = !busy && (!typed || text === typed);
  const confirm = async (e) => {
    e?.preventDefault();
    if (!ready) return;
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose} footer=${html`
      <button onClick=${onClose}>${t('cancel')}</button>
      <button class=${danger ? 'danger' : 'primary'} disabled=${!ready} onClick=${confirm}>${action}</button>`}>
    <form onSubmit=${confirm}>${children}
      ${typed && html`<label class="field">${t('confirm.type', { name: typed })}
        <input value=${text} onInput=${(e) => setText(e.target.value)} autocomplete="off" spellcheck="false" autofocus /></label>`}
    </form>
    <${Failure} error=${error} />
  <//>`;
}

const toasts = createStore([]);
let toastNumber = 0;

// toast tells what has happened, for some seconds. kind is '', 'good' or 'bad'.
export function toast(text, kind = '') {
  const id = ++toastNumber;
  toasts.set((all) => [...all.slice(-3), { id, text, kind }]);
  setTimeout(() => toasts.set((all) => all.filter((one) => one.id !== id)), kind === 'bad' ? 12000 : 5000);
}

export function Toasts() {
  const all = useStore(toasts);
  return html`<div class="toasts" role="status" aria-live="polite">
    ${all.map(({ id, text, kind }) => html`<div key=${id} class="toast ${kind}">${text}</div>`)}</div>`;
}

// Menu opens below its button. entries are {label, action, danger, disabled}.
export function Menu({ label, entries, children }) {
  const [open, setOpen] = useState(false);
  const ref = useRef(null);
  useEffect(() => {
    if (!open) return undefined;
    ref.current.querySelector('[role=menuitem]:not([disabled])')?.focus();
    const away = (e) => { if (!ref.current.contains(e.target)) setOpen(false); };
    addEventListener('pointerdown', away);
    return () => removeEventListener('pointerdown', away);
  }, [open]);
  const key = (e) => {
    const items = [...ref.current.querySelectorAll('[role=menuitem]:not([disabled])')];
    const at = items.indexOf(document.activeElement);
    if (e.key === 'Escape') {
      e.stopPropagation();
      setOpen(false);
      ref.current.querySelector('button').focus();
    } else if (e.key === 'ArrowDown') items[(at + 1) % items.length]?.focus();
    else if (e.key === 'ArrowUp') items[(at - 1 + items.length) % items.length]?.focus();
    else return;
    e.preventDefault();
  };
  return html`<div class="menu" ref=${ref} onKeyDown=${open ? key : undefined}>
    <button class="quiet" aria-haspopup="menu" aria-expanded=${open} aria-label=${label} title=${label}
      onClick=${() => setOpen(!open)}>${children ?? '⋯'}</button>
    ${open && html`<div role="menu">${entries.filter(Boolean).map((entry) => html`
      <button role="menuitem" class=${entry.danger ? 'danger' : ''} disabled=${entry.disabled}
        onClick=${() => { setOpen(false); entry.action(); }}>${entry.label}</button>`)}</div>`}
  </div>`;
}

// Tabs are links that look like tabs. tabs are {name, label, href}.
export const Tabs = ({ tabs, current, label }) => html`<nav class="tabs" aria-label=${label}>
  ${tabs.map((tab) => html`<a href=${tab.href} aria-current=${tab.name === current ? 'page' : undefined}>${tab.label}</a>`)}</nav>`;

// copyText puts a text on the clipboard. Pages over http of another machine have no clipboard API.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast(t('copied'), 'good');
}

// download saves a text as a file.
export function download(name, text, type = 'application/octet-stream') {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
