// Pages of items. Going on takes the continuation of the page that is shown. Going back takes the one that led there: a
// container of the API for NoSQL has tokens that can be used again, a cursor of MongoDB only goes forward, so that its
// pages are found again by skipping.
import { useCallback, useEffect, useRef, useState } from '../../vendor/preact.js';
import { containerPath, get, post } from '../api.js';
import { noteAnswer } from '../time.js';
import { nameOf } from './items-identity.js';
import { isMongo, put, partitionSteps } from './items-names.js';

const rounds = 20; // requests for one page: a page of a query with a filter may be empty, and others follow

// usePages returns {rows, page, error, loading, more, …} and what changes them. question is {sql} or {find}, or
// {span: {from, until}} for items that end in an interval.
export function usePages(db, container, question, size) {
  const [state, setState] = useState({ rows: null, page: 0, error: null, loading: true });
  const stack = useRef([undefined]); // stack.current[i] continues to page i
  const stop = useRef(null);
  const load = useCallback(async (page, fresh) => {
    stop.current?.abort();
    const aborting = stop.current = new AbortController();
    if (fresh) stack.current = [undefined];
    setState((s) => ({ ...s, loading: true, error: null }));
    const started = performance.now();
    try {
      const token = fresh || page !== stack.current.length - 1 && isMongo(container) && !question.span ? undefined : stack.current[page];
      const got = await ask(db, container, question, { page, size, token, signal: aborting.signal });
      stack.current = [...stack.current.slice(0, page + 1), ...(got.continuation ? [got.continuation] : [])];
      setState({ ...got, page, error: null, loading: false, more: !!got.continuation, took: performance.now() - started });
    } catch (error) {
      if (!aborting.signal.aborted) setState((s) => ({ ...s, error, loading: false }));
    }
  }, [db, container.id, JSON.stringify(question), size]);
  useEffect(() => {
    load(0, true);
    return () => stop.current?.abort();
  }, [load]);
  const change = useCallback((edit) => setState((s) => ({ ...s, rows: s.rows && edit(s.rows) })), []);
  return { ...state, load, change, reload: () => load(state.page) };
}

async function ask(db, container, question, options) {
  if (question.span) return askSpan(db, container, question.span, options);
  const { page, size, signal } = options;
  let { token } = options;
  const rows = [];
  let charge = 0;
  for (let round = 0; round < rounds; round++) {
    const body = { ...question, max: size - rows.length, continuation: token, lifetimes: !container.view };
    if (question.find && token === undefined) body.find = { ...question.find, skip: page * size };
    let answer;
    try {
      answer = await post(`${containerPath(db, container.id)}/query`, body, { signal });
    } catch (error) {
      if (!question.find || token === undefined || error.status !== 404) throw error;
      token = undefined; // the cursor has gone after ten minutes
      continue;
    }
    noteAnswer(answer.now);
    charge += answer.requestCharge ?? 0;
    rows.push(...answer.items.map((item, i) => rowOf(container, item, answer.lifetimes?.[i] ?? null)));
    token = answer.continuation;
    if (token === undefined || rows.length >= size || question.find) break;
  }
  return { rows, continuation: token, charge: question.sql ? charge : undefined };
}

async function askSpan(db, container, span, { size, token, signal }) {
  const answer = await get(`${containerPath(db, container.id)}/expiring`,
    { query: { ...span, max: size, continuation: token }, signal });
  return { rows: answer.items.map((one) => rowOf(container, named(container, one), one.deadline)),
    continuation: answer.continuation, exact: answer.exact };
}

// named is what the names alone tell of an item: its id and its partition key.
function named(container, one) {
  if (isMongo(container)) return { _id: one._id };
  const item = { id: one.id };
  partitionSteps(container).forEach((steps, i) => {
    const part = one.partitionKey?.[i];
    if (part !== undefined && JSON.stringify(part) !== '{}' && steps.join() !== 'id') put(item, steps, part);
  });
  return item;
}

// rowOf is a row of the grid: the item, its name, and its deadline: null if it does not end, false if it is no item.
export function rowOf(container, item, deadline) {
  const name = nameOf(container, item);
  return { item, name, key: item._rid ?? JSON.stringify(name), deadline };
}
