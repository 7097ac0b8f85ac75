// The view query: both languages, results, plans, pages, cancel, history, export, pipelines.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { everyLook, startBrowser, startMayfly } from './harness.js';

let mayfly;
let chrome;
const carts = '/databases/shop/containers/carts';
const visits = '/databases/shop/containers/visits';

before(async () => {
  [mayfly, chrome] = await Promise.all([startMayfly('--clock=virtual=2026-01-02T03:04:05Z'), startBrowser()]);
  await mayfly.api('POST', '/databases', { id: 'shop' });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'carts', partitionKey: { paths: ['/user'] }, defaultTtl: 3600 });
  await mayfly.api('POST', '/databases/shop/containers', { id: 'visits', dialect: 'mongodb' });
  const users = ['ada', 'brendan', 'grace', 'linus'];
  for (let i = 1; i <= 24; i++) {
    await mayfly.api('POST', `${carts}/items`, {
      id: `cart-${i}`, user: users[i % 4], total: i * 7, at: new Date(Date.UTC(2026, 0, i)).toISOString(),
      address: { city: i % 2 ? 'Recife' : 'Oslo', 'postal code': `${1000 + i}` }, lines: [{ sku: `s${i}`, n: i }],
      note: i === 3 ? '<img src=x onerror=alert(1)>' : i === 4 ? '=HYPERLINK("http://x")' : `note, "${i}"`, ttl: i === 5 ? 60 : undefined,
    });
    await mayfly.api('POST', `${visits}/items`, { _id: i, page: `/p${i % 3}`, n: i, big: { $numberLong: '9007199254740993' } });
  }
});
after(async () => {
  await chrome?.stop();
  await mayfly?.stop();
});

// write replaces the text of an editor.
async function write(page, label, text) {
  const editor = page.getByRole('textbox', { name: label, exact: true });
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

// twoLooks is everyLook with half of the looks, for tests whose parts the others show, too.
async function twoLooks(t, run) {
  for (const look of [{ size: 'wide', dark: false, name: 'wide-light' }, { size: 'narrow', dark: true, name: 'narrow-dark' }]) {
    await t.test(look.name, () => run(look));
  }
}

const open = (container, options = {}) => chrome.open(mayfly, { at: `/#/c/shop/${container}/query`, ...options });
const run = (page) => page.getByRole('button', { name: 'Run', exact: true }).click();

test('SQL: a table with the time left of each item, JSON and a chart', async (t) => {
  await everyLook(t, async (look) => {
    const page = await open('carts', look);
    await write(page, 'SQL query', 'SELECT * FROM c WHERE c.total < @most');
    await page.getByLabel('@most').fill('60');
    await page.keyboard.press('Control+Enter');
    const table = page.getByRole('table');
    await table.getByText('cart-3', { exact: true }).waitFor();
    await page.getByText('8 rows').waitFor();
    await page.getByText(/RU$/).waitFor();
    assert.equal(await table.getByText('<img src=x onerror=alert(1)>').count(), 1, 'HTML stays text');
    assert.equal(await table.getByRole('row').filter({ hasText: 'cart-5' }).getByText(/^1m/).count(), 1, 'a ttl of its own');
    await page.shot(`query-table-${look.name}`);
    await page.fits();
    await page.accessible();
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await page.getByText('"Recife"').first().waitFor();
    await page.shot(`query-json-${look.name}`);
    await page.fits();
    await page.accessible();
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    await page.getByRole('img', { name: /Chart of total by id: 8 points from 7 to 56/ }).waitFor();
    await page.shot(`query-chart-${look.name}`);
    await page.getByLabel('Across').selectOption('at');
    await page.getByLabel('Form').selectOption('line');
    await page.getByRole('img', { name: /Chart of total by at/ }).waitFor();
    await page.shot(`query-line-${look.name}`);
    await page.fits();
    await page.accessible();
    await page.done();
  });
});

test('an error is marked at its position, and the editor completes names', async () => {
  const page = await open('carts');
  page.expected(/400/);
  await write(page, 'SQL query', 'SELECT "é😀", FOO(c.id) FROM c');
  await run(page);
  await page.getByRole('alert').getByText(/FOO/).waitFor();
  await page.locator('.cm-lintRange-error').getByText('FOO', { exact: true }).waitFor();
  await page.shot('query-error');
  await page.accessible();
  await write(page, 'SQL query', 'SELECT * FROM c WHERE c.address.');
  await page.keyboard.type('ci');
  await page.getByRole('option', { name: /city/ }).waitFor();
  await page.shot('query-complete');
  await page.getByRole('option', { name: /city/ }).click();
  await page.keyboard.type(' = "Oslo" AND ARRAY_CONTAINS_A');
  await page.getByRole('option', { name: /ARRAY_CONTAINS_ANY/ }).waitFor();
  await page.keyboard.press('Escape');
  await write(page, 'SQL query', 'SELECT * FROM c WHERE c.address.pos');
  await page.keyboard.press('Control+Space');
  await page.getByRole('option', { name: /postal code/ }).click(); // Enter is ignored for a moment after the list opens
  await page.getByRole('textbox', { name: 'SQL query' }).getByText('c.address["postal code"]').waitFor();
  await page.done();
});

const slowQuery = 'SELECT VALUE COUNT(1) FROM c ' +
  ['a', 'b', 'd', 'e', 'f', 'g', 'h'].map((x) => `JOIN ${x} IN (SELECT VALUE [1,2,3,4,5,6,7,8,9,10,11,12])`).join(' ');

test('a slow query is cancelled by Escape', async () => {
  const page = await open('carts');
  await write(page, 'SQL query', slowQuery);
  await run(page);
  await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor();
  await page.getByText('Running').waitFor();
  await page.shot('query-running');
  await page.keyboard.press('Escape');
  await page.getByText('The query was cancelled').waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  await page.done();
});

test('Escape counts as soon as there is something to cancel', async () => {
  const page = await open('carts');
  await write(page, 'SQL query', slowQuery);
  await page.evaluate(() => new MutationObserver((_, observer) => {
    if (!document.querySelector('.query-actions .danger')) return;
    observer.disconnect();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }));
  }).observe(document.body, { childList: true, subtree: true }));
  await run(page);
  await page.getByText('The query was cancelled').waitFor();
  await page.done();
});

