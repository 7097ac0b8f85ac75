// An editor for extended JSON that marks where a text stops being JSON, and says why below it. An empty text is no mistake.
import { html, useMemo } from '../../../vendor/preact.js';
import { t } from '../../messages.js';
import { Editor } from '../../ui/editor.js';
import { explainJSON } from './request.js';
import { jsonError } from './scan.js';

export function JsonEditor({ label, value, kind, set, run, complete, placeholder, errors, autofocus, required }) {
  const error = useMemo(() => (value.trim() || required ? jsonError(value, kind) : null), [value, kind, required]);
  const marks = useMemo(() => {
    if (!error) return errors ?? [];
    const from = Math.max(0, Math.min(error.at, value.length - 1));
    return [{ from, to: from + 1, message: explainJSON(error) }];
  }, [error, errors]);
  return html`<div class="query-editor"><${Editor} language="pipeline" label=${label} value=${value} onChange=${set} onRun=${run}
      complete=${complete} placeholder=${placeholder} errors=${marks} autofocus=${autofocus} /></div>
    ${error && html`<small class="wrong">${t('query.notJSON', { why: explainJSON(error) })}</small>`}`;
}
