// JSON as it came: a number whose text a double does not give back stays as its text, so that 9007199254740993 and 1.0 are
// shown and saved as the server wrote them.

export function exact(text) {
  return JSON.parse(text, (name, value, context) =>
    typeof value === 'number' && context && JSON.rawJSON && String(value) !== context.source
      ? JSON.rawJSON(context.source) : value);
}

export const isRaw = (value) => typeof value === 'object' && value !== null && !!JSON.isRawJSON?.(value);

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value);

// kindOf is the type of a value as JSON has it.
export function kindOf(value) {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  if (isRaw(value)) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

// show is a value as one line of text: a text as it is, anything else as JSON.
export function show(value) {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// wrapped are the forms in which extended JSON writes numbers that JSON has no place for.
const wrapped = ['$numberLong', '$numberInt', '$numberDouble', '$numberDecimal'];

// numberOf is a value as a double, NaN if it is no number.
export function numberOf(value) {
  if (typeof value === 'number') return value;
  if (isRaw(value)) return Number(value.rawJSON);
  if (isObject(value)) {
    for (const name of wrapped) if (typeof value[name] === 'string') return Number(value[name]);
  }
  return NaN;
}

const instants = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

// timeOf is a date, as ISO text or as extended JSON has it, in Unix seconds; NaN if it is none.
export function timeOf(value) {
  if (isObject(value) && '$date' in value) {
    const date = value.$date;
    return isObject(date) ? numberOf(date) / 1000 : Date.parse(date) / 1000;
  }
  return typeof value === 'string' && instants.test(value) ? Date.parse(value) / 1000 : NaN;
}