test('pages, forwards and back', async () => {
  const page = await open('carts');
  await page.getByLabel('Rows in a page').selectOption('20');
  await run(page);
  await page.getByText('1–20').waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('21–24').waitFor();
  await page.getByText('4 rows').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Next page' }).isDisabled());
  await page.getByRole('button', { name: 'Previous page' }).click();
  await page.getByText('1–20').waitFor();
  await page.getByRole('button', { name: 'Row 4', exact: true }).click();
  await page.getByRole('dialog', { name: 'Row 4' }).getByText('"=HYPERLINK').waitFor();
  await page.accessible();
  await page.done();
});

test('plans of both languages mark what no index serves', async (t) => {
  await twoLooks(t, async (look) => {
    const page = await open('carts', look);
    await write(page, 'SQL query', 'SELECT c.user, COUNT(1) AS n FROM c JOIN l IN c.lines WHERE UPPER(c.note) = c.user GROUP BY c.user');
    await page.getByRole('button', { name: 'Plan' }).click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('⚠ no index').waitFor();
    await plan.getByText('Read every item').waitFor();
    await page.shot(`query-plan-${look.name}`);
    await page.fits();
    await page.accessible();
    await write(page, 'SQL query', 'SELECT * FROM c WHERE c.total = 7');
    await page.getByRole('button', { name: 'Plan' }).click();
    await plan.getByText('/total/? = 7').first().waitFor();
    assert.equal(await plan.getByText('⚠ no index').count(), 0);
    await page.getByRole('button', { name: 'Find' }).click();
    await write(page, 'Filter', '{ "total": { "$gt": 3 } }');
    await write(page, 'Sort', '{ "total": -1 }');
    await page.getByRole('button', { name: 'Plan' }).click();
    await plan.getByText('COLLSCAN').first().waitFor();
    await plan.getByText('⚠ no index').waitFor();
    await plan.getByText('in memory').waitFor();
    await page.shot(`query-plan-find-${look.name}`);
    await page.fits();
    await page.accessible();
    await page.done();
  });
});

