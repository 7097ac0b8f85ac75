// Extended JSON of MongoDB: https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md
// Documents are read in canonical form, which keeps the types of numbers. The relaxed form is made of it here, and what a
// person did not touch in it goes back in canonical form, so that a long does not become an int by an edit elsewhere.
import { rawNumber } from '../api.js';
import { isNumber, isObject } from './items-names.js';

const only = (value, name) => isObject(value) && Object.keys(value).length === 1 && typeof value[name] === 'string';

const numberTypes = ['$numberInt', '$numberLong', '$numberDouble'];

const typeOfNumber = (value) => numberTypes.find((name) => only(value, name));

// lastShown is the last year that relaxed dates have.
const shownDate = (ms) => ms >= 0 && ms <= Date.parse('9999-12-31T23:59:59.999Z');

// relaxed is a canonical value in relaxed form. It also takes one that the server made relaxed, with dates like ".5Z", for
// which the specification wants three digits.
export function relaxed(value) {
  if (Array.isArray(value)) return value.map(relaxed);
  if (!isObject(value)) return value;
  const type = typeOfNumber(value);
  if (type === '$numberDouble' && !Number.isFinite(Number(value[type]))) return value;
  if (type) return type === '$numberLong' ? longOf(value[type]) : Number(value[type]);
  const ms = Object.keys(value).length === 1 && value.$date?.$numberLong;
  if (typeof ms === 'string' && shownDate(Number(ms))) {
    return dateOf(Number(ms));
  }
  if (only(value, '$date') && !Number.isNaN(Date.parse(value.$date))) return dateOf(Date.parse(value.$date));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, relaxed(member)]));
}

const dateOf = (ms) => ({ $date: new Date(ms).toISOString().replace('.000Z', 'Z') });

const longOf = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : rawNumber(text));

// retyped is what a person made of relaxed(canonical), with the types of canonical where they still fit.
export function retyped(edited, canonical) {
  if (canonical === undefined) return edited;
  if (JSON.stringify(edited) === JSON.stringify(relaxed(canonical))) return canonical;
  const type = typeOfNumber(canonical);
  if (type && isNumber(edited)) return typed(edited, type);
  if (Array.isArray(edited) && Array.isArray(canonical)) return edited.map((value, i) => retyped(value, canonical[i]));
  if (!isObject(edited) || !isObject(canonical)) return edited;
  return Object.fromEntries(Object.entries(edited).map(([name, value]) =>
    [name, retyped(value, Object.hasOwn(canonical, name) ? canonical[name] : undefined)]));
}

// typed is a number in the type that its member had. A fraction needs a double, and a large integer a long.
function typed(number, type) {
  const text = JSON.stringify(number);
  const whole = /^-?\d+$/.test(text);
  if (!whole) return { $numberDouble: text };
  if (type === '$numberInt' && Math.abs(Number(text)) > 2147483647) return { $numberLong: text };
  return { [type]: text };
}
