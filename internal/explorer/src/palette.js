// The command palette: every place and every key's action, by a few letters.
import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { catalog } from './catalog.js';
import { bound } from './keys.js';
import { t } from './messages.js';
import { go } from './router.js';
import { useStore } from './store.js';
import { clock } from './time.js';

const most = 50;

function entries(all, virtual) {
  const list = [
    { label: t('nav.home'), run: () => go() },
    { label: t('nav.lifetime'), run: () => go('lifetime') },
    ...(virtual ? [{ label: t('nav.clock'), run: () => go('clock') }] : []),
    ...['work', 'slow', 'connections', 'audit', 'connect'].map((tab) => (
      { label: `${t('nav.operations')}: ${t(`operations.${tab}`)}`, run: () => go('operations', tab) })),
  ];
  for (const one of bound.get().flat()) {
    if (one.label && one.key !== 'mod+k') list.push({ label: one.label, key: one.key, run: one.run });
  }
  for (const db of all.databases ?? []) {
    for (const c of db.containers) {
      for (const view of ['items', 'query', 'settings', 'lifetime']) {
        list.push({ label: `${db.id}/${c.id}`, detail: t(`tab.${view}`), run: () => go('c', db.id, c.id, view) });
      }
    }
  }
  return list;
}

// matches reports whether the letters of the text appear in their order.
function matches(label, text) {
  let at = 0;
  for (const letter of text) {
    at = label.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

export function Palette({ onClose }) {
  const all = useStore(catalog);
  const { virtual } = useStore(clock);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const ref = useRef(null);
  const wanted = text.toLowerCase().replace(/\s+/g, '');
  const found = entries(all, virtual).filter((e) => matches(`${e.label}${e.detail ?? ''}`.toLowerCase(), wanted)).slice(0, most);
  useEffect(() => {
    const before = document.activeElement;
    ref.current.showModal();
    return () => before?.focus?.();
  }, []);
  useEffect(() => ref.current.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [at]);
  const run = (entry) => {
    onClose();
    setTimeout(() => entry.run(), 0);
  };
  const key = (e) => {
    if (e.key === 'ArrowDown') setAt(Math.min(at + 1, found.length - 1));
    else if (e.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else if (e.key === 'Enter' && found[at]) run(found[at]);
    else return;
    e.preventDefault();
  };
  return html`<dialog class="palette" ref=${ref} aria-label=${t('palette.open')} onCancel=${onClose} onClick=${(e) => { if (e.target === ref.current) onClose(); }}>
    <input role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${`palette-${at}`} autofocus
      aria-label=${t('palette.open')} placeholder=${t('palette.placeholder')} value=${text} onKeyDown=${key}
      onInput=${(e) => { setText(e.target.value); setAt(0); }} />
    <ul id="palette-list" role="listbox" aria-label=${t('palette.open')}>${found.map((entry, i) => html`
      <li id=${`palette-${i}`} role="option" aria-selected=${i === at} onClick=${() => run(entry)}>
        <span class="ellipsis">${entry.label}</span>${entry.detail && html`<span class="detail">${entry.detail}</span>`}
        ${entry.key && html`<kbd>${entry.key.toUpperCase()}</kbd>`}</li>`)}</ul>
    ${found.length === 0 && html`<p class="hint">${t('palette.nothing')}</p>`}
  </dialog>`;
}
