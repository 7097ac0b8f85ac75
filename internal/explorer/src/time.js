// mayfly's clock as the page knows it. A real clock goes on between two looks, a virtual one stands still.
import { createStore } from './store.js';
import { useEffect, useRef, useState } from '../vendor/preact.js';
import { get } from './api.js';

// clock is {virtual, at, seen, known}: the instant `at` (Unix seconds) was mayfly's time when performance.now() was
// `seen`. It is the browser's own until it is known.
export const clock = createStore({ virtual: false, at: Date.now() / 1000, seen: performance.now(), known: false });

export const now = () => {
  const c = clock.get();
  return c.virtual ? c.at : c.at + (performance.now() - c.seen) / 1000;
};

export function noteTime({ time, virtual }) {
  clock.set((c) => ({ virtual: virtual ?? c.virtual, at: typeof time === 'number' ? time : Date.parse(time) / 1000,
    seen: performance.now(), known: true }));
}

// noteAnswer notes the time of an answer, unless a later one is known.
export function noteAnswer(time) {
  if (!clock.get().known || time > now()) noteTime({ time });
}

export const lookAtClock = () => get('/clock').then(noteTime, () => {});

// followClock asks for the time now and then: often if the clock is virtual, since others may move it.
export function followClock() {
  let turn = 0;
  lookAtClock();
  setInterval(() => {
    if (!document.hidden && (clock.get().virtual || ++turn % 15 === 0)) lookAtClock();
  }, 2000);
}

// ticks counts the seconds and the looks at the clock, once for the whole page.
const ticks = createStore(0);
const tick = () => ticks.set((n) => n + 1);
setInterval(tick, 1000);
clock.subscribe(tick); // the clock may have been moved

// useAt is read(the present second). A part is drawn again when that is another value than before, so that a thousand
// rows can follow the clock.
export function useAt(read) {
  const value = read(Math.floor(now()));
  const current = useRef();
  current.current = read;
  const [, changed] = useState(value);
  useEffect(() => {
    const look = () => changed(current.current(Math.floor(now())));
    look();
    return ticks.subscribe(look);
  }, []);
  return value;
}

// useNow is the present second, drawn again every second.
export const useNow = () => useAt((at) => at);
