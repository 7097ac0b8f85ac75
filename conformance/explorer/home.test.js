// The first page and the clock: an empty server, what there is, a virtual clock that moves.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { everyLook, startBrowser, startMayfly } from './harness.js';

const start = '2026-01-02T03:04:05Z';
let chrome;
const servers = [];
const serve = async (...flags) => {
  const mayfly = await startMayfly(...flags);
  servers.push(mayfly);
  return mayfly;
};
before(async () => { chrome = await startBrowser(); });
after(async () => {
  await chrome?.stop();
  await Promise.all(servers.map((s) => s.stop()));
});

test('an empty server makes a sample with one click', async (t) => {
  await everyLook(t, async (look) => {
    const mayfly = await serve(`--clock=virtual=${start}`);
    const page = await chrome.open(mayfly, look);
    await page.getByRole('heading', { name: 'Documents that know when to die' }).waitFor();
    await page.accessible();
    await page.fits();
    await page.shot(`welcome-${look.name}`);
    await page.getByRole('button', { name: 'Make the sample' }).click();
    await page.waitForURL(/sample\/sessions\/items/);
    assert.equal((await mayfly.api('GET', '/databases/sample/containers/sessions')).items, 30);
    await page.done();
  });
});

test('home shows what there is and what ends', async (t) => {
  const mayfly = await serve(`--clock=virtual=${start}`);
  await mayfly.api('POST', '/databases', { id: 'shop' });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'carts', partitionKey: { paths: ['/user'] }, defaultTtl: 7776000 });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'visits', dialect: 'mongodb',
    indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 600 }] });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'x'.repeat(200), partitionKey: { paths: ['/id'] } });
  for (let i = 0; i < 5; i++) {
    await mayfly.api('POST', '/databases/shop/containers/carts/items', { id: `${i}`, user: 'ada', ttl: i < 2 ? 60 : undefined });
  }
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, look);
    const row = page.getByRole('row', { name: /carts/ });
    await row.getByText('90 days after the last write').waitFor();
    await page.getByText('10 minutes after the date in at').waitFor();
    await row.getByRole('link', { name: '2', exact: true }).waitFor();
    await page.getByRole('link', { name: /Ends within 24 h/ }).getByText('2', { exact: true }).waitFor();
    await page.accessible();
    await page.fits();
    await page.shot(`home-${look.name}`, { fullPage: true });
    await page.done();
  });
});

test('the clock steps, goes to a date and follows the slider', async (t) => {
  const mayfly = await serve(`--clock=virtual=${start}`);
  await mayfly.api('POST', '/databases', { id: 'shop' });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'carts', partitionKey: { paths: ['/id'] }, defaultTtl: -1 });
  for (let day = 1; day <= 20; day++) {
    for (let n = 0; n < day; n++) await mayfly.api('POST', '/databases/shop/containers/carts/items', { id: `${day}-${n}`, ttl: day * 86400 });
  }
  const page = await chrome.open(mayfly, { at: '/#/clock' });
  await page.getByText('2026-01-02T03:04:05Z').first().waitFor();
  await page.getByRole('button', { name: '+ 1 hour' }).click();
  await page.getByText('2026-01-02T04:04:05Z').first().waitFor();
  const slider = page.getByRole('slider', { name: 'Time to go to' });
  await slider.focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
  await page.getByText(/6 items will be gone at/).waitFor();
  await page.accessible();
  await page.shot('clock-scrubbed');
  await page.keyboard.press('Enter');
  await page.getByText('2026-01-06T00:00:00Z').first().waitFor();
  assert.equal((await mayfly.api('GET', '/databases/shop/containers/carts')).items, 204);
  await page.getByLabel('Go to (UTC)').fill('2027-01-01T00:00:00');
  await page.getByRole('button', { name: 'Go', exact: true }).click();
  await page.getByText('2027-01-01T00:00:00Z').first().waitFor();
  assert.equal((await mayfly.api('GET', '/databases/shop/containers/carts')).items, 0);
  await page.done();
  await everyLook(t, async (look) => {
    const at = await chrome.open(mayfly, { ...look, at: '/#/clock' });
    await at.getByText('2027-01-01T00:00:00Z').first().waitFor();
    await at.accessible();
    await at.fits();
    await at.shot(`clock-${look.name}`, { fullPage: true });
    await at.done();
  });
});

test('a real clock says how to have a virtual one', async () => {
  const mayfly = await serve();
  const page = await chrome.open(mayfly, { at: '/#/clock' });
  await page.getByText('mayfly --clock=virtual').waitFor();
  await page.done();
});
