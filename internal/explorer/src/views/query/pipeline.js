// A pipeline as a list of stages {id, op, text, enabled} and as one text, both ways. In the text a stage that is disabled is
// a comment on a line of its own.
import { exact } from './exact.js';
import { elements, jsonError, members } from './scan.js';

let lastId = 0;

// starts are arguments to begin with, for the stages whose argument is not an object.
const starts = {
  $match: '{}', $group: '{ "_id": null, "n": { "$sum": 1 } }', $sort: '{ "_id": 1 }', $limit: '10', $skip: '10',
  $count: '"n"', $unwind: '"$field"', $unset: '"field"', $sortByCount: '"$field"', $sample: '{ "size": 10 }',
  $project: '{ "_id": 1 }', $replaceWith: '"$field"', $replaceRoot: '{ "newRoot": "$field" }', $out: '"copy"',
  $merge: '{ "into": "copy" }', $redact: '"$$KEEP"', $lookup:
    '{ "from": "other", "localField": "field", "foreignField": "_id", "as": "found" }',
  $unionWith: '"other"', $bucketAuto: '{ "groupBy": "$field", "buckets": 5 }', $facet: '{ "all": [{ "$count": "n" }] }',
};

export const startOf = (op) => starts[op] ?? '{}';

export const newStage = (op = '$match', text = startOf(op), enabled = true) => ({ id: ++lastId, op, text, enabled });

export const writes = (stages) => stages.find((s) => s.enabled && (s.op === '$out' || s.op === '$merge'));

// targetOf names what a stage that writes would write to.
export function targetOf(stage) {
  try {
    const value = JSON.parse(stage.text);
    const into = stage.op === '$merge' && typeof value === 'object' ? value.into : value;
    return typeof into === 'string' ? into : `${into.db ? `${into.db}.` : ''}${into.coll}`;
  } catch {
    return '?';
  }
}

// stageError is null if the argument of a stage is JSON.
export const stageError = (stage) => jsonError(stage.text);

export const stageText = (stage) => `{ ${JSON.stringify(stage.op)}: ${stage.text.trim()} }`;

// pipelineOf is the pipeline that runs: the stages that are enabled, up to and with the one at `last`.
export const pipelineOf = (stages, last = stages.length - 1) =>
  `[${stages.slice(0, last + 1).filter((s) => s.enabled).map(stageText).join(', ')}]`;

// textOf is the whole pipeline as text. Every stage has an argument that is JSON.
export function textOf(stages) {
  const enabled = stages.filter((s) => s.enabled);
  const lines = stages.map((stage) => {
    if (!stage.enabled) return `  // {${JSON.stringify(stage.op)}:${JSON.stringify(exact(stage.text))}}`;
    const comma = stage === enabled.at(-1) ? '' : ',';
    return `  ${stageText(stage).replaceAll('\n', '\n  ')}${comma}`;
  });
  return lines.length ? `[\n${lines.join('\n')}\n]` : '[]';
}

// withoutComments replaces the lines that are comments by spaces, so that positions stay.
const withoutComments = (text) => text.replace(/^[ \t]*\/\/.*$/gm, (line) => ' '.repeat(line.length));

// stageOf reads {"$name": argument}; it is null if the text is anything else.
function stageOf(text, enabled) {
  if (jsonError(text, 'object')) return null;
  const found = members(text);
  if (found.length !== 1) return null;
  const argument = found[0].text.replace(/\n {2}/g, '\n');
  return newStage(found[0].name, argument, enabled);
}

// stagesOf reads a pipeline's text: {stages} or {error: {message or wrong, at}}.
export function stagesOf(text) {
  const plain = withoutComments(text);
  const error = jsonError(plain, 'array');
  if (error) return { error };
  const placed = [];
  for (const element of elements(plain)) {
    const stage = stageOf(element.text, true);
    if (!stage) return { error: { wrong: 'stage', at: element.at } };
    placed.push({ at: element.at, stage });
  }
  for (const line of text.matchAll(/^[ \t]*\/\/(.*)$/gm)) {
    const stage = stageOf(line[1].trim().replace(/,$/, ''), false);
    if (stage) placed.push({ at: line.index, stage });
  }
  return { stages: placed.sort((a, b) => a.at - b.at).map((p) => p.stage) };
}