test('MongoDB find: validated, with big integers kept', async (t) => {
  await twoLooks(t, async (look) => {
    const page = await open('visits', look);
    await page.getByRole('button', { name: 'Find', pressed: true }).waitFor();
    await write(page, 'Filter', '{ "big": 9007199254740993, "n": { "$lt" 4 } }');
    await page.getByText(/Not valid/).first().waitFor();
    await page.shot(`query-find-wrong-${look.name}`);
    await write(page, 'Filter', '{ "big": 9007199254740993, "n": { "$lt": 4 } }');
    await write(page, 'Sort', '{ "n": -1 }');
    await page.getByLabel('Limit').fill('2');
    await run(page);
    await page.getByText('2 rows').waitFor();
    assert.equal(await page.getByRole('cell', { name: '9007199254740993' }).count(), 2);
    assert.equal(await page.getByRole('cell', { name: 'never' }).count(), 2, 'no lifetime');
    await page.shot(`query-find-${look.name}`);
    await page.fits();
    await page.accessible();
    await page.done();
  });
});

test('a pipeline stage by stage, with previews, and as text', async (t) => {
  await everyLook(t, async (look) => {
    const page = await open('visits', look);
    await page.getByRole('button', { name: 'Aggregate' }).click();
    await write(page, 'Stage 1: argument', '{ "n": { "$gt": 3 } }');
    const preview = (n) => page.getByRole('region', { name: `Documents after Stage ${n}` });
    await preview(1).getByText('The first 5 documents').waitFor();
    await preview(1).getByText('9007199254740993').first().waitFor();
    await page.getByRole('button', { name: 'Add a stage' }).click();
    await page.getByLabel('Stage 2: operator').selectOption('$group');
    await write(page, 'Stage 2: argument', '{ "_id": "$page", "sum": { "$sum": "$n" } }');
    await preview(2).getByText('"sum"').first().waitFor();
    await page.getByRole('button', { name: 'Add a stage' }).click();
    await page.getByLabel('Stage 3: operator').selectOption('$sort');
    await preview(3).getByText('The first 3 documents').waitFor();
    await page.shot(`query-stages-${look.name}`, { fullPage: true });
    await page.fits();
    await page.accessible();
    await page.getByRole('button', { name: 'Move Stage 3 up' }).click();
    assert.equal(await page.getByLabel('Stage 2: operator').inputValue(), '$sort');
    await page.getByRole('listitem', { name: 'Stage 2' }).getByLabel('Enabled').uncheck();
    await preview(2).getByText('This stage is disabled').waitFor();
    await page.getByRole('button', { name: 'Text' }).click();
    const text = page.getByRole('textbox', { name: 'Pipeline', exact: true });
    await text.getByText('// {"$sort":{"_id":1}}').waitFor();
    await write(page, 'Pipeline', '[\n  { "$match": { "n": 4 } },\n  // {"$skip":1}\n  { "$project": { "big": 1 } }\n]');
    await page.getByRole('button', { name: 'Stages' }).click();
    assert.equal(await page.getByLabel('Stage 2: operator').inputValue(), '$skip');
    assert.equal(await page.getByRole('listitem', { name: 'Stage 2' }).getByLabel('Enabled').isChecked(), false);
    await page.getByRole('button', { name: 'Remove Stage 2' }).click();
    await run(page);
    await page.getByText(/^1 row/).waitFor();
    await page.getByRole('cell', { name: '9007199254740993' }).waitFor();
    await page.done();
  });
});

test('a pipeline that writes is not previewed, and asks before it runs', async () => {
  const page = await open('visits');
  await page.getByRole('button', { name: 'Aggregate' }).click();
  await page.getByRole('button', { name: 'Add a stage' }).click();
  await page.getByLabel('Stage 2: operator').selectOption('$out');
  await write(page, 'Stage 2: argument', '"visits-copy"');
  await page.getByText('This stage writes, so there is no preview').waitFor();
  await run(page);
  const ask = page.getByRole('dialog', { name: 'This pipeline writes' });
  await ask.getByText('It replaces everything in visits-copy').waitFor();
  await page.keyboard.press('Escape');
  await assert.rejects(mayfly.api('GET', '/databases/shop/containers/visits-copy'), /404/);
  await run(page);
  await ask.getByRole('button', { name: 'Run' }).click();
  await page.getByText('Written to visits-copy').waitFor();
  await page.getByRole('link', { name: 'visits-copy' }).waitFor();
  assert.equal((await mayfly.api('GET', '/databases/shop/containers/visits-copy')).items, 24);
  await mayfly.api('DELETE', '/databases/shop/containers/visits-copy');
  await page.done();
});

