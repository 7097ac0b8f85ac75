// The page starts here: texts, session, then the shell with the view of the address.
import { html, render, useEffect, useState } from '../vendor/preact.js';
import { connected, get, session } from './api.js';
import { followCatalog, reloadCatalog } from './catalog.js';
import { followClock } from './time.js';
import { loadLanguage, useTexts } from './messages.js';
import { applyTheme } from './theme.js';
import { useStore } from './store.js';
import { Shell } from './shell.js';
import { Login } from './views/login.js';
import { Toasts } from './ui/parts.js';

function App() {
  useTexts();
  const { needsKey, signedIn, signedOut } = useStore(session);
  const locked = needsKey && !signedIn;
  const [started, setStarted] = useState(false);
  useEffect(() => {
    if (locked) return;
    if (started) {
      reloadCatalog();
      return;
    }
    followCatalog();
    followClock();
    setStarted(true);
  }, [locked]);
  // A session that ends by itself leaves the shell below the question for the key, for what is not saved there.
  const shell = !locked || (started && !signedOut);
  return html`${shell && html`<${Shell} locked=${locked} />`}${locked && html`<${Login} over=${shell} />`}<${Toasts} />`;
}

// askSession asks again later if there is no answer; the shell shows that the server cannot be reached.
async function askSession() {
  try {
    session.set(await get('/session'));
  } catch {
    if (connected.get()) {
      setTimeout(askSession, 3000);
      return;
    }
    const stop = connected.subscribe(() => {
      stop();
      askSession();
    });
  }
}

applyTheme();
await loadLanguage();
await askSession();
render(html`<${App} />`, document.getElementById('app'));
