// Makes the pictures of the explorer in docs/images: `node pictures.js`, with TESTED_BIN as for the tests.
import { mkdirSync } from 'node:fs';
import { startBrowser, startMayfly } from './harness.js';

const folder = new URL('../../docs/images', import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const mayfly = await startMayfly('--clock=virtual=2026-05-04T09:30:00Z');
const chrome = await startBrowser();
const people = ['ada', 'alan', 'barbara', 'dennis', 'edsger', 'frances', 'grace', 'john', 'karen', 'ken', 'leslie', 'margaret'];

const create = (db, body) => mayfly.api('POST', `/databases/${db}/containers`, body);
const add = (db, id, item) => mayfly.api('POST', `/databases/${db}/containers/${id}/items`, item);

async function fill() {
  for (const id of ['shop', 'telemetry']) await mayfly.api('POST', '/databases', { id });
  await create('shop', { id: 'carts', partitionKey: { paths: ['/user'] }, defaultTtl: 30 * 86400 });
  await create('shop', { id: 'sessions', partitionKey: { paths: ['/user'] }, defaultTtl: -1 });
  await create('shop', { id: 'orders', partitionKey: { paths: ['/user'] } });
  await create('telemetry', { id: 'readings', dialect: 'mongodb', indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 7 * 86400 }] });
  for (let i = 0; i < 120; i++) {
    const user = people[i % people.length];
    await add('shop', 'carts', { id: `cart-${i + 1}`, user, items: (i * 5) % 7 + 1, total: ((i * 37) % 190) + 9.5, ...(i % 9 === 0 && { ttl: 3600 + i * 60 }) });
    if (i % 2 === 0) await add('shop', 'sessions', { id: `session-${i + 1}`, user, device: ['phone', 'laptop'][i % 3 % 2], city: ['Lisboa', 'Madrid', 'São Paulo'][i % 3], ttl: 20 + i * i * 45 });
    if (i % 4 === 0) await add('shop', 'orders', { id: `order-${i + 1}`, user, total: ((i * 37) % 190) + 9.5 });
    await add('telemetry', 'readings', { _id: i + 1, sensor: `s${i % 5}`, value: 18 + (i % 12) / 2,
      at: { $date: new Date(Date.UTC(2026, 4, 4, 9, 30) - (i * 977) % 600000 * 1000 * 0.9).toISOString() } });
    await mayfly.api('POST', '/clock/advance', { duration: `${(i * 13) % 29 * 600}s` });
  }
}

async function picture(name, at, ready, options) {
  const page = await chrome.open(mayfly, { at, ...options });
  await ready(page);
  await page.screenshot({ path: `${folder}/explorer-${name}.png` });
  await page.done();
}

try {
  await fill();
  await picture('lifetime', '/#/lifetime', (page) => page.getByText(/items end in this span/).waitFor());
  await picture('items', '/#/c/shop/sessions/items', (page) => page.getByText(/session-/).first().waitFor(), { dark: true });
  await picture('settings', '/#/c/shop/carts/settings', async (page) => {
    await page.getByLabel('Default life of an item').fill('7d');
    await page.getByRole('row', { name: /at once/ }).waitFor();
  });
} finally {
  await chrome.stop();
  await mayfly.stop();
}
