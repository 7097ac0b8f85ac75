// How programs connect: strings to copy, and programs that run as they are shown.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { everyLook, startBrowser, startMayfly } from './harness.js';

const run = promisify(execFile);
let mayfly;
let chrome;
before(async () => {
  [mayfly, chrome] = await Promise.all([startMayfly(), startBrowser()]);
});
after(async () => {
  await chrome?.stop();
  await mayfly?.stop();
});

const languages = ['Go', 'JavaScript', 'Python', 'Java', 'C#', 'Rust', 'mongosh'];
const wellKnown = 'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';

test('strings and programs to connect', async (t) => {
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: '/#/operations/connect' });
    const { nosql, mongo } = await mayfly.api('GET', '/endpoints');
    await page.getByText(`AccountEndpoint=${nosql};AccountKey=${wellKnown};`).waitFor();
    await page.getByText(mongo, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy: MongoDB' }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), mongo);
    await page.fits();
    await page.accessible();
    await page.shot(`operations-connect-${look.name}`, { fullPage: true });
    for (const language of languages) {
      await page.getByRole('link', { name: language, exact: true }).click();
      await page.getByRole('link', { name: 'MongoDB', exact: true }).click();
      await page.getByText('with TLS').waitFor();
      const program = page.locator('.steps pre').filter({ hasText: language === 'mongosh' ? 'mongosh --quiet' : mongo });
      await program.first().waitFor();
      assert.equal(await page.getByRole('link', { name: 'NoSQL', exact: true }).count(), language === 'mongosh' ? 0 : 1);
      await page.fits();
    }
    await page.getByRole('checkbox', { name: 'with TLS' }).check();
    await page.getByText('tls=true&tlsCAFile=mayfly-ca.pem').waitFor();
    await page.done();
  });
});

// `make explorer` of the folder above fetches the clients. By itself, npm test may run without them, but not in CI.
const clients = new URL('../js/', import.meta.url).pathname;
const installed = existsSync(join(clients, 'node_modules/@azure/cosmos')) && existsSync(join(clients, 'node_modules/mongodb'));

test('the programs run as they are shown', { skip: !installed && !process.env.CI && 'the JavaScript clients are not installed: make npm' }, async (t) => {
  const page = await chrome.open(mayfly);
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-connect-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // shown is a step of the page for a language and an API: its text, as the button copies it.
  const shown = async (language, api, step) => {
    await page.goto(`${mayfly.admin}/#/operations/connect?language=${language}&api=${api}`);
    await page.getByRole('button', { name: `Copy: ${step}` }).last().click();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const trust = await shown('javascript', 'nosql', 'Trust the certificate');
  await run('sh', ['-eu', '-c', trust], { cwd: folder });
  for (const api of ['nosql', 'mongodb']) {
    // A module looks for packages from its own folder upwards: so the program goes to node in that of the clients.
    const program = await shown('javascript', api, 'first.mjs');
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program],
      { cwd: clients, env: { PATH: process.env.PATH, HOME: folder, NODE_EXTRA_CA_CERTS: join(folder, 'mayfly-ca.pem') } });
    assert.match(stdout, /user: 'ada'/, api);
  }
  const mongosh = join(clients, 'node_modules/mongosh/bin/mongosh.js');
  if (existsSync(mongosh)) {
    writeFileSync(join(folder, 'first.js'), await shown('mongosh', 'mongodb', 'first.js'));
    writeFileSync(join(folder, 'mongosh'), `#!/bin/sh\nexec ${process.execPath} ${mongosh} --norc "$@"\n`, { mode: 0o755 });
    const { stdout } = await run('sh', ['-eu', '-c', await shown('mongosh', 'mongodb', 'Run')],
      { cwd: folder, env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder } });
    assert.match(stdout, /user: 'ada'/);
  }
  await page.done();
});
