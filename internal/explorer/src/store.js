// Values that several parts of the page show. A part that uses a store is drawn again when it changes.
import { useEffect, useState } from '../vendor/preact.js';

export function createStore(initial) {
  let value = initial;
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      value = typeof next === 'function' ? next(value) : next;
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore(store) {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    setValue(store.get());
    return store.subscribe((next) => setValue(next));
  }, [store]);
  return value;
}

// remembered is a store that outlives the page, in this browser only.
export function remembered(name, initial) {
  const key = `mayfly.${name}`;
  let start = initial;
  try {
    const text = localStorage.getItem(key);
    if (text !== null) start = JSON.parse(text);
  } catch { /* storage is off, or has another version's value */ }
  const store = createStore(start);
  store.subscribe((value) => {
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch { /* storage is off or full */ }
  });
  return store;
}
