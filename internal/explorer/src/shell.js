// The frame around all views: the bar at the top, the tree at the left, the palette, the help, lost connections.
import { html, useEffect, useState } from '../vendor/preact.js';
import { connected, remove, session } from './api.js';
import { catalog, findContainer } from './catalog.js';
import { instant, utc } from './format.js';
import { bound, useKeys } from './keys.js';
import { chooseLanguage, language, languages, t } from './messages.js';
import { Palette } from './palette.js';
import { asked, discardFirst, go, link, unsaved, useRoute } from './router.js';
import { useStore } from './store.js';
import { theme } from './theme.js';
import { clock, useNow } from './time.js';
import { Tree } from './tree.js';
import { Confirm, Dialog, Empty, Skeleton, Tabs } from './ui/parts.js';
import { Home } from './views/home.js';
import { Items } from './views/items.js';
import { Query } from './views/query.js';
import { Settings } from './views/settings.js';
import { Lifetime } from './views/lifetime.js';
import { ClockView } from './views/clock.js';
import { Operations } from './views/operations.js';

const containerViews = { items: Items, query: Query, settings: Settings, lifetime: Lifetime };

// Shell is locked while a key is asked for.
export function Shell({ locked }) {
  const route = useRoute();
  const online = useStore(connected);
  const [drawer, setDrawer] = useState(false);
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  useEffect(() => setDrawer(false), [route]);
  useKeys([
    { key: 'mod+k', label: t('key.palette'), run: () => setPalette(true) },
    { key: '?', label: t('key.help'), run: () => setHelp(true) },
    { key: 'h', label: t('nav.home'), run: () => go() },
    { key: 'l', label: t('nav.lifetime'), run: () => go('lifetime') },
    { key: 'o', label: t('nav.operations'), run: () => go('operations') },
    { key: 't', label: t('key.tree'), run: () => {
      setDrawer(true);
      setTimeout(() => document.querySelector('.tree input')?.focus(), 0);
    } },
  ]);
  return html`
    <a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById('main').focus(); }}>${t('skip')}</a>
    <header class="bar">
      <button class="quiet drawer-button" aria-label=${t('nav.tree')} aria-expanded=${drawer} onClick=${() => setDrawer(!drawer)}>☰</button>
      <a class="logo" href=${link()}><img src="/_explorer/src/icon.svg" alt="" width="22" height="22" />mayfly</a>
      <${Places} at=${route.steps[0]} />
      <button class="palette-button" onClick=${() => setPalette(true)}>
        <span class="long">${t('palette.open')}</span><span class="short" aria-hidden="true">⌕</span> <kbd aria-hidden="true">Ctrl K</kbd></button>
      <${ClockBadge} />
      <${Preferences} onHelp=${() => setHelp(true)} />
    </header>
    ${!online && html`<div class="offline" role="alert">${t('error.unreachable')} ${t('reconnecting')}</div>`}
    <div class="body">
      <aside class=${drawer ? 'open' : ''} aria-label=${t('nav.tree')}><${Places} at=${route.steps[0]} /><${Tree} /></aside>
      ${drawer && html`<div class="shade" onClick=${() => setDrawer(false)}></div>`}
      <main id="main" tabindex="-1">${(!locked || unsaved()) && html`<${View} route=${route} />`}</main>
    </div>
    ${palette && html`<${Palette} onClose=${() => setPalette(false)} />`}
    ${help && html`<${KeysHelp} onClose=${() => setHelp(false)} />`}
    <${Leaving} />`;
}

// Leaving asks before changes are lost that a view has not saved.
function Leaving() {
  const question = useStore(asked);
  if (!question) return null;
  return html`<${Confirm} title=${t('items.unsaved')} action=${t('items.unsaved.discard')} onConfirm=${question.goOn}
    onClose=${() => asked.set(null)}><p>${t('leave.ask')}</p><//>`;
}

