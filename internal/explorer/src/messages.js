// Texts in the languages of the page. A text has {names} in braces; a text that depends on a number is an object with
// the plural forms of its language: https://unicode.org/reports/tr35/tr35-numbers.html#Language_Plural_Rules
import { createStore, remembered, useStore } from './store.js';

export const languages = { en: 'English', pt: 'Português', es: 'Español' };

const chosen = remembered('language', null);
const texts = createStore({});
let plural = new Intl.PluralRules('en');

const preferred = () => (navigator.languages ?? ['en']).map((l) => l.slice(0, 2)).find((l) => languages[l]) ?? 'en';

export const language = () => chosen.get() ?? preferred();

export async function loadLanguage(name = language()) {
  const answer = await fetch(`/_explorer/src/messages/${name}.json`);
  plural = new Intl.PluralRules(name);
  document.documentElement.lang = name;
  texts.set(await answer.json());
}

export async function chooseLanguage(name) {
  chosen.set(name);
  await loadLanguage(name);
}

// t is a text. values.n chooses the plural form.
export function t(key, values = {}) {
  let text = texts.get()[key];
  if (text === undefined) return key;
  if (typeof text === 'object') text = text[plural.select(Number(values.n))] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (all, name) => {
    const value = values[name];
    if (value === undefined) return all;
    return typeof value === 'number' ? number(value) : String(value);
  });
}

// useTexts draws a part again when the language changes.
export const useTexts = () => useStore(texts);

const formats = new Map();

// formatOf is a format of the language. Making one takes long, and a table needs thousands.
export function formatOf(kind, options) {
  const key = `${kind.name} ${language()} ${options ? JSON.stringify(options) : ''}`;
  if (!formats.has(key)) formats.set(key, new kind(language(), options));
  return formats.get(key);
}

export const number = (n, options) => formatOf(Intl.NumberFormat, options).format(n);
