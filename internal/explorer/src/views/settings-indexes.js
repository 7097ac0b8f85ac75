// Indexes: the indexing policy of Cosmos DB, or the indexes of a MongoDB collection.
import { html, useState } from '../../vendor/preact.js';
import { post, put } from '../api.js';
import { inWords, parseDuration } from '../format.js';
import { t } from '../messages.js';
import { Editor } from '../ui/editor.js';
import { Confirm, Dialog, Failure, toast } from '../ui/parts.js';
import { AskLoss, losing, useForm } from './settings-lifetime.js';

const text = (value) => JSON.stringify(value, null, 2);

export function IndexingPolicy({ path, container, write, onSaved }) {
  const { before, etag, form: value, setForm: setValue, saved } = useForm(container, (c) => text(c.indexingPolicy));
  const [error, setError] = useState(null);
  const dirty = value !== before;
  const save = async () => {
    setError(null);
    try {
      const answer = await put(path, { ...container, indexingPolicy: JSON.parse(value) }, { headers: { 'If-Match': etag } });
      saved(answer._etag);
      toast(t('settings.saved'), 'good');
      await onSaved();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<section class="panel" aria-labelledby="indexing"><h2 id="indexing">${t('settings.indexing')}</h2>
    <${Editor} value=${value} language="json" label=${t('settings.indexing')} readOnly=${!write} onChange=${setValue} onSave=${save} />
    ${write && html`<div class="row buttons"><button class="primary" disabled=${!dirty} onClick=${save}>${t('save')}</button>
      <button disabled=${!dirty} onClick=${() => setValue(before)}>${t('settings.discard')}</button></div>`}
    <${Failure} error=${error} /></section>`;
}

// system are the indexes that are not dropped here: that of _id, and that of _ts, which Time to Live decides.
const system = (index) => index.name === '_id_' || '_ts' in index.key;

export function MongoIndexes({ path, container, write, onSaved }) {
  const [making, setMaking] = useState(false);
  const [dropping, setDropping] = useState(null);
  const indexes = container.indexes ?? [];
  const replace = async (next) => {
    await put(path, { id: container.id, defaultTtl: container.defaultTtl, indexes: next }, { headers: { 'If-Match': container._etag } });
    toast(t('settings.saved'), 'good');
    await onSaved();
  };
  return html`<section class="panel" aria-labelledby="indexes"><div class="row"><h2 id="indexes" class="grow">${t('settings.indexes')}</h2>
      ${write && html`<button onClick=${() => setMaking(true)}>${t('settings.index.new')}</button>`}</div>
    <div class="scroll" tabindex="0" role="region" aria-label=${t('settings.indexes')}><table>
      <thead><tr><th>${t('name')}</th><th>${t('settings.index.key')}</th><th>${t('settings.index.options')}</th><th></th></tr></thead>
      <tbody>${indexes.map((index) => html`<tr><th scope="row">${index.name}</th><td><code>${JSON.stringify(index.key)}</code></td>
        <td>${optionsOf(index)}</td><td class="number">${write && !system(index) && html`
          <button class="quiet" aria-label=${t('settings.index.drop', { name: index.name })} onClick=${() => setDropping(index)}>✕</button>`}</td></tr>`)}</tbody></table></div>
    ${making && html`<${NewIndex} path=${path} container=${container} onClose=${() => setMaking(false)} make=${(index) => replace([...indexes, index])} />`}
    ${dropping && html`<${Confirm} title=${t('settings.index.drop', { name: dropping.name })} action=${t('delete')} onClose=${() => setDropping(null)}
      onConfirm=${() => replace(indexes.filter((i) => i.name !== dropping.name))}><p>${t('settings.index.drop.ask')}</p><//>`}
  </section>`;
}

function optionsOf({ v, key, name, expireAfterSeconds, ...rest }) {
  const parts = expireAfterSeconds === undefined ? [] : [t('settings.index.ttl', { life: inWords(expireAfterSeconds) })];
  if (Object.keys(rest).length) parts.push(JSON.stringify(rest));
  return parts.join(' · ');
}

// NewIndex asks, as the form of the lifetime does, before an index ends items at once.
function NewIndex({ path, container, make, onClose }) {
  const [key, setKey] = useState('{ "field": 1 }');
  const [options, setOptions] = useState('{}');
  const [life, setLife] = useState('');
  const [error, setError] = useState(null);
  const [asking, setAsking] = useState(null);
  const create = async (e) => {
    e.preventDefault();
    setError(null);
    try {
      const keys = JSON.parse(key);
      const index = { key: keys, name: Object.entries(keys).flat().join('_'), ...JSON.parse(options || '{}') };
      if (life) {
        index.expireAfterSeconds = parseDuration(life);
        if (Number.isNaN(index.expireAfterSeconds)) throw new Error(t('ttl.invalid'));
      }
      const preview = await previewOf(path, index);
      if (preview && losing(preview).ask) {
        setAsking({ preview, index });
        return;
      }
      await make(index);
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Dialog} title=${t('settings.index.new')} onClose=${onClose} footer=${html`<button onClick=${onClose}>${t('cancel')}</button>
      <button class="primary" onClick=${create}>${t('create')}</button>`}>
    <form onSubmit=${create}><label class="field">${t('settings.index.key')}<input class="mono" value=${key} onInput=${(e) => setKey(e.target.value)} spellcheck="false" /></label>
      <label class="field">${t('settings.index.life')}<input value=${life} placeholder="30d" onInput=${(e) => setLife(e.target.value)} /></label>
      <label class="field">${t('settings.index.options')}<input class="mono" value=${options} onInput=${(e) => setOptions(e.target.value)} spellcheck="false" /></label>
      <button class="hidden"></button></form><${Failure} error=${error} />
    ${asking && html`<${AskLoss} preview=${asking.preview} container=${container} onClose=${() => setAsking(null)}
      onConfirm=${() => make(asking.index).then(onClose)} />`}<//>`;
}

// previewOf is what a new index would end; null for one that ends nothing.
async function previewOf(path, { key, expireAfterSeconds }) {
  if (expireAfterSeconds === undefined) return null;
  return post(`${path}/lifetime/preview`, { dates: [{ field: Object.keys(key)[0], expireAfterSeconds }] });
}
