// A query as the view holds it, and as the admin API takes it. What people write as JSON goes into the request as text, so
// that nothing of it is lost on the way through a double.
import { call, containerPath } from '../../api.js';
import { t } from '../../messages.js';
import { exact } from './exact.js';
import { newStage, pipelineOf, stageError, stagesOf, textOf, writes } from './pipeline.js';
import { jsonError } from './scan.js';

// pageSizes are the rows that a page may have; the server allows 1000.
export const pageSizes = [20, 100, 500, 1000];

// fresh is the query that a container starts with: in the language of its API.
export const fresh = (container) => ({
  language: container.dialect === 'mongodb' ? 'find' : 'sql',
  sql: 'SELECT * FROM c', parameters: {}, partitionKey: '',
  find: { filter: '{}', projection: '', sort: '', skip: '', limit: '' },
  stages: [newStage('$match')], asText: false, text: '',
  max: 100,
});

// An InputError is a mistake that needs no server: field says in which part of the form.
export class InputError extends Error {
  constructor(field, message, at) {
    super(message);
    Object.assign(this, { field, at });
  }
}

export function explainJSON(error) {
  if (!error) return '';
  return error.wrong ? t(`query.wrong.${error.wrong}`) : error.message;
}

// parameterNames are the names of a query's parameters, outside of its texts and comments.
export function parameterNames(sql) {
  const plain = sql.replace(/"(\\.|[^"\\])*"|'(\\.|[^'\\])*'|--.*$/gm, ' ');
  return [...new Set(plain.match(/@\w+/g) ?? [])];
}

function json(field, text, kind) {
  const error = jsonError(text, kind);
  if (error) throw new InputError(field, explainJSON(error), error.at);
  return text;
}

function sqlParts(query) {
  if (!query.sql.trim()) throw new InputError('sql', t('query.empty'), 0);
  const parts = [`"sql":${JSON.stringify(query.sql)}`];
  const list = parameterNames(query.sql).filter((name) => query.parameters[name]?.trim())
    .map((name) => `{"name":"${name}","value":${json(name, query.parameters[name])}}`);
  if (list.length) parts.push(`"parameters":[${list.join(',')}]`);
  const key = query.partitionKey.trim();
  if (key) parts.push(`"partitionKey":${key.startsWith('[') ? json('partitionKey', key) : `[${json('partitionKey', key)}]`}`);
  return parts;
}

function findParts({ find }) {
  const parts = [];
  for (const field of ['filter', 'projection', 'sort']) {
    if (find[field].trim()) parts.push(`"${field}":${json(field, find[field], 'object')}`);
  }
  for (const field of ['skip', 'limit']) {
    const text = String(find[field]).trim();
    if (!text) continue;
    if (!/^\d{1,15}$/.test(text)) throw new InputError(field, t('query.wrong.count'), 0);
    parts.push(`"${field}":${text}`);
  }
  return [`"find":{${parts.join(',')}}`];
}

// stagesIn are the stages of a query, from its text if it is edited as text.
export function stagesIn(query) {
  if (!query.asText) return query.stages;
  const { stages, error } = stagesOf(query.text);
  if (error) throw new InputError('pipeline', explainJSON(error), error.at);
  return stages;
}

function pipelineParts(query) {
  const stages = stagesIn(query);
  const bad = stages.findIndex((s) => s.enabled && stageError(s));
  if (bad >= 0) {
    throw new InputError(`stage ${stages[bad].id}`, t('query.stage.wrong', { n: bad + 1, why: explainJSON(stageError(stages[bad])) }));
  }
  return [`"pipeline":${pipelineOf(stages)}`];
}

const partsOf = { sql: sqlParts, find: findParts, aggregate: pipelineParts };

// requestOf is the body of a request for a query. more has max, continuation, explain.
export function requestOf(query, more) {
  const parts = partsOf[query.language](query);
  for (const [name, value] of Object.entries(more)) {
    if (value !== undefined) parts.push(`"${name}":${JSON.stringify(value)}`);
  }
  return `{${parts.join(',')}}`;
}

// writesIn is the stage of a query that writes, if it has one.
export const writesIn = (query) => (query.language === 'aggregate' ? writes(stagesIn(query)) : undefined);

// summary is a query in one line, for the history.
export function summary(query) {
  if (query.language === 'sql') return query.sql.trim();
  if (query.language === 'aggregate') return query.asText ? query.text : textOfAny(query.stages);
  const { find } = query;
  return ['filter', 'projection', 'sort', 'skip', 'limit'].filter((f) => String(find[f]).trim() && find[f] !== '{}')
    .map((f) => `${f}: ${find[f]}`).join(', ') || '{}';
}

const textOfAny = (stages) => (stages.some((s) => stageError(s)) ? pipelineOf(stages) : textOf(stages));

// ask sends the text of a request and returns the answer with its numbers as they came.
export async function ask(db, container, text, signal) {
  const { body } = await call('POST', `${containerPath(db, container.id)}/query`, {
    raw: text, headers: { 'Content-Type': 'application/json' }, signal, as: 'text',
  });
  return exact(body);
}

// askPage reads a page. A page may be empty although more follow, as the time of a request is limited: then it goes on.
export async function askPage(db, container, query, { max = query.max, continuation, signal, lifetimes = true }) {
  let milliseconds = 0;
  let charge;
  for (;;) {
    const answer = await ask(db, container, requestOf(query, { max, continuation, lifetimes }), signal);
    milliseconds += Number(answer.elapsedMs ?? 0);
    if (answer.requestCharge !== undefined) charge = (charge ?? 0) + Number(answer.requestCharge);
    if (answer.items.length || !answer.continuation) {
      return { items: answer.items, lifetimes: answer.lifetimes ?? [], continuation: answer.continuation, milliseconds, charge };
    }
    continuation = answer.continuation;
  }
}
