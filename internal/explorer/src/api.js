// The client of the admin API. docs/admin.md has its routes.
import { useCallback, useEffect, useRef, useState } from '../vendor/preact.js';
import { createStore } from './store.js';

const base = '/_mayfly/v1';

// A Problem is an error that the server answered (RFC 9457), or that it could not be reached (status 0).
export class Problem extends Error {
  constructor(status, kind, detail) {
    super(detail);
    this.status = status;
    this.kind = kind;
  }
}

// connected is false while the server cannot be reached; session says whether a key is needed. Until
// the server has told, nothing may be written.
export const connected = createStore(true);
export const session = createStore({ needsKey: false, signedIn: true, write: false });

// path joins steps of a path, each encoded: path('databases', db).
export const path = (...steps) => '/' + steps.map(encodeURIComponent).join('/');

// containerPath is the path of a container.
export const containerPath = (db, container) => path('databases', db, 'containers', container);

// call sends a request, but none while a key is asked for, and returns {body, headers, status}. body of the options is sent as JSON, raw as it is.
export async function call(method, route, { query, body, raw, headers = {}, signal, as = 'json' } = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') search.set(name, value);
  }
  const text = search.toString();
  const sent = { method, headers: { Accept: 'application/json', ...headers }, signal, credentials: 'same-origin' };
  if (raw !== undefined) sent.body = raw;
  else if (body !== undefined) {
    sent.body = JSON.stringify(body);
    sent.headers['Content-Type'] = 'application/json';
  }
  const { needsKey, signedIn } = session.get();
  if (needsKey && !signedIn && route !== '/session') throw new Problem(401, 'locked', 'locked');
  let answer;
  try {
    answer = await fetch(base + route + (text ? `?${text}` : ''), sent);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    noteConnection(false);
    watchConnection();
    throw new Problem(0, 'unreachable', 'unreachable');
  }
  noteConnection(true);
  if (!answer.ok) throw await problemOf(answer);
  if (as === 'response') return answer;
  const got = as === 'text' ? await answer.text() : await answer.text().then((t) => (t ? parse(t) : null));
  return { body: got, headers: answer.headers, status: answer.status };
}

async function problemOf(answer) {
  const text = await answer.text();
  let body = {};
  try {
    body = JSON.parse(text);
  } catch { /* not from the admin API */ }
  if (answer.status === 401) session.set((s) => ({ ...s, needsKey: true, signedIn: false }));
  return new Problem(answer.status, body.kind ?? '', body.detail || body.title || text || answer.statusText);
}

// parse keeps integers that a double cannot hold: as text in a Big, where the browser tells the source of a number.
function parse(text) {
  return JSON.parse(text, (name, value, context) =>
    typeof value === 'number' && context && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source)
      ? rawNumber(context.source) : value);
}

// rawNumber is a number that JSON.stringify writes as it came. https://tc39.es/proposal-json-parse-with-source/
export const rawNumber = (source) => (JSON.rawJSON ? JSON.rawJSON(source) : Number(source));

export const get = (route, options) => call('GET', route, options).then((a) => a.body);
export const post = (route, body, options) => call('POST', route, { body, ...options }).then((a) => a.body);
export const put = (route, body, options) => call('PUT', route, { body, ...options }).then((a) => a.body);
export const remove = (route, options) => call('DELETE', route, options).then((a) => a.body);

// noteConnection tells those who follow the connection only what is new.
function noteConnection(online) {
  if (connected.get() !== online) connected.set(online);
}

let watching = false;

// watchConnection asks every two seconds until the server answers again.
function watchConnection() {
  if (watching) return;
  watching = true;
  const again = async () => {
    try {
      await fetch(`${base}/version`);
      watching = false;
      noteConnection(true);
    } catch {
      setTimeout(again, 2000);
    }
  };
  setTimeout(again, 1000);
}

// follow asks for a state, gives it to begin, and reads the server-sent events that begin names: {route, name, use}. If
// one of the two is refused, it starts again some seconds later, and when the connection returns. It returns a function
// that ends it. A signal belongs to each start, so that what an older one still gets is not used.
export function follow(ask, begin, failed = () => {}) {
  let stop = new AbortController();
  let close = () => {};
  let timer;
  const end = () => {
    stop.abort();
    close();
    close = () => {};
    clearTimeout(timer);
  };
  const start = async () => {
    end();
    stop = new AbortController();
    const { signal } = stop;
    const later = () => {
      if (signal.aborted) return;
      end();
      timer = setTimeout(start, 5000);
    };
    try {
      const state = await ask(signal);
      if (signal.aborted) return;
      close = events(begin(state), later);
    } catch (error) {
      if (!signal.aborted) failed(error);
      later();
    }
  };
  start();
  const forget = connected.subscribe((online) => (online ? start() : end()));
  return () => {
    forget();
    end();
  };
}

// events reads server-sent events of one name and returns a function that ends it. The browser connects again by itself,
// unless the server refuses. https://html.spec.whatwg.org/multipage/server-sent-events.html#fail-the-connection
function events({ route, name, use }, refused) {
  const source = new EventSource(base + route);
  source.addEventListener(name, (e) => use(JSON.parse(e.data)));
  source.addEventListener('error', () => { if (source.readyState === EventSource.CLOSED) refused(); });
  return () => source.close();
}

// useRequest returns {data, error, loading, reload} of a promise that ask(signal) makes. It asks again when one of the
// values in deps changes, and every `every` milliseconds if that is given, but not while an answer is awaited. Older data
// stays at reload and at every turn; with keep, also when other values than the first of deps change.
export function useRequest(ask, deps, { every, keep } = {}) {
  const [state, setState] = useState({ data: undefined, error: null, loading: true });
  const [turn, setTurn] = useState(0);
  const current = useRef(ask);
  current.current = ask;
  const previous = useRef(deps);
  const awaited = useRef(null);
  useEffect(() => {
    const stop = new AbortController();
    const changed = previous.current.some((value, i) => value !== deps[i] && (i === 0 || !keep));
    previous.current = deps;
    awaited.current = stop;
    const end = (next) => {
      if (awaited.current === stop) awaited.current = null;
      if (!stop.signal.aborted) setState(next);
    };
    setState((s) => ({ data: changed ? undefined : s.data, error: null, loading: true }));
    current.current(stop.signal).then(
      (data) => end({ data, error: null, loading: false }),
      (error) => end((s) => (error.name === 'AbortError' ? s : { data: s.data, error, loading: false })));
    return () => stop.abort();
  }, [...deps, turn]);
  useEffect(() => {
    if (!every) return undefined;
    const timer = setInterval(() => { if (!document.hidden && !awaited.current) setTurn((n) => n + 1); }, every);
    return () => clearInterval(timer);
  }, [every]);
  return { ...state, reload: useCallback(() => setTurn((n) => n + 1), []) };
}
