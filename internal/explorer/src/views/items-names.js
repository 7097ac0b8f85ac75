// What names an item, in both dialects. A name is {id, key}: id as paths of the admin API have it, key the partition key
// as an array, undefined for MongoDB. docs/admin.md says how a text stands for an _id.
import { containerPath, rawNumber } from '../api.js';

export const systemMembers = ['_rid', '_self', '_etag', '_attachments', '_ts'];

export const isMongo = (container) => container.dialect === 'mongodb';

export const isRaw = (value) => JSON.isRawJSON?.(value) ?? false;

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value);

// isWrapped reports whether an object is a value of extended JSON, such as {"$oid": "…"}.
export const isWrapped = (value) => Object.keys(value)[0]?.startsWith('$') ?? false;

export const isNumber = (value) => typeof value === 'number' || isRaw(value);

// parseText reads JSON that a person wrote. Integers that a double cannot hold stay as they are.
export const parseText = (text) => JSON.parse(text, (name, value, context) =>
  (typeof value === 'number' && context && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source)
    ? rawNumber(context.source) : value));

export const show = (value) => JSON.stringify(value, null, 2);

// stepsOf are the names in a path such as /a/b or /"a b"/c.
export const stepsOf = (path) => [...path.matchAll(/\/(?:"((?:[^"\\]|\\.)*)"|([^/]*))/g)].map((m) => m[1] ?? m[2]);

// partitionSteps are the paths of a container's partition key, as arrays of names.
export const partitionSteps = (container) => (container.partitionKey?.paths ?? []).map(stepsOf);

// lookUp is the value under steps, undefined where there is none.
export function lookUp(value, steps) {
  for (const step of steps) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

// takesDate reports whether a date can be put under steps without harm to what is there: a list, what is in one, or a value
// on the way that is no object.
export function takesDate(item, steps) {
  let at = item;
  for (const step of steps.slice(0, -1)) {
    if (!Object.hasOwn(at, step)) return true;
    at = at[step];
    if (!isObject(at) || isWrapped(at)) return false;
  }
  return !Array.isArray(at[steps.at(-1)]);
}

// put sets the value under steps, and makes the objects on the way.
export function put(item, steps, value) {
  let at = item;
  for (const step of steps.slice(0, -1)) {
    if (!isObject(at[step])) at[step] = {};
    at = at[step];
  }
  at[steps.at(-1)] = value;
}

export const itemPath = (db, container, name) =>
  `${containerPath(db, container.id)}/items/${encodeURIComponent(name.id).replace(/^\.+$/, (dots) => dots.replaceAll('.', '%2E'))}`;

// queryOf is what a request for one item says besides its path.
export const queryOf = (name) => ({ partitionKey: name.key && JSON.stringify(name.key) });

// addressOf is the part of the page's address that opens an item.
export const addressOf = (name) => (name.key ? { id: name.id, pk: JSON.stringify(name.key) } : { id: name.id });

export function nameFrom(query) {
  const id = query.get('id');
  if (id === null) return null;
  let key;
  try {
    key = query.has('pk') ? parseText(query.get('pk')) : undefined;
  } catch { /* the server finds the only item with the id */ }
  return { id, key: Array.isArray(key) ? key : undefined };
}

// refersTo reports whether a name of the address, which may lack the partition key, is that of an item.
export const refersTo = (wanted, name) => !!wanted && wanted.id === name.id && (!wanted.key || sameName(wanted.key, name.key));

export const sameName = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// labelOf is a name as people read it: "cart-7 · ada", or an _id without the wrapping of extended JSON.
export function labelOf({ id, key }) {
  if (key) return key.length === 1 && key[0] === id ? id : `${id} · ${key.map(short).join(', ')}`;
  try {
    return id.startsWith('{') ? short(parseText(id)) : id;
  } catch {
    return id;
  }
}

// short is a value as one line for a cell: ids, dates and numbers of extended JSON without their wrapping.
export function short(value) {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (isObject(value)) {
    const names = Object.keys(value);
    const one = names.length === 1 ? value[names[0]] : undefined;
    if (typeof one === 'string' && /^\$(oid|date|numberDecimal|numberDouble|numberLong|numberInt|uuid|symbol)$/.test(names[0])) return one;
    if (one?.subType === '04' && names[0] === '$binary') return uuidOf(one.base64);
    if (names[0] === '$date' && typeof one?.$numberLong === 'string') return `${one.$numberLong} ms`;
  }
  return JSON.stringify(value);
}

// withoutSystem is an item without the members that the server sets.
export function withoutSystem(item) {
  if (!isObject(item)) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => !systemMembers.includes(name)));
}

// uuidOf is a UUID of 16 bytes as people write it.
function uuidOf(base64) {
  try {
    return uuidText([...atob(base64)].map((c) => c.charCodeAt(0)));
  } catch {
    return base64;
  }
}

const uuidText = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, '0')).join('')
  .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

// newId is a random UUID. Pages over http of another machine have no crypto.randomUUID.
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return uuidText(bytes);
}
