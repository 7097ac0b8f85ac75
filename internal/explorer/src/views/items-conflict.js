// Somebody else has written the item since it was read: both versions side by side.
import { html, useRef, useState } from '../../vendor/preact.js';
import { t } from '../messages.js';
import { Compare } from '../ui/editor.js';
import { Dialog, Failure } from '../ui/parts.js';

export function ConflictDialog({ theirs, mine, busy, error, problemOf, onMine, onTheirs, onClose }) {
  const text = useRef(null);
  const [problem, setProblem] = useState(null);
  const keep = () => {
    const wanted = text.current();
    const wrong = problemOf(wanted);
    setProblem(wrong);
    if (!wrong) onMine(wanted);
  };
  return html`<${Dialog} title=${t('items.conflict')} wide onClose=${onClose} footer=${html`<button
      onClick=${onClose}>${t('cancel')}</button>
      <button disabled=${busy} onClick=${onTheirs}>${t('items.conflict.theirs')}</button>
      <button class="primary" disabled=${busy} onClick=${keep}>${t('items.conflict.mine')}</button>`}>
    <p>${t('items.conflict.what')}</p>
    <${Compare} theirs=${theirs} mine=${mine} labels=${[t('items.conflict.stored'), t('items.conflict.yours')]} handle=${text}
      readOnly=${busy} />
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <${Failure} error=${error} /><//>`;
}
