// The name of an item that was read, see items-names.js.
import { isMongo, isNumber, isObject, isRaw, lookUp, partitionSteps } from './items-names.js';
import { relaxed } from './items-types.js';

// partOf is a part of a partition key: {} stands for a value that is not there, or cannot be a key.
const partOf = (value) => (value === undefined || isObject(value) || Array.isArray(value) ? {} : value);

// nameOf is the name of an item: of a document the same in canonical and in relaxed form.
export function nameOf(container, item) {
  if (isMongo(container)) return { id: identityText(relaxed(item._id)) };
  return { id: item.id, key: partitionSteps(container).map((steps) => partOf(lookUp(item, steps))) };
}

// identityText stands for an _id. Numbers are in canonical form, since the string "5" comes before the number 5: a long
// and a double of the same value are one _id.
function identityText(id) {
  if (typeof id === 'string') return id;
  if (!isNumber(id)) return JSON.stringify(id);
  const text = JSON.stringify(id);
  return JSON.stringify(isRaw(id) || Number.isSafeInteger(id) ? { $numberLong: text } : { $numberDouble: text });
}
