// Expirations ahead: bars of all containers or of one, and the way to their items.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { everyLook, startBrowser, startMayfly } from './harness.js';

let mayfly;
let chrome;
before(async () => {
  [mayfly, chrome] = await Promise.all([startMayfly('--clock=virtual=2026-01-02T03:04:05Z'), startBrowser()]);
  await mayfly.api('POST', '/databases', { id: 'shop' });
  for (const id of ['carts', 'tokens', 'a container with a rather long name']) {
    await mayfly.api('POST', '/databases/shop/containers', { id, partitionKey: { paths: ['/id'] }, defaultTtl: -1 });
  }
  await mayfly.api('POST', '/databases/shop/containers', { id: 'visits', dialect: 'mongodb',
    indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 3600 }] });
  const add = (id, item) => mayfly.api('POST', `/databases/shop/containers/${encodeURIComponent(id)}/items`, item);
  for (let day = 1; day <= 12; day++) {
    for (let n = 0; n < day; n++) await add('carts', { id: `${day}-${n}`, ttl: day * 86400 });
    await add('tokens', { id: `${day}`, ttl: day * 86400 + 60 });
    await add('visits', { _id: day, at: { $date: `2026-01-${String(day + 2).padStart(2, '0')}T12:00:00Z` } });
  }
  await add('carts', { id: 'kept' });
  await add('carts', { id: 'late', ttl: 400 * 86400 });
});
after(async () => {
  await chrome?.stop();
  await mayfly?.stop();
});

test('all containers, stacked', async (t) => {
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: '/#/lifetime' });
    await page.getByText('102 items end in this span').waitFor();
    await page.getByText('1 later').waitFor();
    await page.getByRole('link', { name: '3 Jan 2026: 1 item of shop / carts' }).or(page.getByRole('link', { name: 'Jan 3, 2026: 1 item of shop / carts' })).waitFor();
    await page.accessible();
    await page.fits();
    await page.shot(`lifetime-${look.name}`, { fullPage: true });
    await page.done();
  });
});

test('a bar leads to its items, and goes when its items have gone', async () => {
  const page = await chrome.open(mayfly, { at: '/#/c/shop/carts/lifetime' });
  await page.getByText('78 items end in this span').waitFor();
  await page.shot('lifetime-container');
  const bar = page.getByRole('link', { name: /: 2 items of shop \/ carts/ });
  assert.match(await bar.getAttribute('href'), /#\/c\/shop\/carts\/items\?expiring=\d+-\d+$/);
  await page.getByLabel('Span').selectOption('month-12');
  await page.getByText('78 items end in this span').waitFor();
  await mayfly.api('POST', '/clock/advance', { duration: '86400s' });
  await page.getByText('77 items end in this span').waitFor({ timeout: 20000 });
  await page.done();
});
