// The address of a view is the fragment of the page: #/, #/lifetime, #/c/DATABASE/CONTAINER/items?….
import { createStore, useStore } from './store.js';

const read = () => {
  const [where, search] = location.hash.replace(/^#/, '').split('?');
  const steps = where.split('/').filter(Boolean).map((s) => {
    try { return decodeURIComponent(s); } catch { return s; }
  });
  return { steps, query: new URLSearchParams(search ?? '') };
};

const route = createStore(read());

export const useRoute = () => useStore(route);

// guards tell whether a view that is shown has changes that are not saved.
const guards = new Set();

// leaving registers a guard of a view while it is mounted, as an effect: useEffect(() => leaving(() => dirty.current), []).
// Somebody who goes to another place is asked first. Another query of the same place is the view's own matter.
export function leaving(isDirty) {
  guards.add(isDirty);
  return () => guards.delete(isDirty);
}

export const unsaved = () => [...guards].some((isDirty) => isDirty());

// asked is {goOn}, how to go on after the question whether to discard changes; null while there is no question.
export const asked = createStore(null);

// discardFirst runs what would lose changes: at once if there are none, else after the question.
export function discardFirst(run) {
  if (unsaved()) asked.set({ goOn: run });
  else run();
}

const placeOf = (hash) => hash.split('?')[0];
let here = location.hash;
let allowed = null; // the address that the question was answered for

addEventListener('hashchange', () => {
  const wanted = location.hash;
  if (wanted !== allowed && placeOf(wanted) !== placeOf(here) && unsaved()) {
    history.replaceState(history.state, '', here || '#/'); // no event tells of it
    const goOn = () => {
      allowed = wanted || '#/';
      location.replace(allowed); // in the place of the entry that was put back
    };
    asked.set({ goOn });
    return;
  }
  allowed = null;
  here = wanted;
  route.set(read());
});

// link is the address of a view: link('c', db, container, 'items'), with an object last for the query.
export function link(...steps) {
  const query = typeof steps.at(-1) === 'object' ? steps.pop() : null;
  const text = query ? new URLSearchParams(query).toString() : '';
  return '#/' + steps.map(encodeURIComponent).join('/') + (text ? `?${text}` : '');
}

export const go = (...steps) => { location.hash = link(...steps); };
