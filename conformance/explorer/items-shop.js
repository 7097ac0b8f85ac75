// What the tests of items share: a shop with a container of each dialect.
import { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { startBrowser, startMayfly } from './harness.js';

export const start = Date.parse('2026-01-02T03:04:05Z') / 1000;
export const shop = '/databases/shop/containers';

// mayfly and chrome are those of the file that has called serveShop: each file of tests is a process of its own.
export let mayfly;
export let chrome;

// serveShop starts them before the tests of a file, with the shop in them, and stops them after.
export function serveShop() {
  before(async () => {
    [mayfly, chrome] = await Promise.all([startMayfly('--clock=virtual=2026-01-02T03:04:05Z'), startBrowser()]);
    await openShop();
  });
  after(async () => {
    await chrome?.stop();
    await mayfly?.stop();
  });
}

// openShop makes carts, items of the API for NoSQL, and visits, documents of MongoDB whose dates end them.
async function openShop() {
  const { api } = mayfly;
  await api('POST', '/databases', { id: 'shop' });
  await api('POST', shop, { id: 'carts', partitionKey: { paths: ['/user'] }, defaultTtl: 7776000,
    indexingPolicy: { indexingMode: 'consistent', includedPaths: [{ path: '/*' }], excludedPaths: [{ path: '/note/?' }] } });
  await api('POST', shop, { id: 'visits', dialect: 'mongodb',
    indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 600 }] });
  await fill(mayfly, 'carts', Array.from({ length: 260 }, (_, i) => ({
    id: `cart-${String(i).padStart(3, '0')}`, user: ['ada', 'grace', 'linus'][i % 3], total: i * 1.5, paid: i % 4 === 0, note: `note ${i}`,
    address: { city: ['Lisboa', 'Bogotá', 'Berlin'][i % 3], zip: 1000 + i }, items: [{ sku: `A${i}`, n: i % 5 }], ttl: 3600 + i * 7200,
  })));
  await fill(mayfly, 'visits', Array.from({ length: 60 }, (_, i) => ({
    _id: { $numberInt: String(i) }, page: `/p/${i % 7}`, at: { $date: new Date((start + i * 60) * 1000).toISOString() },
    long: { $numberLong: '5' }, n: { $numberInt: String(i) },
  })));
}

// fill writes items as JSON lines.
export async function fill(mayfly, container, items) {
  const answer = await fetch(`${mayfly.admin}/_mayfly/v1${shop}/${container}/import`, {
    method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: items.map((i) => JSON.stringify(i)).join('\n'),
  });
  const result = await answer.json();
  assert.equal(result.written, items.length, JSON.stringify(result));
}

// addContainer makes a container of a test's own.
export const addContainer = (mayfly, id, more = {}) =>
  mayfly.api('POST', shop, { id, partitionKey: { paths: ['/user'] }, defaultTtl: 3600, ...more });

export const at = (name, query = '') => `/#/c/shop/${name}/items${query}`;

export const row = (page, name) =>
  page.locator('.grid tr').filter({ has: page.getByRole('button', { name: new RegExp(`^Open ${name}( ·|$)`) }) });

export const editor = (page) => page.getByLabel('Item as JSON');

// write replaces the text of an editor as by hand: keys select and delete what was there.
export async function write(editor, text) {
  await editor.press('ControlOrMeta+a');
  await editor.press('Delete');
  await editor.page().keyboard.insertText(text);
}
