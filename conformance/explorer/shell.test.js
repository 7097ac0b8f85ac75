// The frame: tree, palette, keys, languages, themes, a lost connection.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { everyLook, startBrowser, startMayfly } from './harness.js';

let mayfly;
let chrome;
before(async () => {
  [mayfly, chrome] = await Promise.all([startMayfly('--clock=virtual=2026-01-02T03:04:05Z'), startBrowser()]);
  await mayfly.api('POST', '/databases', { id: 'shop' });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'carts', partitionKey: { paths: ['/user'] }, defaultTtl: 7776000 });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'visits', dialect: 'mongodb' });
  await mayfly.api('POST', '/databases/shop/containers', { id: '<img src=x onerror=alert(1)>', partitionKey: { paths: ['/id'] } });
});
after(async () => {
  await chrome?.stop();
  await mayfly?.stop();
});

test('the tree leads to a container', async (t) => {
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, look);
    if (look.size === 'narrow') await page.getByRole('button', { name: 'Databases and containers' }).click();
    const tree = page.getByRole('complementary', { name: 'Databases and containers' });
    await tree.getByRole('link', { name: 'visits M' }).waitFor();
    await page.shot(`shell-${look.name}`);
    assert.equal(await tree.getByText('<img src=x onerror=alert(1)>').count(), 1, 'names are text');
    await tree.getByRole('link', { name: 'carts' }).click();
    await page.getByRole('heading', { name: /carts/ }).waitFor();
    assert.match(page.url(), /#\/c\/shop\/carts\/items/);
    await page.fits();
    await page.accessible();
    await page.done();
  });
});

test('the palette goes everywhere by keyboard', async () => {
  const page = await chrome.open(mayfly);
  await page.getByRole('link', { name: 'visits M' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to…' }).fill('visits settings');
  await page.getByRole('option', { name: /visits/ }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/visits\/settings/);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.accessible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('h');
  await page.waitForURL(/#\/$/);
  await page.done();
});

test('databases and containers are created and deleted', async () => {
  const page = await chrome.open(mayfly);
  await page.getByRole('button', { name: 'New database' }).click();
  await page.getByLabel('Name').fill('temporary');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Database temporary' }).click();
  await page.getByRole('menuitem', { name: 'New container' }).click();
  await page.getByLabel('Name').fill('tokens');
  await page.getByLabel('On, with a default').check();
  await page.getByLabel(/Life of an item/).fill('90d');
  await page.getByText('90 days', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL(/temporary\/tokens\/items/);
  assert.equal((await mayfly.api('GET', '/databases/temporary/containers/tokens')).defaultTtl, 7776000);
  await page.getByRole('button', { name: 'Database temporary' }).click();
  await page.getByRole('menuitem', { name: 'Delete database' }).click();
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
  assert.ok(await confirm.isDisabled(), 'the name must be typed first');
  await page.getByLabel('Type temporary to confirm').fill('temporary');
  await confirm.click();
  await page.getByText('Database temporary deleted').waitFor();
  await assert.rejects(mayfly.api('GET', '/databases/temporary'), /404/);
  await page.done();
});

test('three languages', async () => {
  const page = await chrome.open(mayfly, { language: 'pt-BR' });
  await page.getByRole('link', { name: 'Início' }).first().waitFor();
  assert.equal(await page.getAttribute('html', 'lang'), 'pt');
  await page.getByLabel('Idioma').selectOption('es');
  await page.getByRole('link', { name: 'Operaciones' }).waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'Operaciones' }).waitFor();
  await page.done();
});

test('a lost connection shows, and its return too', async () => {
  const page = await chrome.open(mayfly);
  await page.getByRole('link', { name: 'visits M' }).waitFor();
  page.expected(/ERR_FAILED|Failed to load resource/);
  await page.route('**/_mayfly/**', (route) => route.abort());
  await page.getByText('mayfly cannot be reached').first().waitFor({ timeout: 20000 });
  await page.unroute('**/_mayfly/**');
  await page.getByText('mayfly cannot be reached').first().waitFor({ state: 'hidden', timeout: 20000 });
  await page.done();
});

test('what is refused at the start is asked for again', async () => {
  const page = await chrome.open(mayfly);
  page.expected(/ERR_FAILED|Failed to load resource|MIME type|503/);
  const refused = new Map();
  const once = async (pattern, answer) => {
    await page.route(pattern, (route) => {
      const n = (refused.get(pattern) ?? 0) + 1;
      refused.set(pattern, n);
      return n === 1 ? answer(route) : route.fallback();
    });
  };
  const busy = (route) => route.fulfill({ status: 503, json: { title: 'busy', kind: 'busy' } });
  await once('**/_mayfly/v1/session', (route) => route.abort());
  await once('**/_mayfly/v1/operations', busy);
  await once('**/_mayfly/v1/operations/events', busy);
  await page.goto(`${mayfly.admin}/#/operations/work`);
  await page.reload();
  await page.getByRole('button', { name: 'Pause' }).waitFor(); // only for those who may write
  await page.getByRole('alert').filter({ hasText: '503' }).waitFor({ state: 'detached', timeout: 20000 });
  for (const end = Date.now() + 20000; refused.get('**/_mayfly/v1/operations/events') !== 2;) {
    assert.ok(Date.now() < end, 'the stream is not opened again');
    await page.waitForTimeout(200);
  }
  await mayfly.api('POST', '/check');
  await page.getByText('Check', { exact: true }).first().waitFor();
  await page.done();
});
