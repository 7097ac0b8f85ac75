// The filter of the grid: a condition of SQL, or a filter of MongoDB in extended JSON.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { t } from '../messages.js';
import { Failure } from '../ui/parts.js';
import { isMongo, isObject, parseText } from './items-names.js';

const start = 'SELECT * FROM c WHERE ';

// questionOf is the query of a filter and a sort. It throws an error for a filter that is no JSON object.
export function questionOf(container, filter, sort, span) {
  if (span) return { span };
  const text = filter.trim();
  if (isMongo(container)) {
    const find = { filter: text ? filterOf(text) : {} };
    if (sort) find.sort = { [sort.steps.join('.')]: sort.direction === 'ascending' ? 1 : -1 };
    return { find };
  }
  return { sql: (text ? start + text.replace(/^where\s+/i, '') : 'SELECT * FROM c') + (sort ? orderBy(sort) : '') };
}

const orderBy = ({ steps, direction }) =>
  ` ORDER BY c${steps.map((s) => `[${JSON.stringify(s)}]`).join('')} ${direction === 'ascending' ? 'ASC' : 'DESC'}`;

export function filterOf(text) {
  let value;
  try {
    value = parseText(text);
  } catch (error) {
    throw new Error(t('items.filter.json', { message: error.message }));
  }
  if (!isObject(value)) throw new Error(t('items.filter.object'));
  return value;
}

// located is an error of a query whose positions count from the start of the filter.
function located(error, filter) {
  if (!filter || !error?.message) return error;
  const message = error.message.replace(/\(from character (\d+) to (\d+)\)/, (all, from, to) =>
    (from < start.length ? all : `(from character ${from - start.length} to ${to - start.length})`));
  return message === error.message ? error : Object.assign(Object.create(error), { message });
}

export function Filter({ container, value, onApply, error, onRetry, sorted, onUnsort }) {
  const [text, setText] = useState(value);
  const [wrong, setWrong] = useState(null);
  useEffect(() => setText(value), [value]);
  const mongo = isMongo(container);
  const apply = (e) => {
    e?.preventDefault();
    setWrong(null);
    try {
      if (mongo && text.trim()) filterOf(text);
      onApply(text.trim());
    } catch (problem) {
      setWrong(problem.message);
    }
  };
  const clear = () => {
    setText('');
    setWrong(null);
    onApply('');
  };
  const bad = wrong ?? (error?.status === 400 ? located(error, value && !mongo).message : null);
  return html`<form class="filter" role="search" onSubmit=${apply}>
      <label class="filter-field"><span class="filter-lead" aria-hidden="true">${mongo ? 'find' : 'WHERE'}</span>
        <input id="items-filter" class="mono" value=${text} onInput=${(e) => setText(e.target.value)} spellcheck="false" autocomplete="off"
          aria-label=${t(mongo ? 'items.filter.mongo' : 'items.filter.sql')} aria-invalid=${bad ? 'true' : undefined}
          aria-describedby=${bad ? 'items-filter-error' : undefined}
          placeholder=${mongo ? '{"total": {"$gt": 5}}' : 'c.total > 5'}
              onKeyDown=${(e) => { if (e.key === 'Escape') e.target.blur(); }} /></label>
      <button type="submit">${t('items.filter')}</button>
      ${(value || text) && html`<button type="button" class="quiet" onClick=${clear}>${t('items.filter.clear')}</button>`}
    </form>
    ${bad && html`<div class="failure" id="items-filter-error" role="alert">${bad}
      ${sorted && !wrong && html` <button onClick=${onUnsort}>${t('items.sort.remove')}</button>`}</div>`}
    ${error && error.status !== 400 && html`<${Failure} error=${error} retry=${onRetry} />`}`;
}
