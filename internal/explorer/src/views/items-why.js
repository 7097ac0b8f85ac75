// Why an item ends, or does not: what the server says of it, rule by rule.
import { html } from '../../vendor/preact.js';
import { useRequest } from '../api.js';
import { instant, utc } from '../format.js';
import { t } from '../messages.js';
import { link } from '../router.js';
import { Countdown, Failure, Skeleton } from '../ui/parts.js';
import { explain } from './items-store.js';

export function Why({ db, container, name, version, onClose }) {
  const { data, error, reload } = useRequest(() => explain(db, container, name), [JSON.stringify(name), version]);
  return html`<section class="why" aria-label=${t('items.why')} aria-live="polite">
    <div class="why-head"><h3>${t('items.why')}</h3>
      <button class="quiet" aria-label=${t('items.why.close')} onClick=${onClose}>✕</button></div>
    ${error && html`<${Failure} error=${error} retry=${reload} />`}
    ${!data && !error && html`<${Skeleton} lines=${3} />`}
    ${data && html`<${Answer} db=${db} container=${container} data=${data} />`}</section>`;
}

function Answer({ db, container, data }) {
  // A rule that says what the sentence says is not said twice.
  const rules = data.rules.filter((rule) => data.rules.length > 1 || rule.sentence !== data.sentence);
  return html`<p class="sentence"><strong>${data.sentence}</strong>${' '}
      <${Countdown} deadline=${data.deadline?.unix ?? null} />
      ${data.deadline && html` <time class="hint" title=${data.deadline.time}>${instant(data.deadline.unix)}</time>`}</p>
    ${data.remedy && html`<p class="remedy"><span class="badge">${t('items.remedy')}</span> ${data.remedy}</p>`}
    ${rules.length > 0 && html`<ul class="rules">${rules.map((rule) => html`<li class=${rule.ends ? 'ends' : 'not'}>
      <span class="badge ${rule.ends ? 'warn' : ''}">${t(`items.rule.${rule.rule}`)}</span> ${rule.sentence}
      ${rule.deadline && html` <time class="hint" datetime=${rule.deadline.time}
          title=${rule.deadline.time}>${instant(rule.deadline.unix)}</time>`}</li>`)}</ul>`}
    ${(data.notes ?? []).map((note) => html`<p class="hint">${note}</p>`)}
    <p class="hint"><time title=${utc(data.written.unix)}>${t('items.written', { time: instant(data.written.unix) })}</time> ·${' '}
      ${data.policy} <a href=${link('c', db, container.id, 'settings')}>${t('tab.settings')}</a></p>`;
}
