// Scale & Settings: the three states of Time to Live, and what a change would end before it is saved.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { everyLook, startBrowser, startMayfly } from './harness.js';

let mayfly;
let chrome;
const carts = '/databases/shop/containers/carts';
before(async () => {
  [mayfly, chrome] = await Promise.all([startMayfly('--clock=virtual=2026-01-02T03:04:05Z'), startBrowser()]);
  await mayfly.api('POST', '/databases', { id: 'shop' });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'carts', partitionKey: { paths: ['/user'] }, uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/code'] }] } });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'visits', dialect: 'mongodb',
    indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 600 }] });
  for (let i = 0; i < 10; i++) {
    await mayfly.api('POST', `${carts}/items`, { id: `cart-${i}`, user: 'ada', code: i });
    await mayfly.api('POST', '/clock/advance', { duration: '600s' });
  }
  for (let i = 0; i < 4; i++) {
    await mayfly.api('POST', '/databases/shop/containers/visits/items', { _id: i, at: { $date: '2026-01-02T05:00:00Z' } });
  }
});
after(async () => {
  await chrome?.stop();
  await mayfly?.stop();
});

const ttl = async () => (await mayfly.api('GET', carts)).defaultTtl;

test('the three states, with a preview of what would end', async (t) => {
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: '/#/c/shop/carts/settings' });
    assert.ok(await page.getByLabel('Off', { exact: true }).isChecked());
    await page.getByText('nothing expires').waitFor();
    await page.getByLabel('On, with a default').check();
    await page.getByLabel('Default life of an item').fill('1h');
    await page.getByText('3,600 s = 1 hour').waitFor();
    const now = page.getByRole('row', { name: /at once/ });
    await now.locator('td.number').first().getByText('5', { exact: true }).waitFor();
    await now.getByText('cart-0').waitFor();
    await page.getByRole('row', { name: /within an hour/ }).locator('td.number').first().getByText('10', { exact: true }).waitFor();
    await page.accessible();
    await page.fits();
    await page.shot(`settings-${look.name}`, { fullPage: true });
    await page.getByLabel('Default life of an item').fill('soon');
    await page.getByText('This is no duration').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save' }).first().isDisabled());
    await page.getByRole('button', { name: 'Discard' }).first().click();
    assert.ok(await page.getByLabel('Off', { exact: true }).isChecked());
    assert.equal(await ttl(), undefined, 'looking changes nothing');
    await page.done();
  });
});

test('saving asks for the name when more than half would go', async () => {
  const page = await chrome.open(mayfly, { at: '/#/c/shop/carts/settings' });
  const save = page.getByRole('button', { name: 'Save', exact: true }).first();
  await page.getByLabel('On (no default)').check();
  await page.getByRole('row', { name: /at once/ }).waitFor();
  await save.click();
  await page.locator('.toast').first().waitFor();
  assert.equal(await ttl(), -1);
  await page.getByLabel('On, with a default').check();
  await page.getByLabel('Default life of an item').fill('2000s');
  await page.getByRole('row', { name: /at once/ }).locator('td.number').first().getByText('7', { exact: true }).waitFor();
  await save.click();
  const dialog = page.getByRole('dialog', { name: 'Items would be gone at once' });
  await dialog.getByText('7 of 10 items would be gone').waitFor();
  const go = dialog.getByRole('button', { name: 'Save and let them go' });
  assert.ok(await go.isDisabled());
  await page.shot('settings-ask');
  await page.accessible();
  await dialog.getByLabel('Type carts to confirm').fill('carts');
  await go.click();
  await page.getByText(/7 items expired by this change/).waitFor();
  assert.equal(await ttl(), 2000);
  assert.equal((await mayfly.api('GET', carts)).items, 3);
  await page.done();
});

test('the indexing policy, with a mistake first', async () => {
  const page = await chrome.open(mayfly, { at: '/#/c/shop/carts/settings' });
  const section = page.getByRole('region', { name: 'Indexing policy' });
  const editor = section.getByRole('textbox');
  await editor.click();
  page.expected(/status of 400/);
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('{"indexingMode": "sometimes"}');
  await section.getByRole('button', { name: 'Save' }).click();
  await section.getByRole('alert').waitFor();
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('{"indexingMode": "consistent", "automatic": true, "includedPaths": [{"path": "/user/?"}], "excludedPaths": [{"path": "/*"}]}');
  await section.getByRole('button', { name: 'Save' }).click();
  await page.locator('.toast').first().waitFor();
  assert.deepEqual((await mayfly.api('GET', carts)).indexingPolicy.includedPaths.map((p) => p.path), ['/user/?']);
  await page.getByText('/code').waitFor();
  await page.done();
});

