// Parts of a JSON text, as text: what a person wrote stays as it was written, with its layout and its large integers.

const space = /[\s]/;

function skipSpace(text, at) {
  while (at < text.length && space.test(text[at])) at++;
  return at;
}

function stringEnd(text, at) {
  for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++;
  return at + 1;
}

// valueEnd is where the value ends that starts at `at`. The text is valid JSON.
function valueEnd(text, at) {
  if (text[at] === '"') return stringEnd(text, at);
  if (text[at] !== '{' && text[at] !== '[') {
    while (at < text.length && !/[\s,\]}]/.test(text[at])) at++;
    return at;
  }
  let depth = 0;
  do {
    if (text[at] === '"') {
      at = stringEnd(text, at);
      continue;
    }
    if (text[at] === '{' || text[at] === '[') depth++;
    if (text[at] === '}' || text[at] === ']') depth--;
    at++;
  } while (depth > 0);
  return at;
}

// elements are {text, at} of the elements of an array. The text is valid JSON.
export function elements(text) {
  const found = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== ']') {
    const end = valueEnd(text, at);
    found.push({ text: text.slice(at, end), at });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
}

// members are {name, text, at} of the members of an object. The text is valid JSON.
export function members(text) {
  const found = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== '}') {
    const colon = stringEnd(text, at);
    const name = JSON.parse(text.slice(at, colon));
    const start = skipSpace(text, skipSpace(text, colon) + 1);
    const end = valueEnd(text, start);
    found.push({ name, text: text.slice(start, end), at: start });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
}

// jsonError is null for a text that is JSON of the wanted kind ('object', 'array' or any), else {message, at}.
export function jsonError(text, kind) {
  try {
    const value = JSON.parse(text);
    const got = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    return kind && got !== kind ? { wrong: kind, at: 0 } : null;
  } catch (error) {
    return { message: error.message.replace(/ in JSON at position.*$/, ''), at: positionOf(error.message, text) };
  }
}

// positionOf reads the position in the message of JSON.parse, which browsers write in two ways.
function positionOf(message, text) {
  const position = /at position (\d+)/.exec(message);
  if (position) return Number(position[1]);
  const place = /line (\d+) column (\d+)/.exec(message);
  if (!place) return text.length;
  const lines = text.split('\n').slice(0, place[1] - 1);
  return lines.reduce((sum, line) => sum + line.length + 1, 0) + Number(place[2]) - 1;
}
