// A mayfly with a key of its own: the page asks for it, keeps a session and no key, and shows what the key allows.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { everyLook, startBrowser, startMayfly } from './harness.js';

const key = randomBytes(64).toString('base64');
const admin = { Authorization: `Bearer ${key}` };
let mayfly;
let chrome;
before(async () => {
  [mayfly, chrome] = await Promise.all([startMayfly(`--key=${key}`, '--clock=virtual=2026-01-02T03:04:05Z'), startBrowser()]);
  await mayfly.api('POST', '/databases', { id: 'shop' }, admin);
  await mayfly.api('POST', '/databases/shop/containers', { id: 'carts', partitionKey: { paths: ['/user'] }, defaultTtl: 3600 }, admin);
});
after(async () => {
  await chrome?.stop();
  await mayfly?.stop();
});

const keyNamed = async (name) => (await mayfly.api('GET', '/keys?show=true', undefined, admin)).keys.find((k) => k.name === name).key;
const tree = (page) => page.getByRole('link', { name: 'carts' }).first();

// open shows the page of a browser that has no session yet, and signs in if there is a key.
async function open(look, secret) {
  const page = await chrome.open(mayfly, look);
  page.expected(/401/);
  if (secret) await signIn(page, secret);
  return page;
}

async function signIn(page, secret) {
  await page.getByLabel('Account key').fill(secret);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

test('a wrong key is refused, the right one opens, a reload keeps the session, signing out ends it', async (t) => {
  await everyLook(t, async (look) => {
    const page = await open(look);
    const field = page.getByLabel('Account key');
    await field.waitFor();
    assert.equal(await field.getAttribute('type'), 'password');
    assert.equal(await page.getByText('carts').count(), 0, 'nothing shows before');
    assert.ok(await page.getByRole('button', { name: 'Open' }).isDisabled());
    await field.fill(randomBytes(64).toString('base64'));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('this is no account key of this mayfly').waitFor();
    await page.accessible();
    await page.fits();
    await page.shot(`login-${look.name}`);
    await signIn(page, key);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Account key').waitFor();
    await page.reload();
    await page.getByLabel('Account key').waitFor();
    await page.done();
  });
});

test('the browser keeps a cookie that scripts cannot read, and nothing else', async () => {
  const page = await open({}, key);
  const [cookie, ...others] = await page.context().cookies();
  assert.equal(others.length, 0);
  assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite, cookie.path, cookie.expires], ['mayfly_session', true, 'Strict', '/', -1]);
  assert.ok(!cookie.value.includes(key.slice(0, 10)));
  assert.deepEqual(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length, location.href.includes('key')]), ['', 0, 0, false]);
  await page.done();
});

test('a key that reads sees no button that writes', async (t) => {
  const reading = await keyNamed('primaryReadonly');
  const writes = /^(New|Delete|Create|Save|Rotate|Forget|Cancel|Load|Set$|Switch off|Reclaim now|Pause|Resume|Take|Make|Drop|Edit|Database )/;
  await everyLook(t, async (look) => {
    const page = await open(look, reading);
    // Every view once, and the one with most buttons in every look.
    const all = ['/', '/lifetime', '/operations/work', '/operations/slow', '/operations/connections', '/operations/audit', '/operations/connect'];
    for (const at of look.size === 'wide' && !look.dark ? all : ['/operations/work']) {
      await page.goto(`${mayfly.admin}/#${at}`);
      await page.locator('main .panel').first().waitFor();
      if (look.size === 'narrow') await page.getByRole('button', { name: 'Databases and containers' }).click();
      await tree(page).waitFor();
      if (at === '/operations/work') await page.getByRole('rowheader', { name: 'primaryReadonly' }).waitFor();
      assert.equal(await page.getByRole('button', { name: writes }).count(), 0, at);
      if (look.size === 'narrow') await page.keyboard.press('Escape');
    }
    await page.goto(`${mayfly.admin}/#/operations/work`);
    await page.reload();
    await page.getByText('a key that only reads may not take one').waitFor();
    await page.fits();
    await page.accessible();
    await page.shot(`login-readonly-${look.name}`, { fullPage: true });
    await page.done();
  });
});

test('the page asks again when its key is replaced', async () => {
  const page = await open({ at: '/#/operations/audit' }, await keyNamed('secondary'));
  await page.getByText('create database').first().waitFor();
  await mayfly.api('POST', '/keys/secondary/rotate', undefined, admin);
  await page.getByLabel('Account key').waitFor({ timeout: 20000 });
  assert.equal(await page.getByText('create database').count(), 0);
  await signIn(page, await keyNamed('secondary'));
  await page.getByText('create database').first().waitFor();
  await page.done();
});

test('who rotates the key of their own session goes on with the new one', async () => {
  const page = await open({ at: '/#/operations/work' }, await keyNamed('secondary'));
  await page.getByRole('button', { name: 'Rotate key secondary', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const shown = page.getByRole('dialog', { name: 'New key secondary' });
  await shown.waitFor(); // before it, the key may still be the old one
  await shown.getByText(await keyNamed('secondary'), { exact: true }).waitFor();
  await shown.getByRole('button', { name: 'Close' }).last().click();
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  assert.deepEqual(await page.evaluate(() => localStorage.length), 0);
  await page.done();
});

test('the strings to connect have a placeholder for the key, and say where it is', async () => {
  const page = await open({ at: '/#/operations/connect' }, key);
  await page.getByText(/AccountKey=KEY;/).waitFor();
  await page.getByText('mayfly key show primary').waitFor();
  assert.ok(!(await page.content()).includes(key));
  await page.done();
});

test('what is not saved outlives a session that ends', async () => {
  const page = await open({ at: '/#/c/shop/carts/items?new=1' }, await keyNamed('secondary'));
  const editor = page.getByLabel('Item as JSON');
  await editor.getByText('"user"').waitFor();
  await editor.fill('{"id": "kept", "user": "ada"}');
  await page.context().clearCookies(); // on this machine reading goes on without a session
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByLabel('Account key').waitFor({ timeout: 20000 });
  for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByLabel('Account key').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 1, 'nothing else is reached');
  await page.accessible();
  await page.shot('login-over');
  const asked = [];
  page.on('request', (r) => asked.push(r.url()));
  await page.waitForTimeout(5000); // longer than the clock and the streams take to ask again
  assert.deepEqual(asked, []);
  await signIn(page, await keyNamed('secondary'));
  await editor.getByText('"kept"').waitFor();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Item kept · ada created').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Account key').waitFor();
  assert.equal(await page.locator('.tree, .items').count(), 0, 'signing out leaves nothing');
  await page.done();
});
