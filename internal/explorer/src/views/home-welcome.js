// The greeting of an empty server: one click makes a container of sessions with lives between seconds and days.
import { html, useState } from '../../vendor/preact.js';
import { path, post, session } from '../api.js';
import { reloadCatalog } from '../catalog.js';
import { t } from '../messages.js';
import { go } from '../router.js';
import { useStore } from '../store.js';
import { Failure } from '../ui/parts.js';

// lives are in seconds. Those of the first items end while one looks.
const lives = [10, 15, 20, 25, 30, 40, 50, 60, 75, 90, 120, 180, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200,
  86400, 129600, 172800, 259200, 345600, 432000, 604800];

const people = ['ada', 'alan', 'barbara', 'dennis', 'edsger', 'frances', 'grace', 'john', 'karen', 'ken', 'leslie', 'margaret'];
const places = ['Lisboa', 'São Paulo', 'Madrid', 'Bogotá', 'Berlin', 'Nairobi', 'Kyoto'];
const devices = ['phone', 'tablet', 'laptop', 'desktop'];

// sessions are the same ones each time. Two have a life of their own that differs: one never ends, one follows the
// container.
export function sessions() {
  const items = lives.map((ttl, i) => ({
    id: `session-${String(i + 1).padStart(2, '0')}`, user: people[i % people.length], device: devices[i % devices.length],
    city: places[i % places.length], pages: (i * 7) % 23 + 1, cart: { items: i % 4, total: (i % 4) * 12.5 }, ttl,
  }));
  items.push({ id: 'session-api', user: 'robot', device: 'server', city: 'Lisboa', pages: 0, cart: { items: 0, total: 0 }, ttl: -1 });
  items.push({ id: 'session-new', user: 'grace', device: 'phone', city: 'Madrid', pages: 1, cart: { items: 0, total: 0 } });
  return items;
}

async function makeSample() {
  await post('/databases', { id: 'sample' });
  await post(path('databases', 'sample', 'containers'), { id: 'sessions', partitionKey: { paths: ['/user'] }, defaultTtl: 7776000 });
  for (const item of sessions()) await post(path('databases', 'sample', 'containers', 'sessions', 'items'), item);
}

export function Welcome() {
  const { write } = useStore(session);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const make = async () => {
    setBusy(true);
    setError(null);
    try {
      await makeSample();
      await reloadCatalog();
      go('c', 'sample', 'sessions', 'items');
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return html`<section class="welcome">
    <img src="/_explorer/src/icon.svg" alt="" width="72" height="72" />
    <h1>${t('welcome.title')}</h1><p>${t('welcome.text')}</p>
    ${write ? html`<button class="primary" disabled=${busy} onClick=${make}>${busy ? t('welcome.making') : t('welcome.make')}</button>
      <p class="hint">${t('welcome.what')}</p>` : html`<p class="hint">${t('welcome.readonly')}</p>`}
    <p><a href="#/operations/connect">${t('welcome.connect')}</a></p>
    <${Failure} error=${error} /></section>`;
}
