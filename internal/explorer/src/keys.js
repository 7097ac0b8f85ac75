// Keys of the whole page. A view adds its own while it is shown: useKeys([{key: 'n', label, run}]).
// A key without a label is another one for the same, which the lists of keys leave out.
import { useEffect } from '../vendor/preact.js';
import { createStore } from './store.js';

// bound are the lists of the parts that are shown now, newest last.
export const bound = createStore([]);

export function useKeys(list) {
  useEffect(() => {
    bound.set((all) => [...all, list]);
    return () => bound.set((all) => all.filter((one) => one !== list));
  });
}

// nameOf is a key with its modifiers: "mod+k", "shift+?", "n".
function nameOf(e) {
  const mod = e.ctrlKey || e.metaKey ? 'mod+' : '';
  return mod + (e.altKey ? 'alt+' : '') + e.key.toLowerCase();
}

const typing = (target) => target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

addEventListener('keydown', (e) => {
  if (e.defaultPrevented || e.isComposing) return;
  if (document.querySelector('dialog.login[open]')) return;
  const target = e.composedPath()[0];
  const name = nameOf(e);
  if (typing(target) && !name.startsWith('mod+')) return;
  if (document.querySelector('dialog[open]') && name !== 'mod+k') return;
  for (const list of [...bound.get()].reverse()) {
    const found = list.find((one) => one.key === name);
    if (found) {
      e.preventDefault();
      found.run(e);
      return;
    }
  }
});