test('who may only read runs no pipeline that writes', async () => {
  const page = await chrome.open(mayfly);
  await page.route('**/_mayfly/v1/session', (route) => route.fulfill({ json: { needsKey: false, signedIn: false, write: false } }));
  await page.goto(`${mayfly.admin}/#/c/shop/visits/query`);
  await page.reload();
  await page.getByRole('button', { name: 'Aggregate' }).click();
  await page.getByLabel('Stage 1: operator').selectOption('$out');
  await page.getByText('The pipeline writes, and you may only read').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled());
  await page.done();
});

test('history and saved queries survive a reload, each for its container', async () => {
  const page = await open('carts');
  await write(page, 'SQL query', 'SELECT c.total FROM c WHERE c.user = "ada"');
  await run(page);
  await page.getByText('6 rows').waitFor();
  await page.getByRole('button', { name: 'Save query' }).click();
  await page.getByLabel('Name').fill('Totals of Ada');
  await page.keyboard.press('Enter');
  await page.getByText('Saved as Totals of Ada').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'History' }).click();
  const dialog = page.getByRole('dialog', { name: 'History' });
  await dialog.getByRole('region', { name: 'Saved queries' }).getByText('Totals of Ada').waitFor();
  await page.shot('query-history');
  await page.accessible();
  await dialog.getByRole('region', { name: 'History' }).getByText('SELECT c.total FROM c').click();
  await run(page);
  await page.getByText('6 rows').waitFor();
  await page.goto(`${mayfly.admin}/#/c/shop/visits/query`);
  await page.getByRole('button', { name: 'SQL' }).click();
  await page.getByRole('button', { name: 'History' }).click();
  await dialog.getByText('Nothing has been run on this container yet').waitFor();
  await page.keyboard.press('Escape');
  await write(page, 'SQL query', 'SELECT TOP 3 c.n, c.big FROM c ORDER BY c.n');
  await run(page);
  await page.getByText('3 rows').waitFor();
  await page.done();
});

// exported is the text of the file that an entry of the menu Export saves.
async function exported(page, entry) {
  await page.getByRole('button', { name: 'Export' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: entry }).click()]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

test('export as CSV and JSON lines, of a page and of all pages', async () => {
  const page = await open('carts');
  await page.getByLabel('Rows in a page').selectOption('20');
  await write(page, 'SQL query', 'SELECT c.id, c.note, -1 AS minus, c.address FROM c');
  await run(page);
  await page.getByText('20 rows').waitFor();
  const csv = await exported(page, 'CSV, loaded rows');
  assert.equal(csv.name, 'shop-carts.csv');
  const lines = csv.text.split('\r\n');
  assert.equal(lines[0], 'id,note,minus,address');
  assert.equal(lines[1], 'cart-1,"note, ""1""",-1,"{""city"":""Recife"",""postal code"":""1001""}"');
  assert.equal(lines[4], `cart-4,"'=HYPERLINK(""http://x"")",-1,"{""city"":""Oslo"",""postal code"":""1004""}"`);
  assert.equal(lines.length, 22, 'a head, 20 rows, and nothing after the last line');
  assert.equal((await exported(page, 'CSV, all pages')).text.split('\r\n').length, 26);
  const json = await exported(page, 'JSON lines, all pages');
  assert.equal(json.text.trim().split('\n').length, 24);
  assert.deepEqual(JSON.parse(json.text.split('\n')[1]).id, 'cart-2');
  await page.done();
});

test('a row fades when its item expires', async () => {
  const page = await open('carts');
  await write(page, 'SQL query', 'SELECT * FROM c WHERE c.id = "cart-5"');
  await run(page);
  await page.getByText('1m', { exact: true }).waitFor();
  await mayfly.api('POST', '/clock/advance', { duration: '61s' });
  await page.getByRole('cell', { name: 'expired' }).waitFor();
  await page.locator('tr.gone').waitFor();
  await run(page);
  await page.getByText('No item matches').waitFor();
  await page.done();
});
