// Extend life: write an item again, give it a ttl, or move the date that its life counts from.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { useRequest } from '../api.js';
import { datesOf, duration, instant, inWords, parseDuration, policy, utc } from '../format.js';
import { t } from '../messages.js';
import { link } from '../router.js';
import { lookAtClock, now, useNow } from '../time.js';
import { Countdown, Dialog, Failure, Skeleton, toast } from '../ui/parts.js';
import { isMongo, isObject, labelOf, lookUp, parseText, put, stepsOf, takesDate } from './items-names.js';
import { Conflict, readItem, replaceItem } from './items-store.js';
import { relaxed } from './items-types.js';

const on = (container) => container.defaultTtl !== undefined && container.defaultTtl !== null;

// lifeOf is the number of seconds that an item lives from its last write: its own ttl, or the container's default.
function lifeOf(container, item) {
  const own = isMongo(container) ? relaxed(item).ttl : item.ttl;
  if (Number.isInteger(own) && (own > 0 || own === -1)) return own;
  return container.defaultTtl;
}

// waysOf are the ways to extend a life that have an effect under the policy of the container.
function waysOf(container, item) {
  const ways = [];
  const life = lifeOf(container, item);
  if (on(container)) {
    const from = container.ttlPropertyPath && stepsOf(container.ttlPropertyPath);
    if (from && typeof lookUp(item, from) === 'number') {
      ways.push({ name: 'property', path: from.join('.'), life, edit: (copy, at) => put(copy, from, at) });
    } else if (life > 0) ways.push({ name: 'rewrite', life, edit: () => {} });
    ways.push({ name: 'ttl', asks: true, edit: (copy, at, seconds) => { copy.ttl = seconds; } });
    ways.push({ name: 'never', life: -1, edit: (copy) => { copy.ttl = -1; } });
  }
  for (const { field, expireAfterSeconds } of datesOf(container)) {
    const steps = field.split('.');
    if (!takesDate(item, steps)) continue;
    ways.push({ name: 'date', path: field, life: expireAfterSeconds,
      edit: (copy, at) => put(copy, steps, { $date: { $numberLong: String(at * 1000) } }) });
  }
  return ways;
}

export function ExtendDialog({ db, container, name, onSaved, onClose }) {
  const { data, error, reload } = useRequest((signal) => readItem(db, container, name, signal), [JSON.stringify(name)]);
  const ways = data && isObject(data.item) ? waysOf(container, data.item) : [];
  const [chosen, setChosen] = useState(0);
  const [life, setLife] = useState('1h');
  const form = useRef(null);
  useEffect(() => { lookAtClock(); }, []);
  useEffect(() => form.current?.querySelector('input')?.focus(), [!!data]);
  const [failed, setFailed] = useState(null);
  const [busy, setBusy] = useState(false);
  const at = useNow();
  const way = ways[chosen];
  const seconds = way?.asks ? parseDuration(life) : way?.life;
  const ready = !!way && !busy && (way.asks ? seconds > 0 && seconds <= 2147483647 : true);
  const extend = async (e) => {
    e.preventDefault();
    if (!ready) return;
    setBusy(true);
    setFailed(null);
    try {
      await lookAtClock();
      const copy = parseText(JSON.stringify(data.item));
      way.edit(copy, Math.floor(now()), seconds);
      const got = await replaceItem(db, container, data, copy);
      toast(got.deadline === null ? t('items.extended.never', { name: labelOf(name) })
        : t('items.extended', { name: labelOf(name), time: instant(got.deadline),
          left: duration(got.deadline - Math.floor(now())) }), 'good');
      onSaved(got);
      onClose();
    } catch (problem) {
      if (problem instanceof Conflict) reload();
      const changed = { status: 412, kind: 'conflict', message: t('items.extend.changed') };
      setFailed(problem instanceof Conflict ? Object.assign(problem, changed) : problem);
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${t('items.extend.title', { name: labelOf(name) })} onClose=${onClose} footer=${html`<button
      onClick=${onClose}>${t('cancel')}</button>
      <button class="primary" disabled=${!ready} onClick=${extend}>${t('items.extend')}</button>`}>
    ${error && html`<${Failure} error=${error} retry=${reload} />`}
    ${!data && !error && html`<${Skeleton} lines=${4} />`}
    ${data && html`<p>${t('items.extend.now')} <${Countdown} deadline=${data.deadline} />
      ${data.deadline !== null && html` <span class="hint">${instant(data.deadline)}</span>`}<br />
      <span class="hint">${policy(container)}</span></p>
      ${ways.length === 0 && html`<p>${t(datesOf(container).length ? 'items.extend.lists' : 'items.extend.off')} <a
          href=${link('c', db, container.id, 'settings')}>${t('tab.settings')}</a></p>`}
      <form ref=${form} onSubmit=${extend}><fieldset class="field"><legend class="visually-hidden">${t('items.extend')}</legend>
        ${ways.map((one, i) => html`<label class="choice"><input type="radio" name="way" checked=${i === chosen}
          onChange=${() => setChosen(i)} />${t(`items.extend.${one.name}`,
    { path: one.path, life: one.life > 0 ? inWords(one.life) : '' })}</label>`)}</fieldset>
        ${way?.asks && html`<label class="field">${t('ttl.life')}<input value=${life} onInput=${(e) => setLife(e.target.value)}
            spellcheck="false" />
          <small>${seconds > 0 ? inWords(seconds) : t('ttl.invalid')}</small></label>`}</form>
      ${way && html`<${NewEnd} at=${at} life=${seconds} />`}`}
    <${Failure} error=${failed} /><//>`;
}

// NewEnd says when the item would end if it were written at this second.
function NewEnd({ at, life }) {
  if (life === -1) return html`<p class="new-end">${t('items.extend.neverEnds')}</p>`;
  if (!(life >= 0)) return null;
  return html`<p class="new-end">${t('items.extend.ends')} <time title=${utc(at + life)}>${instant(at + life)}</time></p>`;
}
