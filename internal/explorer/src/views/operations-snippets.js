// Programs to paste, for each language and API: what to install, how the program trusts mayfly's certificate, and the
// program itself. docs/clients.md has the facts; conformance/explorer/connect.test.js runs the JavaScript ones.
import { nosql } from './operations-snippets-nosql.js';
import { mongodb } from './operations-snippets-mongodb.js';

export const languages = ['go', 'javascript', 'python', 'java', 'csharp', 'rust', 'mongosh'];
export const labels = { go: 'Go', javascript: 'JavaScript', python: 'Python', java: 'Java', csharp: 'C#', rust: 'Rust', mongosh: 'mongosh' };

// placeholder stands where the account key goes if the page does not know it.
export const placeholder = 'KEY';

const caFile = 'mayfly-ca.pem';

export const isLocal = (url) => /^\w+:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])[:/]/.test(url);

// mongoURI is the connection string of the API for MongoDB, with the key as password where one is needed. The file of
// the authority is in it for those drivers that read it there.
export function mongoURI({ mongo, mongoAuth, key }, { tls = false, file = true } = {}) {
  const [start, search] = mongo.split('?');
  const account = mongoAuth ? `mayfly:${encodeURIComponent(key || placeholder)}@` : '';
  const added = tls ? [`tls=true${file ? `&tlsCAFile=${caFile}` : ''}`] : [];
  const options = [...(search ? [search] : []), ...added].join('&');
  return start.replace('://', `://${account}`) + (options ? `?${options}` : '');
}

export const accountString = ({ nosql, key }) => `AccountEndpoint=${nosql};AccountKey=${key || placeholder};`;

const variable = (name) => `export ${name}=$PWD/${caFile}`;
const keystore = `keytool -importcert -noprompt -alias mayfly -file ${caFile} \\
    -keystore mayfly.p12 -storetype PKCS12 -storepass changeit`;
const dotnet = `${variable('SSL_CERT_FILE')}                                       # Linux
certutil -user -addstore Root ${caFile}                                   # Windows, for the user
security add-trusted-cert -k ~/Library/Keychains/login.keychain ${caFile} # macOS`;

// trusting is what a shell runs so that a program in a language trusts the authority; '' where nothing is needed.
function trusting(language, api, { nosql, ca }, tls) {
  if (!ca || (api === 'mongodb' ? !tls : !nosql.startsWith('https:'))) return '';
  const local = isLocal(nosql);
  const how = {
    nosql: { go: variable('SSL_CERT_FILE'), javascript: variable('NODE_EXTRA_CA_CERTS'), java: keystore, csharp: dotnet,
      python: local ? '' : variable('REQUESTS_CA_BUNDLE'), rust: variable('SSL_CERT_FILE') },
    mongodb: { java: keystore, csharp: dotnet, go: '#', javascript: '#', python: '#', rust: '#', mongosh: '#' },
  }[api][language];
  if (!how) return '';
  return `curl -o ${caFile} ${ca}${how === '#' ? '' : `\n${how}`}`;
}

// snippet is {install, trust, file, program, run}, or null if the language has no client of the API.
export function snippet(language, api, endpoints, { tls = false } = {}) {
  const make = { nosql, mongodb }[api][language];
  if (!make) return null;
  const trust = trusting(language, api, endpoints, tls);
  // Java and .NET know no file in the connection string: they trust what the machine trusts.
  const uri = api === 'mongodb' ? mongoURI(endpoints, { tls, file: language !== 'java' && language !== 'csharp' }) : '';
  return { trust, ...make({ endpoint: endpoints.nosql, key: endpoints.key || placeholder, uri, trust }) };
}
