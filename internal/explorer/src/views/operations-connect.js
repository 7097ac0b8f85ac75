// How programs connect: strings to copy, and programs for each language, with the addresses of this mayfly.
import { html, useState } from '../../vendor/preact.js';
import { get, useRequest } from '../api.js';
import { t } from '../messages.js';
import { link, useRoute } from '../router.js';
import { Failure, Skeleton } from '../ui/parts.js';
import { Copyable } from './operations-parts.js';
import { accountString, isLocal, labels, languages, mongoURI, placeholder, snippet } from './operations-snippets.js';

export function Connect() {
  const { data, error, reload } = useRequest((signal) => get('/endpoints', { signal }), []);
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Skeleton} lines=${8} />`;
  return html`<${Strings} endpoints=${data} /><${Programs} endpoints=${data} />`;
}

function Strings({ endpoints }) {
  const { nosql, mongo, ca, key, memory } = endpoints;
  return html`<section class="panel" aria-labelledby="strings"><h2 id="strings">${t('operations.connect.strings')}</h2>
    <div class="copyables">
      ${nosql ? html`<${Copyable} label=${t('operations.connect.nosql')} text=${nosql} /><${Copyable} label=${t('operations.connect.account')} text=${accountString(endpoints)} />`
    : html`<p class="hint">${t('operations.connect.off', { name: 'NoSQL' })}</p>`}
      ${mongo ? html`<${Copyable} label="MongoDB" text=${mongoURI(endpoints)} />` : html`<p class="hint">${t('operations.connect.off', { name: 'MongoDB' })}</p>`}
      ${key && html`<${Copyable} label=${t('operations.connect.key')} text=${key} note=${t('operations.connect.key.known')} />`}
      ${ca && html`<${Copyable} label=${t('operations.connect.ca')} text=${`curl -o mayfly-ca.pem ${ca}`}
        note=${t(memory ? 'operations.connect.ca.memory' : 'operations.connect.ca.what')} />`}</div>
    ${!key && html`<${WhereKey} />`}</section>`;
}

// WhereKey says where the key is that the page does not know.
function WhereKey() {
  const { data } = useRequest((signal) => get('/keys', { signal }), []);
  const origin = data?.keys.find((k) => k.name === 'primary')?.origin;
  return html`<p class="hint">${t('operations.connect.key.where', { key: placeholder })} <code>mayfly key show primary</code>
    ${origin && html` (${t('operations.connect.key.origin', { origin })})`}</p>`;
}

// apisOf are the APIs that are on, for a language that has a client of them.
const apisOf = (language, endpoints) => ['nosql', 'mongodb'].filter((api) =>
  (api === 'nosql' ? endpoints.nosql && language !== 'mongosh' : endpoints.mongo));

function Programs({ endpoints }) {
  const { query } = useRoute();
  const language = languages.includes(query.get('language')) ? query.get('language') : 'javascript';
  const apis = apisOf(language, endpoints);
  const api = apis.includes(query.get('api')) ? query.get('api') : apis[0];
  // Off this machine a password and documents travel: TLS is the better start there.
  const [tls, setTls] = useState(!!endpoints.ca && !isLocal(endpoints.mongo));
  const to = (more) => link('operations', 'connect', { language, ...(api ? { api } : {}), ...more });
  const shown = api ? snippet(language, api, endpoints, { tls }) : null;
  return html`<section class="panel programs" aria-labelledby="programs"><h2 id="programs">${t('operations.connect.programs')}</h2>
    <nav class="tabs" aria-label=${t('operations.connect.language')}>${languages.map((name) => html`<a href=${to({ language: name })}
      aria-current=${name === language ? 'true' : undefined}>${labels[name]}</a>`)}</nav>
    <div class="row choices">${apis.map((name) => html`<a class="button" href=${to({ api: name })} aria-current=${name === api ? 'true' : undefined}>
        ${name === 'nosql' ? 'NoSQL' : 'MongoDB'}</a>`)}
      ${api === 'mongodb' && endpoints.ca && html`<label class="choice"><input type="checkbox" checked=${tls} onChange=${(e) => setTls(e.target.checked)} />
        ${t('operations.connect.tls')}</label>`}</div>
    ${!shown && html`<p class="hint">${t('operations.connect.off', { name: language === 'mongosh' ? 'MongoDB' : 'NoSQL' })}</p>`}
    ${shown && html`<${Steps} key=${`${language}/${api}`} shown=${shown} language=${language} api=${api} endpoints=${endpoints} />`}</section>`;
}

function Steps({ shown, language, api, endpoints }) {
  const untested = language === 'csharp';
  const https = language === 'java' && api === 'nosql' && !endpoints.nosql.startsWith('https:');
  return html`<div class="steps">
    ${untested && html`<p class="hint">${t('operations.connect.untested')}</p>`}
    ${https && html`<p class="hint">${t('operations.connect.https')}</p>`}
    <${Copyable} label=${t('operations.connect.install')} text=${shown.install} />
    ${shown.trust && html`<${Copyable} label=${t('operations.connect.trust')} text=${shown.trust} note=${trustNote(language, api)} />`}
    <${Copyable} label=${shown.file} text=${shown.program} />
    <${Copyable} label=${t('operations.connect.run')} text=${shown.run} /></div>`;
}

// trustNote says what the line for the certificate does besides: docs/clients.md.
function trustNote(language, api) {
  if (language === 'java') return t('operations.connect.trust.java');
  if (api === 'mongodb') return language === 'csharp' ? undefined : t('operations.connect.trust.mongodb');
  return { go: t('operations.connect.trust.replaces'), rust: t('operations.connect.trust.replaces.rust'), python: t('operations.connect.trust.replaces'),
    javascript: t('operations.connect.trust.adds') }[language];
}
