// Completions of the editors: CodeMirror asks with the text before the cursor.
// https://codemirror.net/docs/ref/#autocomplete.CompletionSource
import { names } from './names.js';
import { paths } from './sample.js';

const plainName = /^[A-Za-z_]\w*$/;

const keywords = names.keywords.map((label) => ({ label, type: 'keyword' }));

const functions = Object.entries(names.functions).flatMap(([family, list]) => list.map((label) => ({
  label, type: 'function', detail: family, apply: (view, completion, from, to) => {
    view.dispatch({ changes: { from, to, insert: `${label}()` }, selection: { anchor: from + label.length + 1 } });
  },
})));

// sources reads the names after FROM and JOIN: {alias: path}, a path being names from the item, '[]' for elements.
function sources(text) {
  const plain = text.replace(/"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/g, '""');
  const found = new Map();
  let first = true;
  for (const [, alias, path, whole, as] of plain.matchAll(/\b(?:FROM|JOIN)\s+(?:(\w+)\s+IN\s+([\w.]+)|([\w.]+)(?:\s+(?:AS\s+)?(\w+))?)/gi)) {
    const steps = (path ?? whole).split('.');
    const base = first ? [] : found.get(steps[0].toLowerCase()) ?? [];
    const of = [...base, ...steps.slice(1), ...(alias ? ['[]'] : [])];
    const reserved = as && names.keywords.includes(as.toUpperCase());
    found.set((alias ?? (reserved ? undefined : as) ?? steps.at(-1)).toLowerCase(), of);
    if (first && !alias && as && !reserved) found.set(steps[0].toLowerCase(), of);
    first = false;
  }
  if (found.size === 0) found.set('c', []);
  return found;
}

function treeAt(tree, steps) {
  for (const step of steps) {
    tree = step === '[]' ? tree?.element : tree?.members.get(step);
    if (!tree) return null;
  }
  return tree;
}

// memberOptions are the members of what stands before the last dot. Names that are no identifiers get brackets.
function memberOptions(tree) {
  return [...tree.members].map(([label, child]) => ({
    label, type: 'property', detail: [...child.types].join(', '),
    apply: plainName.test(label) ? label : (view, completion, from, to) => {
      const insert = `[${JSON.stringify(label)}]`;
      view.dispatch({ changes: { from: from - 1, to, insert }, selection: { anchor: from - 1 + insert.length } });
    },
  }));
}

// sqlCompletions is the source for SQL. containers and parameters are names.
export const sqlCompletions = ({ tree, containers, parameters }) => (context) => {
  const path = context.matchBefore(/[A-Za-z_]\w*(\[\d*\]|\.\w+)*\.\w*$/);
  const text = context.state.doc.toString();
  if (path) {
    const [root, ...steps] = path.text.replace(/\[\d*\]/g, '.[]').split('.');
    const partial = steps.pop();
    const base = sources(text).get(root.toLowerCase());
    const found = base && treeAt(tree, [...base, ...steps]);
    return found ? { from: context.pos - partial.length, options: memberOptions(found), validFor: /^\w*$/ } : null;
  }
  const word = context.matchBefore(/@?\w+$/);
  if (!word && !context.explicit) return null;
  const from = word ? word.from : context.pos;
  const before = text.slice(0, from);
  if (/\b(FROM|JOIN)\s+$/i.test(before)) {
    return { from, options: containers.filter((c) => plainName.test(c)).map((label) => ({ label, type: 'class', boost: 1 })) };
  }
  const options = [...keywords, ...functions,
    ...[...sources(text).keys()].map((label) => ({ label, type: 'variable', boost: 2 })),
    ...parameters.filter((name) => name !== word?.text).map((label) => ({ label, type: 'variable', boost: 2 }))];
  return { from, options, validFor: /^@?\w*$/ };
};

const operators = {
  filter: names.filter, stage: [...new Set([...names.filter, ...names.expressions, ...names.accumulators])],
  pipeline: [...new Set([...names.stages, ...names.filter, ...names.expressions, ...names.accumulators])], none: [],
};

// quoted writes a name into a JSON text, with the quotes that it lacks.
const quoted = (label) => (view, completion, from, to) => {
  const text = view.state.doc;
  const open = from > 0 && text.sliceString(from - 1, from) === '"';
  const closed = text.sliceString(to, to + 1) === '"';
  const insert = `${open ? '' : '"'}${label}${closed ? '' : '"'}`;
  view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length + (closed ? 1 : 0) } });
};

// mongoCompletions is the source for extended JSON. kind says which operators belong there: filter, stage, pipeline or none.
export const mongoCompletions = ({ tree, containers, kind }) => (context) => {
  const word = context.matchBefore(/[$\w.]+$/);
  const inText = context.matchBefore(/"$/);
  if (!word && !inText && !context.explicit) return null;
  const from = word ? word.from : context.pos;
  const fields = [...paths(tree)];
  const before = context.state.doc.sliceString(Math.max(0, from - 40), from);
  const option = (label, type, detail) => ({ label, type, detail, apply: quoted(label) });
  const options = /"(from|coll|into|\$out|\$unionWith)"\s*:\s*"?$/.test(before)
    ? containers.map((name) => option(name, 'class'))
    : [...operators[kind].map((name) => option(name, 'function')), ...fields.map(([path, type]) => option(path, 'property', type)),
      ...(kind === 'filter' || kind === 'none' ? [] : fields.map(([path, type]) => option(`$${path}`, 'variable', type)))];
  return { from, options, validFor: /^[$\w.]*$/ };
};
