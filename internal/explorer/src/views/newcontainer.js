// The dialog that creates a container of either dialect.
import { html, useState } from '../../vendor/preact.js';
import { path, post } from '../api.js';
import { reloadCatalog } from '../catalog.js';
import { inWords, parseDuration } from '../format.js';
import { t } from '../messages.js';
import { go } from '../router.js';
import { Dialog, Failure, toast } from '../ui/parts.js';

export function NewContainer({ db, onClose }) {
  const [form, setForm] = useState({ id: '', dialect: 'nosql', key: '/id', ttl: 'off', life: '30d' });
  const [error, setError] = useState(null);
  const field = (name) => (e) => setForm((f) => ({ ...f, [name]: e.target.value }));
  const seconds = parseDuration(form.life);
  const mongo = form.dialect === 'mongodb';
  const ready = form.id && (mongo || form.key.startsWith('/')) && (form.ttl !== 'seconds' || seconds > 0);
  const create = async (e) => {
    e.preventDefault();
    if (!ready) return;
    const body = { id: form.id, dialect: form.dialect };
    if (!mongo) body.partitionKey = { paths: form.key.split(',').map((p) => p.trim()) };
    if (form.ttl === 'seconds') body.defaultTtl = seconds;
    if (form.ttl === 'on') body.defaultTtl = -1;
    try {
      await post(path('databases', db, 'containers'), body);
      await reloadCatalog();
      toast(t('container.created', { name: form.id }), 'good');
      onClose();
      go('c', db, form.id, 'items');
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Dialog} title=${t('container.new.in', { name: db })} onClose=${onClose} footer=${html`<button onClick=${onClose}>${t('cancel')}</button>
      <button class="primary" disabled=${!ready} onClick=${create}>${t('create')}</button>`}>
    <form onSubmit=${create}>
      <label class="field">${t('name')}<input value=${form.id} onInput=${field('id')} autofocus autocomplete="off" spellcheck="false" maxlength="255" /></label>
      <label class="field">${t('container.dialect')}<select value=${form.dialect} onChange=${field('dialect')}>
        <option value="nosql">Cosmos DB for NoSQL</option><option value="mongodb">MongoDB</option></select></label>
      ${!mongo && html`<label class="field">${t('container.partitionKey')}<input value=${form.key} onInput=${field('key')} spellcheck="false" /></label>`}
      <fieldset class="field"><legend>${t('ttl.title')}</legend>
        ${['off', 'on', 'seconds'].map((state) => html`<label class="choice"><input type="radio" name="ttl" value=${state}
          checked=${form.ttl === state} onChange=${field('ttl')} />${t(`ttl.${state}`)}</label>`)}
        ${form.ttl === 'seconds' && html`<label class="field">${t('ttl.life')}<input value=${form.life} onInput=${field('life')} />
          <small>${seconds > 0 ? inWords(seconds) : t('ttl.invalid')}</small></label>`}</fieldset>
    </form>
    <${Failure} error=${error} /><//>`;
}
