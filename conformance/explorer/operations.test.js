// Operations: long work, reclaiming, backup, snapshots, keys, slow requests, connections, audit.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { everyLook, startBrowser, startMayfly } from './harness.js';

const start = '2026-01-02T03:04:05Z';
const html = '<img src=x onerror=alert(1)>';
let mayfly;
let chrome;
before(async () => {
  [mayfly, chrome] = await Promise.all([startMayfly(`--clock=virtual=${start}`), startBrowser()]);
  await mayfly.api('POST', '/databases', { id: 'shop' });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'carts', partitionKey: { paths: ['/user'] }, defaultTtl: 3600 });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'visits', dialect: 'mongodb' });
  for (let i = 0; i < 20; i++) await mayfly.api('POST', '/databases/shop/containers/carts/items', { id: `${i}`, user: 'ada', total: i });
});
after(async () => {
  await chrome?.stop();
  await mayfly?.stop();
});

const panel = (page, name) => page.getByRole('region', { name, exact: true });

test('everything is checked, and the result stays', async (t) => {
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: '/#/operations' });
    await page.getByRole('button', { name: 'Check everything' }).click();
    const work = panel(page, 'Long work');
    await work.getByText('Everything fits together').first().waitFor();
    await work.getByText(/20 documents/).first().waitFor();
    await page.getByRole('cell', { name: 'the well-known emulator key' }).waitFor();
    await page.fits();
    await page.accessible();
    await page.shot(`operations-work-${look.name}`, { fullPage: true });
    await work.getByRole('button', { name: 'Forget Check' }).click();
    await work.getByText('Everything fits together').waitFor({ state: 'detached' });
    await page.done();
  });
  const { operations } = await mayfly.api('GET', '/operations');
  assert.equal(operations.length, 0, 'each look has forgotten its check');
});

test('work that runs has a bar, and can be cancelled', async (t) => {
  const build = { id: 'A', kind: 'index build', target: `shop/${html}`, state: 'running', started: '2026-01-02T03:00:00Z', seconds: 65, done: 420000, total: 1000000, unit: 'documents' };
  const failed = { id: 'B', kind: 'check', target: '', state: 'failed', started: '2026-01-02T02:00:00Z', ended: '2026-01-02T02:00:01Z', seconds: 1, done: 0, total: 0,
    unit: 'documents', error: { title: 'Internal', detail: 'the disk went away', status: 500 } };
  const open = { ...build, id: 'C', kind: 'import', target: 'shop/carts', total: 0, unit: 'items', started: '2026-01-02T01:00:00Z' };
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: '/' });
    let state = build;
    await page.route('**/_mayfly/v1/operations', (route) => route.fulfill({ json: { operations: [state, failed, open] } }));
    await page.route('**/_mayfly/v1/operations/events', (route) => route.fulfill({ contentType: 'text/event-stream',
      body: `retry: 200\nevent: operation\ndata: ${JSON.stringify(state)}\n\n` }));
    await page.route('**/_mayfly/v1/operations/A', (route) => {
      assert.equal(route.request().method(), 'DELETE');
      state = { ...build, state: 'cancelling' };
      return route.fulfill({ status: 202, json: state });
    });
    await page.goto(`${mayfly.admin}/#/operations/work`);
    const work = panel(page, 'Long work');
    await work.getByText('420,000 of 1,000,000 documents').waitFor();
    await work.getByText('42%').waitFor();
    assert.equal(await work.getByRole('progressbar', { name: `Index build shop/${html}` }).getAttribute('value'), '0.42');
    await work.getByText('the disk went away').waitFor();
    await work.getByText('420,000 items so far').waitFor();
    await page.fits();
    await page.accessible();
    await page.shot(`operations-running-${look.name}`);
    await work.getByRole('button', { name: /^Cancel Index build/ }).click();
    await work.getByText('cancelling').waitFor();
    assert.equal(await work.getByRole('button', { name: /^Cancel Index build/ }).count(), 0);
    await page.done();
  });
});

