// Names of members, from a sample of a container's items: what the editor completes after "c.".
import { useEffect, useState } from '../../../vendor/preact.js';
import { ask } from './request.js';
import { isObject, kindOf } from './exact.js';

const sampled = 50;
const deepest = 8;
const mostNames = 2000;

// A tree of names is {types: Set, members: Map of name to tree, element: tree or null}.
const empty = () => ({ types: new Set(), members: new Map(), element: null });

function add(tree, value, depth, room) {
  tree.types.add(kindOf(value));
  if (depth >= deepest) return;
  if (Array.isArray(value)) {
    tree.element ??= empty();
    for (const one of value.slice(0, 20)) add(tree.element, one, depth + 1, room);
  } else if (isObject(value)) {
    for (const [name, of] of Object.entries(value)) {
      if (!tree.members.has(name)) {
        if (room.left-- <= 0) return;
        tree.members.set(name, empty());
      }
      add(tree.members.get(name), of, depth + 1, room);
    }
  }
}

// treeOf is the tree of the names in some items.
export function treeOf(items) {
  const tree = empty();
  const room = { left: mostNames };
  for (const item of items) add(tree, item, 0, room);
  return tree;
}

// useSample reads some items once, and is an empty tree until then. Without it the editor only lacks names.
export function useSample(db, container) {
  const [tree, setTree] = useState(empty);
  useEffect(() => {
    const stop = new AbortController();
    const text = container.dialect === 'mongodb'
      ? `{"find":{"limit":${sampled}},"max":${sampled}}` : `{"sql":"SELECT TOP ${sampled} * FROM c","max":${sampled}}`;
    ask(db, container, text, stop.signal).then((answer) => setTree(treeOf(answer.items)), () => {});
    return () => stop.abort();
  }, [db, container.id]);
  return tree;
}

// paths are all paths of a tree with dots, as MongoDB writes them; elements of arrays have the path of their array.
export function paths(tree, before = '', found = new Map()) {
  for (const [name, child] of tree.members) {
    if (/^\$|\./.test(name)) continue;
    const path = before ? `${before}.${name}` : name;
    found.set(path, [...child.types].join(', '));
    paths(child, path, found);
    if (child.element) paths(child.element, path, found);
  }
  return found;
}
