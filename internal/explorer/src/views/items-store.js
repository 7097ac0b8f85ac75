// Reading and writing one item, in both dialects. An item is {item, name, etag, deadline, hint}: of MongoDB in canonical
// extended JSON; deadline is null for one that does not end.
import { call, containerPath, get } from '../api.js';
import { nameOf } from './items-identity.js';
import { isMongo, itemPath, queryOf, withoutSystem } from './items-names.js';
import { retyped } from './items-types.js';

export const explain = (db, container, name) =>
  get(`${containerPath(db, container.id)}/lifetime/explain`, { query: { id: name.id, ...queryOf(name) } });

async function answerOf(db, container, { body, headers }) {
  const expires = headers.get('X-Mayfly-Expires-At');
  const got = { item: body, name: nameOf(container, body), etag: headers.get('ETag'), hint: headers.get('X-Mayfly-Hint'),
    deadline: expires ? Date.parse(expires) / 1000 : null };
  if (isMongo(container) && !container.view) got.deadline = await deadlineOf(db, container, got.name);
  return got;
}

async function deadlineOf(db, container, name) {
  try {
    return (await explain(db, container, name)).deadline?.unix ?? null;
  } catch (error) {
    if (error.status === 404) return null; // it has just ended
    throw error;
  }
}

const form = (container) => (isMongo(container) ? { format: 'canonical' } : {});

export async function readItem(db, container, name, signal) {
  const query = { ...queryOf(name), ...form(container) };
  return answerOf(db, container, await call('GET', itemPath(db, container, name), { query, signal }));
}

// createItem writes a new item. The numbers of a document get the types that they have in like, which may be undefined.
export async function createItem(db, container, edited, like) {
  const body = isMongo(container) ? retyped(edited, like) : withoutSystem(edited);
  return answerOf(db, container, await call('POST', `${containerPath(db, container.id)}/items`, { query: form(container), body }));
}

// A Conflict says that somebody else has written the item; theirs is what it is now.
export class Conflict extends Error {
  constructor(theirs) {
    super('conflict');
    this.theirs = theirs;
  }
}

// bodyOf is what is sent of an edited item. A document goes without its _id, since the path names it.
function bodyOf(container, old, edited) {
  if (!isMongo(container)) return withoutSystem(edited);
  const { _id, ...body } = retyped(edited, old.item);
  return body;
}

// replaceItem writes what became of an item that was read, unless it has changed since.
export async function replaceItem(db, container, old, edited) {
  try {
    return await answerOf(db, container, await call('PUT', itemPath(db, container, old.name), {
      query: { ...queryOf(old.name), ...form(container) }, body: bodyOf(container, old, edited), headers: { 'If-Match': old.etag } }));
  } catch (error) {
    if (error.status !== 412) throw error;
    throw new Conflict(await readItem(db, container, old.name));
  }
}

// keepsIdentity reports whether an edited document has the _id that it had.
export function keepsIdentity(old, edited) {
  return edited._id === undefined || JSON.stringify(retyped(edited._id, old.item._id)) === JSON.stringify(old.item._id);
}

export const deleteItem = (db, container, name) => call('DELETE', itemPath(db, container, name), { query: queryOf(name) });
