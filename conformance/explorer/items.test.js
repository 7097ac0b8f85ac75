// The items of a container: how they look, lives that run out, a slow server.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { everyLook } from './harness.js';
import { addContainer, at, chrome, editor, fill, mayfly, row, serveShop } from './items-shop.js';

serveShop();

test('the grid shows items with their time left', async (t) => {
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: at('carts') });
    await page.getByRole('table', { name: 'Items of carts' }).waitFor();
    const first = row(page, 'cart-000');
    assert.match(await first.innerText(), /cart-000\s+1h\s+ada\s+0\s+true/s);
    await page.getByText('Page 1').waitFor();
    await page.shot(`items-${look.name}`);
    await page.fits();
    await page.getByRole('button', { name: 'Open cart-003 · ada' }).click();
    await page.getByRole('region', { name: 'cart-003 · ada' }).waitFor();
    await editor(page).waitFor();
    await page.shot(`items-open-${look.name}`);
    await page.fits();
    await page.accessible();
    await page.done();
  });
});

test('an item leaves at its deadline, on the clock of mayfly', async () => {
  await addContainer(mayfly, 'sessions');
  await fill(mayfly, 'sessions', [{ id: 'short', user: 'ada', ttl: 50 }, { id: 'longer', user: 'ada', ttl: 3000 }, { id: 'forever', user: 'ada', ttl: -1 }]);
  const page = await chrome.open(mayfly, { at: at('sessions') });
  assert.match(await row(page, 'short').innerText(), /50s/);
  assert.match(await row(page, 'forever').innerText(), /never/);
  await mayfly.api('POST', '/clock/advance', { duration: '40s' });
  await row(page, 'short').filter({ hasText: '10s' }).waitFor();
  await page.shot('items-fading');
  await mayfly.api('POST', '/clock/advance', { duration: '10s' });
  await row(page, 'short').filter({ hasText: 'expired' }).waitFor();
  await page.shot('items-leaving');
  await row(page, 'short').waitFor({ state: 'detached' });
  await page.getByText('1 expired here').waitFor();
  await row(page, 'longer').waitFor();
  await page.done();
});

test('the time left is right before the clock has answered', async () => {
  await addContainer(mayfly, 'early');
  await fill(mayfly, 'early', [{ id: 'short', user: 'ada', ttl: 50 }]);
  const page = await chrome.open(mayfly, { at: '/' });
  let answer;
  const held = new Promise((resolve) => { answer = resolve; });
  await page.route('**/_mayfly/v1/clock', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${mayfly.admin}${at('early')}`);
  await page.reload();
  assert.match(await row(page, 'short').innerText(), /50s/);
  answer();
  await page.done();
});

test('only the items that end in an interval', async () => {
  await addContainer(mayfly, 'waves');
  await fill(mayfly, 'waves', [{ id: 'soon', user: 'ada', ttl: 100 }, { id: 'later', user: 'ada', ttl: 500 }]);
  const at_ = Date.parse((await mayfly.api('GET', '/clock')).time) / 1000;
  const page = await chrome.open(mayfly, { at: at('waves', `?expiring=${at_}-${at_ + 300}`) });
  await row(page, 'soon').waitFor();
  assert.equal(await row(page, 'later').count(), 0);
  await page.shot('items-expiring');
  await page.getByRole('button', { name: 'Open soon' }).click();
  await editor(page).getByText('"soon"').waitFor();
  assert.match(page.url(), /expiring=/);
  await page.getByRole('link', { name: 'Show all items' }).click();
  await row(page, 'later').waitFor();
  await page.done();
});

test('a slow server and a page of a thousand', async () => {
  await addContainer(mayfly, 'many');
  for (let from = 0; from < 5000; from += 5000) {
    await fill(mayfly, 'many', Array.from({ length: 5000 }, (_, i) => ({ id: `m${String(from + i).padStart(6, '0')}`, user: `u${i % 50}`, n: i })));
  }
  const page = await chrome.open(mayfly, { at: at('many'), storage: { 'items.pageSize': 1000 } });
  await page.getByText('1,000 items of 5,000').waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await row(page, 'm001000').waitFor();
  const started = Date.now();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.getByRole('button', { name: 'Open m001001' }).waitFor();
  assert.ok(Date.now() - started < 2000, 'the keyboard stays fluid');
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await page.route('**/query', async (route) => { await held; await route.continue(); });
  await page.reload();
  await page.getByRole('main').getByLabel('Loading').first().waitFor();
  await page.shot('items-slow');
  release();
  await page.getByText('1,000 items of 5,000').waitFor();
  await page.done();
});
