// Time to Live as the cloud's portal has it, in three states, and what a change would end before it is saved.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { post, put } from '../api.js';
import { bytes, datesOf, instant, inWords, parseDuration, policy } from '../format.js';
import { number, t } from '../messages.js';
import { Confirm, Failure, Spinner, toast } from '../ui/parts.js';

const maxTTL = 2147483647; // seconds, as the cloud has it: T-05 of the rules, docs/ttl.md

const stateOf = (ttl) => (ttl > 0 ? 'seconds' : ttl === -1 ? 'on' : 'off');

// formOf is the form for a container as it is.
const formOf = (container) => ({
  state: stateOf(container.defaultTtl),
  life: container.defaultTtl > 0 ? String(container.defaultTtl) : '7776000',
  property: container.ttlPropertyPath ?? '',
  dates: datesOf(container).map((rule) => ({ ...rule, life: String(rule.expireAfterSeconds), on: true })),
});

// changeOf is the policy that a form asks for, as the preview takes it; null if something in it is no duration.
function changeOf(form, before, mongo) {
  const seconds = parseDuration(form.life);
  if (form.state === 'seconds' && !(seconds > 0 && seconds <= maxTTL)) return null;
  const change = { defaultTtl: form.state === 'off' ? null : form.state === 'on' ? -1 : seconds };
  if (!mongo) change.ttlPropertyPath = form.state === 'seconds' && form.property ? form.property : null;
  const dates = [];
  for (const [i, rule] of form.dates.entries()) {
    const life = parseDuration(rule.life);
    if (rule.on && !(life >= 0 && life <= maxTTL)) return null;
    const next = rule.on ? life : null;
    if (next !== before.dates[i].expireAfterSeconds) dates.push({ index: rule.index, expireAfterSeconds: next });
  }
  if (dates.length) change.dates = dates;
  return change;
}

// losing says what a preview means for a save: whether to ask first, and whether for the name. What would be gone at once
// is lost; an estimate of none may be wrong.
export function losing({ windows, living }) {
  const [now] = windows;
  return { ask: now.documents > 0 || (!now.exact && living.documents > 0), half: now.documents * 2 > living.documents };
}

// AskLoss asks before a change that ends items at once.
export const AskLoss = ({ preview, container, onConfirm, onClose }) => html`<${Confirm} title=${t('settings.ask')}
  action=${t('settings.ask.action')} typed=${losing(preview).half ? container.id : undefined} onConfirm=${onConfirm} onClose=${onClose}>
  <p>${t('settings.ask.text', { n: preview.windows[0].documents, all: preview.living.documents })}</p><//>`;

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// useForm holds what a form began with, and the ETag of that. A definition that changes elsewhere replaces a form that
// nobody has touched; otherwise saving fails, because its ETag is another one.
export function useForm(container, read) {
  const [base, setBase] = useState(() => ({ form: read(container), etag: container._etag }));
  const [form, setForm] = useState(base.form);
  useEffect(() => {
    const next = read(container);
    const untouched = same(form, base.form);
    if (container._etag !== base.etag && !same(next, base.form) && !untouched) return;
    if (untouched) setForm(next);
    setBase({ form: next, etag: container._etag });
  }, [container._etag]);
  // saved notes what the form has just saved, before the definition is read again: one may go on typing at once.
  const saved = (etag) => setBase({ form, etag });
  return { before: base.form, etag: base.etag, form, setForm, saved };
}