function View({ route }) {
  const all = useStore(catalog);
  const [place, db, id, name = 'items'] = route.steps;
  switch (place) {
    case undefined: return html`<${Home} />`;
    case 'lifetime': return html`<${Lifetime} />`;
    case 'clock': return html`<${ClockView} />`;
    case 'operations': return html`<${Operations} tab=${db} />`;
    case 'c': break;
    default: return html`<${Empty} title=${t('nowhere')}><a href=${link()}>${t('nav.home')}</a><//>`;
  }
  const found = findContainer(all, db, id);
  const Shown = containerViews[name];
  if (!all.databases && !all.error) return html`<${Skeleton} lines=${6} />`;
  if (!found || !Shown) {
    return html`<${Empty} title=${t('container.missing', { name: `${db}/${id}` })}><a href=${link()}>${t('nav.home')}</a><//>`;
  }
  const tab = (view) => ({ name: view, label: t(`tab.${view}`), href: link('c', db, id, view) });
  return html`<div class="container-head">
      <h1><span class="of">${db} /</span> <span class="name">${id}</span>
        <span class="badge">${found.dialect === 'mongodb' ? 'MongoDB' : 'NoSQL'}</span></h1>
      <${Tabs} label=${t('tab.label', { name: id })} current=${name} tabs=${Object.keys(containerViews).map(tab)} /></div>
    <${Shown} key=${`${db}/${id}/${name}`} db=${db} container=${found} query=${route.query} />`;
}

// Places are in the bar, or in the drawer of a narrow page.
function Places({ at }) {
  const place = (name, ...steps) => html`<a href=${link(...steps)} aria-current=${at === steps[0] ? 'page' : undefined}>${t(name)}</a>`;
  return html`<nav class="places" aria-label=${t('nav.places')}>
    ${place('nav.home')}${place('nav.lifetime', 'lifetime')}${place('nav.operations', 'operations')}</nav>`;
}

// ClockBadge shows mayfly's time, and leads to the clock if it is virtual.
function ClockBadge() {
  const { virtual } = useStore(clock);
  const at = useNow();
  const time = instant(at, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  if (!virtual) return html`<time class="clock-badge" title=${utc(at)}>${time}</time>`;
  return html`<a class="clock-badge virtual" href=${link('clock')} title=${utc(at)}>◷ ${instant(at)}</a>`;
}

function Preferences({ onHelp }) {
  const chosen = useStore(theme);
  const { needsKey, signedIn } = useStore(session);
  const next = { system: 'light', light: 'dark', dark: 'system' };
  const signOut = async () => {
    await remove('/session');
    session.set((s) => ({ ...s, signedIn: false, signedOut: true }));
  };
  return html`<div class="preferences">
    <button class="quiet" onClick=${() => theme.set(next[chosen])} title=${t(`theme.${chosen}`)}
      aria-label=${t('theme.label', { name: t(`theme.${chosen}`) })}>${{ system: '◐', light: '☀', dark: '☾' }[chosen]}</button>
    <select aria-label=${t('language')} value=${language()} onChange=${(e) => chooseLanguage(e.target.value)}>
      ${Object.entries(languages).map(([name, label]) => html`<option value=${name} selected=${name === language()} lang=${name}>${label}</option>`)}</select>
    <button class="quiet" aria-label=${t('key.help')} title=${t('key.help')} onClick=${onHelp}>?</button>
    ${needsKey && signedIn && html`<button class="quiet" onClick=${() => discardFirst(signOut)}>${t('session.out')}</button>`}
  </div>`;
}

const keyNames = { mod: /Mac/.test(navigator.platform) ? '⌘' : 'Ctrl', enter: 'Enter', delete: 'Del' };
const shown = (key) => key.split('+').map((k) => keyNames[k] ?? (k.length === 1 ? k.toUpperCase() : k));

function KeysHelp({ onClose }) {
  const lists = useStore(bound);
  return html`<${Dialog} title=${t('key.help')} onClose=${onClose}>
    <table class="keys"><tbody>${lists.flat().filter((one) => one.label).map((one) => html`<tr><th scope="row">${shown(one.key).map((k) => html`<kbd>${k}</kbd>`)}</th>
      <td>${one.label}</td></tr>`)}
      <tr><th scope="row"><kbd>Ctrl</kbd><kbd>Enter</kbd></th><td>${t('key.run')}</td></tr>
      <tr><th scope="row"><kbd>Esc</kbd></th><td>${t('key.escape')}</td></tr></tbody></table><//>`;
}
