// What has been run, and queries saved by name: in this browser only.
import { html, useState } from '../../../vendor/preact.js';
import { instant, utc } from '../../format.js';
import { t } from '../../messages.js';
import { remembered, useStore } from '../../store.js';
import { Dialog, Empty } from '../../ui/parts.js';
import { newStage } from './pipeline.js';
import { summary } from './request.js';

const most = 100;
const longest = 64 << 10; // longer queries are not kept: browsers give a page some 5 MB

const history = remembered('query.history', []);
const saved = remembered('query.saved', []);

// kept is what of a query is stored: its language's part.
function kept({ language, sql, parameters, partitionKey, find, stages, asText, text, max }) {
  const of = { sql: { sql, parameters, partitionKey }, find: { find }, aggregate: { stages, asText, text } };
  return { language, max, ...of[language] };
}

// restored is a stored query on top of a fresh one.
export const restored = (base, query) => ({
  ...base, ...query, stages: (query.stages ?? base.stages).map((s) => newStage(s.op, s.text, s.enabled)),
});

const here = (db, container) => (entry) => entry.db === db && entry.container === container.id;

// note adds a run to the history; the same query again takes the place of the older entry.
export function note(db, container, query) {
  const entry = { db, container: container.id, at: Math.floor(Date.now() / 1000), query: kept(query) };
  const text = JSON.stringify({ ...entry.query, stages: undefined, of: summary(query) });
  if (text.length > longest) return;
  const same = (old) => here(db, container)(old) && summary(old.query) === summary(query) && old.query.language === query.language;
  history.set((all) => [entry, ...all.filter((old) => !same(old))].slice(0, most));
}

export function save(db, container, name, query) {
  const entry = { db, container: container.id, name, query: kept(query) };
  saved.set((all) => [...all.filter((one) => !(here(db, container)(one) && one.name === name)), entry]
    .sort((a, b) => a.name.localeCompare(b.name)));
}

// History lists both for one container; a click takes an entry into the editor.
export function History({ db, container, onChoose, onClose }) {
  const mine = here(db, container);
  const named = useStore(saved).filter(mine);
  const past = useStore(history).filter(mine);
  const choose = (entry) => { onChoose(entry.query); onClose(); };
  return html`<${Dialog} title=${t('query.history')} wide onClose=${onClose}>
    <section class="query-entries" aria-label=${t('query.saved')}><h3>${t('query.saved')}</h3>
      ${named.length === 0 && html`<p class="hint">${t('query.saved.none')}</p>`}
      <ul>${named.map((entry) => html`<li key=${entry.name}>
        <button class="entry" onClick=${() => choose(entry)}><strong class="ellipsis">${entry.name}</strong>
          <code class="ellipsis">${summary(entry.query)}</code></button>
        <button class="quiet" aria-label=${t('query.saved.delete', { name: entry.name })} title=${t('delete')}
          onClick=${() => saved.set((all) => all.filter((one) => one !== entry))}>✕</button></li>`)}</ul></section>
    <section class="query-entries" aria-label=${t('query.past')}>
      <h3 class="row"><span class="grow">${t('query.past')}</span>
        ${past.length > 0 && html`<button class="quiet" onClick=${() => history.set((all) => all.filter((one) => !mine(one)))}>
          ${t('query.past.clear')}</button>`}</h3>
      ${past.length === 0 && html`<${Empty} title=${t('query.past.none')} />`}
      <ul>${past.map((entry) => html`<li key=${`${entry.at} ${summary(entry.query)}`}>
        <button class="entry" onClick=${() => choose(entry)}><span class="detail">
            <span class="badge">${t(`query.language.${entry.query.language}`)}</span>
            <time datetime=${utc(entry.at)} title=${utc(entry.at)}>${instant(entry.at)}</time></span>
          <code class="ellipsis">${summary(entry.query)}</code></button></li>`)}</ul></section><//>`;
}

// SaveAs asks for the name of a query.
export function SaveAs({ onSave, onClose }) {
  const [name, setName] = useState('');
  const ready = name.trim() !== '';
  const done = (e) => {
    e.preventDefault();
    if (!ready) return;
    onSave(name.trim());
    onClose();
  };
  return html`<${Dialog} title=${t('query.save')} onClose=${onClose} footer=${html`<button onClick=${onClose}>${t('cancel')}</button>
      <button class="primary" disabled=${!ready} onClick=${done}>${t('save')}</button>`}>
    <form onSubmit=${done}><label class="field">${t('name')}
      <input value=${name} maxlength="100" onInput=${(e) => setName(e.target.value)} autofocus autocomplete="off" /></label></form><//>`;
}
