// The page off this machine asks for the account key once, and gets a session for it.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { call, session } from '../api.js';
import { t } from '../messages.js';
import { Failure } from '../ui/parts.js';

// Login is a page, or over the page a dialog that only a key closes.
export function Login({ over }) {
  const dialog = useRef(null);
  useEffect(() => { dialog.current?.showModal(); }, []);
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const open = async (e) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const { body } = await call('POST', '/session', { body: { key: key.trim() } });
      session.set(body);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const form = html`<form onSubmit=${open}>
    <h1><img src="/_explorer/src/icon.svg" alt="" width="28" height="28" />mayfly</h1>
    <p>${t('login.why')}</p>
    <label class="field">${t('login.key')}
      <input type="password" value=${key} onInput=${(e) => setKey(e.target.value)} autocomplete="current-password" autofocus /></label>
    <button class="primary" disabled=${!key.trim() || busy}>${t('login.open')}</button>
    <${Failure} error=${error} /></form>`;
  if (!over) return html`<main class="login">${form}</main>`;
  // Browsers close a dialog at a second Escape, whatever the page says to the first.
  return html`<dialog class="login" ref=${dialog} aria-label="mayfly" onCancel=${(e) => e.preventDefault()}
    onKeyDown=${(e) => { if (e.key === 'Escape') e.preventDefault(); }} onClose=${() => dialog.current?.showModal()}>${form}</dialog>`;
}