test('reclaiming pauses, goes on, and frees at once', async () => {
  const page = await chrome.open(mayfly, { at: '/#/operations/work' });
  const reclaim = panel(page, 'Reclaiming on');
  await reclaim.getByRole('button', { name: 'Pause reclaiming' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Pause reclaiming' }).click();
  const paused = panel(page, 'Reclaiming paused');
  await paused.waitFor();
  await mayfly.api('POST', '/databases/shop/containers/carts/items', { id: 'short', user: 'ada', ttl: 5 });
  await mayfly.api('POST', '/clock/advance', { duration: '60s' });
  await paused.getByText('55s').waitFor();
  await paused.getByRole('button', { name: 'Resume reclaiming' }).click();
  await panel(page, 'Reclaiming on').getByRole('button', { name: 'Reclaim now' }).click();
  await page.getByText('The space of all expired items is free').waitFor();
  assert.equal((await mayfly.api('GET', '/reclaim')).backlog, 0);
  await page.done();
});

test('a backup becomes a file', async (t) => {
  await t.test('by a download', async () => {
    const page = await chrome.open(mayfly, { at: '/#/operations/work' });
    await page.evaluate(() => { delete window.showSaveFilePicker; });
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Take a backup' }).click();
    const file = await download;
    assert.match(file.suggestedFilename(), /^mayfly-.*\.tar$/);
    const tar = readFileSync(await file.path());
    assert.equal(tar.subarray(257, 262).toString(), 'ustar');
    await panel(page, 'Backup').getByText(/Backup saved: \d+ kB/).waitFor();
    await page.done();
  });
  await t.test('straight into a file where the browser can', async () => {
    const page = await chrome.open(mayfly, { at: '/#/operations/work' });
    await page.evaluate(() => {
      window.written = 0;
      window.showSaveFilePicker = async () => ({
        createWritable: async () => new WritableStream({ write(chunk) { window.written += chunk.length; }, close() { window.ended = true; } }),
      });
    });
    await page.getByRole('button', { name: 'Take a backup' }).click();
    await panel(page, 'Backup').getByText(/Backup saved/).waitFor();
    assert.ok(await page.evaluate(() => window.ended && window.written > 1000));
    await page.done();
  });
  await t.test('an error shows', async () => {
    const page = await chrome.open(mayfly, { at: '/#/operations/work' });
    page.expected(/507/);
    await page.evaluate(() => { delete window.showSaveFilePicker; });
    await page.route('**/_mayfly/v1/backup', (route) => route.fulfill({ status: 507, json: { kind: 'out of space', detail: 'the disk is full' } }));
    await page.getByRole('button', { name: 'Take a backup' }).click();
    await page.getByRole('alert').getByText('the disk is full').waitFor();
    await page.done();
  });
});

test('snapshots are saved, loaded and deleted', async () => {
  const page = await chrome.open(mayfly, { at: '/#/operations/work' });
  const snapshots = panel(page, 'Snapshots').first();
  await snapshots.getByText('No snapshots yet').waitFor();
  await page.getByLabel('Name of the snapshot').fill('seeded');
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /seeded/ }).waitFor();
  await page.accessible();
  await mayfly.api('DELETE', '/databases/shop/containers/visits');
  await page.getByRole('button', { name: 'Load snapshot seeded' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/This replaces all data/).waitFor();
  await page.accessible();
  await dialog.getByRole('button', { name: 'Load' }).click();
  await page.getByText('All data is as in seeded again').waitFor();
  assert.equal((await mayfly.api('GET', '/databases/shop/containers/visits')).dialect, 'mongodb');
  await page.getByRole('button', { name: 'Delete snapshot seeded' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await snapshots.getByText('No snapshots yet').waitFor();
  await page.getByLabel('Name of the snapshot').fill('a/b');
  page.expected(/400/);
  await page.getByRole('button', { name: 'Save a snapshot' }).click();
  await page.getByRole('alert').first().waitFor();
  await page.done();
});

test('a rotated key is shown once', async (t) => {
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: '/#/operations/work' });
    await page.getByRole('button', { name: 'Rotate key secondary', exact: true }).click();
    await page.getByRole('dialog').getByText(/The old key ends at once/).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const shown = page.getByRole('dialog', { name: 'New key secondary' });
    await shown.getByText('It is shown here once').waitFor();
    const { keys } = await mayfly.api('GET', '/keys?show=true');
    const key = keys.find((k) => k.name === 'secondary').key;
    await shown.getByText(key, { exact: true }).waitFor();
    await page.accessible();
    await page.fits();
    await page.shot(`operations-key-${look.name}`);
    await shown.getByRole('button', { name: 'Copy: New key' }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key);
    await shown.getByRole('button', { name: 'Close' }).last().click();
    await shown.waitFor({ state: 'hidden' });
    assert.equal(await page.getByText(key).count(), 0);
    await page.done();
  });
  const page = await chrome.open(mayfly, { at: '/#/operations/work' });
  page.expected(/409/);
  await page.getByRole('button', { name: 'Rotate key primary', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('dialog').getByText(/it is the well-known emulator key/).waitFor();
  await page.done();
});

test('slow requests show with their plan', async (t) => {
  await everyLook(t, async (look) => {
    await mayfly.api('PUT', '/slow', { threshold: '' });
    const page = await chrome.open(mayfly, { ...look, at: '/#/operations/slow' });
    await page.getByText('Slow requests are not kept.').waitFor();
    await page.getByLabel('Slow from').fill('soon');
    await page.getByText('This is no duration').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Set' }).isDisabled());
    await page.getByLabel('Slow from').fill('1.5s');
    await page.getByText('= 1,500 milliseconds').waitFor();
    await page.getByLabel('Slow from').fill('1us');
    await page.keyboard.press('Enter');
    await page.getByText('Requests of both APIs that take 1µs or longer.').first().waitFor();
    await mayfly.api('POST', '/databases/shop/containers/carts/query', { sql: 'SELECT * FROM c WHERE c.total * 2 = 7 ORDER BY c.user' });
    await mayfly.api('POST', '/databases/shop/containers/visits/query', { find: { filter: { secret: 'hidden' } } });
    const query = page.getByRole('button', { name: /SELECT \* FROM c WHERE/ }).first();
    await query.waitFor();
    await query.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Plan' }).waitFor();
    await page.getByText(/walk .*order c\.user/s).waitFor();
    assert.equal(await page.getByText('hidden', { exact: true }).count(), 0, 'values are hidden');
    await page.fits();
    await page.accessible();
    await page.shot(`operations-slow-${look.name}`, { fullPage: true });
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('Slow requests are not kept.').first().waitFor();
    await page.done();
  });
});

test('connections are listed and filtered', async (t) => {
  await everyLook(t, async (look) => {
    const page = await chrome.open(mayfly, { ...look, at: '/#/operations/connections' });
    await page.getByRole('row', { name: /Admin.*Chrom/ }).first().waitFor();
    await page.fits();
    await page.accessible();
    await page.shot(`operations-connections-${look.name}`);
    await page.getByRole('radio', { name: /MongoDB/ }).check();
    await page.getByText('No connections').waitFor();
    await page.done();
  });
});

test('the audit trail: newest first, filtered, older ones, exported', async (t) => {
  const own = await startMayfly(`--clock=virtual=${start}`);
  t.after(() => own.stop());
  await own.api('POST', '/databases', { id: 'shop' });
  await own.api('POST', '/databases/shop/containers', { id: html, partitionKey: { paths: ['/id'] } });
  const lifetime = `/databases/shop/containers/${encodeURIComponent(html)}/lifetime`;
  for (let i = 1; i <= 121; i++) await own.api('PUT', lifetime, { defaultTtl: i });
  const total = 123;
  await everyLook(t, async (look) => {
    const page = await chrome.open(own, { ...look, at: '/#/operations/audit' });
    const rows = page.getByRole('row');
    await page.getByText('100 changes', { exact: true }).waitFor();
    assert.match(await rows.nth(1).innerText(), /replace container/);
    await rows.nth(1).getByText(`shop/${html}`).waitFor();
    await page.fits();
    await page.accessible();
    await page.shot(`operations-audit-${look.name}`);
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText(`${total} changes`, { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Older' }).count(), 0);
    assert.match(await rows.last().innerText(), /create database\s+shop/);
    await page.getByLabel('Filter').last().fill('create container');
    await page.getByText('Nothing matches').waitFor();
    await page.getByLabel('Filter').last().fill('"AFTER":121');
    await page.getByText(`1 of ${total} changes read so far`).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export all' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8').trim().split('\n').map(JSON.parse);
    assert.deepEqual([lines.length, lines[0].action, lines.at(-1).number], [total, 'create', total]);
    await page.done();
  });
});

test('new changes appear by themselves', async () => {
  const page = await chrome.open(mayfly, { at: '/#/operations/audit' });
  await page.getByRole('cell', { name: 'shop/carts' }).first().waitFor();
  await mayfly.api('POST', '/databases', { id: 'later' });
  await page.getByRole('cell', { name: /create database later/ }).waitFor();
  await page.done();
});

test('the three languages, and addresses that do not exist', async () => {
  for (const [language, heading] of [['pt-BR', 'Chaves da conta'], ['es', 'Claves de la cuenta']]) {
    const page = await chrome.open(mayfly, { language, at: '/#/operations/work' });
    await page.getByRole('heading', { name: heading }).waitFor();
    for (const tab of ['slow', 'connections', 'audit', 'connect']) {
      await page.goto(`${mayfly.admin}/#/operations/${tab}`);
      await page.locator('.operations .panel').first().waitFor();
      assert.doesNotMatch(await page.locator('main').innerText(), /operations\.\w+/);
    }
    await page.goto(`${mayfly.admin}/#/operations/none`);
    await page.locator('.empty').waitFor();
    await page.done();
  }
});
