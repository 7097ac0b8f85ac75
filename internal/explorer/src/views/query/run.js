// A running query: its pages, its cancel, its errors.
import { useEffect, useRef, useState } from '../../../vendor/preact.js';
import { ask, askPage, InputError, requestOf } from './request.js';

// mostRows bounds what the page keeps; older pages go first.
const mostRows = 20000;

const idle = { pages: [], at: 0, since: null, error: null, cancelled: false, plan: null, ran: null, asked: null };

// positionIn reads the place that an error of a SQL query names, in bytes of its UTF-8, as a range of the editor's text.
export function positionIn(message, text) {
  const found = /\(from character (\d+) to (\d+)\)/.exec(message);
  if (!found) return null;
  const bytes = new TextEncoder().encode(text);
  const index = (at) => new TextDecoder().decode(bytes.subarray(0, at)).length;
  return { from: index(Number(found[1])), to: index(Number(found[2])) };
}

// useRun returns the state {pages, at, since, error, cancelled, plan, ran} and what changes it. ran is the query that the
// pages are of, asked the last one that was sent. A page knows the number of its first row.
export function useRun(db, container) {
  const [state, setState] = useState(idle);
  const stop = useRef(null);
  useEffect(() => () => stop.current?.abort(), []);

  // during runs one request at a time; a newer one ends the older one.
  const during = async (start, work, use) => {
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    setState((s) => ({ ...s, ...start, since: performance.now(), error: null, cancelled: false }));
    try {
      const result = await work(mine.signal);
      if (stop.current === mine) setState((s) => ({ ...s, ...use(s, result), since: null }));
      return true;
    } catch (error) {
      if (stop.current !== mine) return false;
      const cancelled = error.name === 'AbortError';
      setState((s) => ({ ...s, since: null, cancelled, error: cancelled ? null : error }));
      return false;
    } finally {
      if (stop.current === mine) stop.current = null;
    }
  };

  return {
    ...state,
    run: (query) => during({ ...idle, ran: query, asked: query }, (signal) => askPage(db, container, query, { signal }),
      (s, page) => ({ pages: [{ ...page, first: 1 }], at: 0 })),
    next: () => during({}, (signal) => askPage(db, container, state.ran, { signal, continuation: state.pages.at(-1).continuation }),
      (s, page) => {
        const last = s.pages.at(-1);
        const pages = bounded([...s.pages, { ...page, first: last.first + last.items.length }]);
        return { pages, at: pages.length - 1 };
      }),
    explain: (query) => during({ asked: query, plan: null }, (signal) => ask(db, container, requestOf(query, { explain: true }), signal),
      (s, answer) => ({ plan: answer.plan })),
    hidePlan: () => setState((s) => ({ ...s, plan: null })),
    show: (at) => setState((s) => ({ ...s, at })),
    cancel: () => stop.current?.abort(),
  };
}

function bounded(pages) {
  let rows = pages.reduce((sum, page) => sum + page.items.length, 0);
  while (rows > mostRows && pages.length > 1) {
    rows -= pages[0].items.length;
    pages = pages.slice(1);
  }
  return pages;
}

export const isInput = (error) => error instanceof InputError;