export function LifetimeForm({ path, container, write, onSaved }) {
  const mongo = container.dialect === 'mongodb';
  const { before, etag, form, setForm, saved } = useForm(container, formOf);
  const [preview, setPreview] = useState({ text: '', data: null, error: null });
  const [asking, setAsking] = useState(null);
  const [error, setError] = useState(null);
  const change = changeOf(form, before, mongo);
  const text = change ? JSON.stringify(change) : '';
  const dirty = text !== JSON.stringify(changeOf(before, before, mongo));
  useEffect(() => {
    if (!text || !dirty) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => post(`${path}/lifetime/preview`, JSON.parse(text), { signal: stop.signal }).then(
      (data) => setPreview({ text, data, error: null }),
      (problem) => { if (problem.name !== 'AbortError') setPreview({ text, data: null, error: problem }); }), 250);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, dirty]);
  const fresh = preview.text === text;
  const save = async () => {
    setError(null);
    const answer = await saveLifetime(path, container, change, mongo, etag);
    saved(answer._etag);
    toast(answer.effect || t('settings.saved'), 'good');
    await onSaved();
  };
  // The preview that shows may be old: time has passed, or items have come.
  const submit = async (e) => {
    e.preventDefault();
    setError(null);
    try {
      const latest = await post(`${path}/lifetime/preview`, change);
      setPreview({ text, data: latest, error: null });
      if (losing(latest).ask) setAsking(latest);
      else await save();
    } catch (problem) {
      setError(problem);
    }
  };
  const set = (more) => setForm((f) => ({ ...f, ...more }));
  return html`<section class="panel" aria-labelledby="ttl"><h2 id="ttl">${t('ttl.title')}</h2>
    <form onSubmit=${submit}><fieldset class="ttl" disabled=${!write}><legend class="visually-hidden">${t('ttl.title')}</legend>
      ${['off', 'on', 'seconds'].map((state) => html`<label class="choice"><input type="radio" name="ttl-state" value=${state}
        checked=${form.state === state} onChange=${() => set({ state })} />${t(`ttl.${state}`)}</label>`)}
      ${form.state === 'seconds' && html`<${Life} label=${t('settings.life')} value=${form.life} onInput=${(life) => set({ life })} />`}
      ${form.state === 'seconds' && !mongo && html`<details open=${!!form.property}><summary>${t('settings.property')}</summary>
        <label class="field">${t('settings.property.path')}<input value=${form.property} placeholder="/startsAt" spellcheck="false"
          onInput=${(e) => set({ property: e.target.value })} /></label></details>`}
      ${form.dates.length > 0 && html`<h3>${t('settings.dates')}</h3>${form.dates.map((rule, i) => html`
        <${DateRule} rule=${rule} onChange=${(next) => set({ dates: form.dates.map((r, j) => (i === j ? next : r)) })} />`)}`}
    </fieldset>
    ${!dirty && html`<p class="hint">${policy(container)}</p>`}
    ${dirty && change && html`<${Preview} fresh=${fresh} data=${preview.data} error=${fresh ? preview.error : null} />`}
    ${write && html`<div class="row buttons"><button class="primary" disabled=${!dirty || !change || !fresh || !preview.data}>${t('save')}</button>
      <button type="button" disabled=${!dirty} onClick=${() => setForm(before)}>${t('settings.discard')}</button></div>`}
    <${Failure} error=${error} /></form>
    ${asking && html`<${AskLoss} preview=${asking} container=${container} onConfirm=${save} onClose=${() => setAsking(null)} />`}
  </section>`;
}

// saveLifetime changes the lifetime alone, or the indexes that hold rules of dates with it.
async function saveLifetime(path, container, change, mongo, etag) {
  const options = { headers: { 'If-Match': etag } };
  if (!mongo || !change.dates) return put(`${path}/lifetime`, { ...change, dates: undefined }, options);
  const indexes = container.indexes.map((index) => {
    const rule = change.dates.find((d) => d.index === index.name);
    if (!rule) return index;
    const { expireAfterSeconds, ...rest } = index;
    return rule.expireAfterSeconds === null ? rest : { ...rest, expireAfterSeconds: rule.expireAfterSeconds };
  });
  return put(path, { id: container.id, defaultTtl: change.defaultTtl ?? undefined, indexes }, options);
}

// Life is a duration: seconds, or with units, shown in words.
function Life({ label, value, onInput }) {
  const seconds = parseDuration(value);
  const valid = seconds >= 0 && seconds <= maxTTL;
  return html`<label class="field life">${label}
    <input value=${value} inputmode="text" spellcheck="false" aria-invalid=${!valid} onInput=${(e) => onInput(e.target.value)} />
    <small class=${valid ? '' : 'bad'}>${valid ? `${t('settings.seconds', { n: seconds })} = ${inWords(seconds)}` : t('ttl.invalid')}</small></label>`;
}

function DateRule({ rule, onChange }) {
  return html`<div class="date-rule"><label class="choice"><input type="checkbox" checked=${rule.on}
      onChange=${(e) => onChange({ ...rule, on: e.target.checked })} /><span>${t('settings.date', { field: rule.field })} <code>${rule.index}</code></span></label>
    ${rule.on && html`<${Life} label=${t('settings.after', { field: rule.field })} value=${rule.life} onInput=${(life) => onChange({ ...rule, life })} />`}</div>`;
}

// Preview is what a change would end: at once, and within an hour, a day, a week and a month.
function Preview({ fresh, data, error }) {
  if (error) return html`<${Failure} error=${error} />`;
  if (!data) return html`<p><${Spinner} /></p>`;
  const { windows, living } = data;
  return html`<div class=${fresh ? 'preview' : 'preview stale'} aria-live="polite">
    <h3>${t('settings.preview')} ${!data.exact && html`<span class="badge warn">${t('clock.estimate')}</span>`}</h3>
    <div class="scroll" tabindex="0" role="region" aria-label=${t('settings.preview')}><table>
      <thead><tr><th>${t('settings.when')}</th><th class="number">${t('home.items')}</th><th class="number">${t('home.column.bytes')}</th>
        <th>${t('settings.share')}</th><th>${t('settings.samples')}</th></tr></thead>
      <tbody>${windows.map((w) => html`<tr class=${w.name === 'now' && w.documents > 0 ? 'danger' : ''}>
        <th scope="row">${t(`settings.window.${w.name}`)}</th>
        <td class="number">${w.exact ? '' : '≈ '}${number(w.documents)}</td><td class="number">${bytes(w.bytes)}</td>
        <td><meter min="0" max=${Math.max(1, living.documents)} value=${w.documents} aria-label=${t('settings.share')}></meter></td>
        <td class="samples">${w.samples.map((s) => html`<code title=${instant(s.deadline.unix)}>${s.id ?? JSON.stringify(s._id)}</code> `)}</td></tr>`)}</tbody>
    </table></div></div>`;
}
