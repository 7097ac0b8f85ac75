// CSV as RFC 4180 has it, with cells that a spreadsheet would take for a formula made text.
import { isObject, show } from './exact.js';

// mostColumns bounds the head of a file.
export const mostColumns = 2000;

// risky are the first characters after which spreadsheets compute: https://owasp.org/www-community/attacks/CSV_Injection
const risky = /^[=+\-@\t\r\n＝＋－＠]/;

// cell is a value as a field. Numbers stay numbers, even negative ones: only texts can be formulas.
export function cell(value) {
  let text = value === null ? '' : show(value);
  if (typeof value === 'string' && risky.test(text)) text = `'${text}`;
  return /[",\r\n]|^\s|\s$|^'/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Columns collects the names of members in the order in which they come. A row that is no object is in the column value.
export class Columns {
  names = new Set();

  add(row) {
    if (isObject(row)) for (const name of Object.keys(row)) this.names.add(name);
    else this.names.add('value');
    if (this.names.size > mostColumns) throw new RangeError('columns');
  }
}

export const head = (columns) => `${[...columns].map(cell).join(',')}\r\n`;

export const line = (row, columns) =>
  `${[...columns].map((name) => cell(isObject(row) ? row[name] : name === 'value' ? row : undefined)).join(',')}\r\n`;
