// Operations: what an operator does and looks at. Each tab is in a file of its own.
import { html, useEffect } from '../../vendor/preact.js';
import { t } from '../messages.js';
import { link } from '../router.js';
import { Empty, Tabs } from '../ui/parts.js';
import { Audit } from './operations-audit.js';
import { Connect } from './operations-connect.js';
import { Connections } from './operations-connections.js';
import { Slow } from './operations-slow.js';
import { Work } from './operations-work.js';

const views = { work: Work, slow: Slow, connections: Connections, audit: Audit, connect: Connect };

export function Operations({ tab = 'work' }) {
  const Shown = views[tab];
  useEffect(() => { // on a narrow page the tabs scroll
    document.querySelector('.container-head .tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  const tabs = Object.keys(views).map((name) => ({ name, label: t(`operations.${name}`), href: link('operations', name) }));
  return html`<div class="container-head"><h1>${t('nav.operations')}</h1>
      <${Tabs} label=${t('nav.operations')} current=${tab} tabs=${tabs} /></div>
    ${Shown ? html`<div class="operations"><${Shown} key=${tab} /></div>`
    : html`<${Empty} title=${t('nowhere')}><a href=${link('operations')}>${t('nav.operations')}</a><//>`}`;
}