test('throughput switches between manual and autoscale', async () => {
  const page = await chrome.open(mayfly, { at: '/#/c/shop/carts/settings' });
  const section = page.getByRole('region', { name: 'Throughput' });
  await section.getByLabel('Autoscale').check();
  await section.getByLabel('Request units per second').fill('4000');
  await section.getByRole('button', { name: 'Save' }).click();
  await page.locator('.toast').first().waitFor();
  assert.deepEqual(await mayfly.api('GET', `${carts}/throughput`), { autoscaleMaxThroughput: 4000 });
  await page.done();
});

test('a collection: TTL indexes on dates, other indexes', async (t) => {
  const visits = '/databases/shop/containers/visits';
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: '/#/c/shop/visits/settings' });
    await page.getByText('10 minutes after the date in at').waitFor();
    await page.getByLabel('Life after at').fill('3h');
    await page.getByRole('row', { name: /within a day/ }).locator('td.number').first().getByText('4', { exact: true }).waitFor();
    await page.accessible();
    await page.fits();
    await page.shot(`settings-mongo-${look.name}`, { fullPage: true });
    await page.done();
  });
  const page = await chrome.open(mayfly, { at: '/#/c/shop/visits/settings' });
  await page.getByLabel('Life after at').fill('3h');
  await page.getByRole('row', { name: /at once/ }).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await page.locator('.toast').first().waitFor();
  assert.equal((await mayfly.api('GET', visits)).indexes.find((i) => i.name === 'at_1').expireAfterSeconds, 10800);
  await page.getByRole('button', { name: 'New index' }).click();
  await page.getByRole('dialog').getByLabel('Key').fill('{"user": 1, "at": -1}');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByRole('rowheader', { name: 'user_1_at_-1' }).waitFor();
  await page.getByRole('button', { name: 'Drop index user_1_at_-1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('rowheader', { name: 'user_1_at_-1' }).waitFor({ state: 'detached' });
  await page.done();
});

test('a container is deleted after its name is typed', async () => {
  await mayfly.api('POST', '/databases/shop/containers', { id: 'old', partitionKey: { paths: ['/id'] } });
  const page = await chrome.open(mayfly, { at: '/#/c/shop/old/settings' });
  await page.getByRole('button', { name: 'Delete container' }).click();
  await page.getByLabel('Type old to confirm').fill('old');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Container old deleted').waitFor();
  await assert.rejects(mayfly.api('GET', '/databases/shop/containers/old'), /404/);
  await page.done();
});

test('a preview that has aged is asked for again before the save', async () => {
  await mayfly.api('POST', '/databases/shop/containers', { id: 'aging', partitionKey: { paths: ['/id'] } });
  for (let i = 0; i < 4; i++) await mayfly.api('POST', '/databases/shop/containers/aging/items', { id: `${i}` });
  const page = await chrome.open(mayfly, { at: '/#/c/shop/aging/settings' });
  await page.getByLabel('On, with a default').check();
  await page.getByLabel('Default life of an item').fill('1h');
  await page.getByRole('row', { name: /at once/ }).locator('td.number').first().getByText('0', { exact: true }).waitFor();
  await mayfly.api('POST', '/clock/advance', { duration: '2h' });
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await page.getByRole('dialog').getByText('4 of 4 items would be gone').waitFor();
  assert.equal((await mayfly.api('GET', '/databases/shop/containers/aging')).items, 4);
  await page.done();
});

test('a new TTL index asks before it ends documents', async () => {
  await mayfly.api('POST', '/databases/shop/containers', { id: 'logs', dialect: 'mongodb' });
  for (let i = 0; i < 3; i++) await mayfly.api('POST', '/databases/shop/containers/logs/items', { _id: i, at: { $date: '2020-01-01T00:00:00Z' } });
  const page = await chrome.open(mayfly, { at: '/#/c/shop/logs/settings' });
  await page.getByRole('button', { name: 'New index' }).click();
  await page.getByRole('dialog').getByLabel('Key').fill('{"at": 1}');
  await page.getByRole('dialog').getByLabel(/Expire after/).fill('30d');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByText('3 of 3 items would be gone').waitFor();
  assert.equal((await mayfly.api('GET', '/databases/shop/containers/logs')).items, 3);
  await page.getByLabel('Type logs to confirm').fill('logs');
  await page.getByRole('button', { name: 'Save and let them go' }).click();
  await page.getByRole('rowheader', { name: 'at_1' }).waitFor();
  assert.equal((await mayfly.api('GET', '/databases/shop/containers/logs')).items, 0);
  await page.done();
});
