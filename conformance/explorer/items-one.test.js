// One item: created, changed, compared in a conflict, extended, explained, deleted; and many, imported and exported.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { addContainer, at, chrome, editor, fill, mayfly, row, serveShop, shop, start, write } from './items-shop.js';

serveShop();

test('an item is created, changed, duplicated and deleted by keyboard', async () => {
  await addContainer(mayfly, 'made', { defaultTtl: -1 });
  const page = await chrome.open(mayfly, { at: at('made') });
  await page.getByText('No items yet').waitFor();
  await page.shot('items-empty');
  await page.keyboard.press('n');
  await write(editor(page), '{"id": "one", "user": "ada" "big": 1}');
  await page.getByText(/Line 1, column 29: /).waitFor();
  await page.shot('items-syntax');
  assert.ok(await page.getByRole('button', { name: 'Create', exact: true }).isDisabled());
  await write(editor(page), '{"id": "one", "user": "ada", "big": 12345678901234567890, "html": "<img src=x onerror=alert(1)>"}');
  await page.keyboard.press('Control+s');
  await page.getByText('Item one · ada created').waitFor();
  await page.getByRole('region', { name: 'one · ada' }).waitFor();
  assert.equal(await editor(page).getByText('_rid').count(), 0, 'system members are hidden');
  assert.match(await row(page, 'one').innerText(), /<img src=x onerror=alert\(1\)>/);
  await editor(page).getByText('"ada"').waitFor();
  await write(editor(page), '{"id": "one", "user": "ada", "n": 2, "ttl": 600}');
  await page.keyboard.press('Control+s');
  await page.getByText('Item one · ada saved').waitFor();
  await row(page, 'one').filter({ hasText: '10m' }).waitFor();
  await page.getByLabel('Show system members').check();
  await editor(page).getByText('_attachments').waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Duplicate' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText(/created/).last().waitFor();
  await page.locator('.grid tbody tr').nth(1).waitFor();
  assert.equal((await mayfly.api('GET', `${shop}/made/items`)).items.length, 2);
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.keyboard.press('k');
  await page.getByRole('button', { name: 'Open one' }).focus();
  await page.keyboard.press('Delete');
  await page.getByRole('dialog').getByText('This deletes the item one · ada').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row(page, 'one').waitFor({ state: 'detached' });
  assert.equal((await mayfly.api('GET', `${shop}/made/items`)).items.length, 1);
  await page.done();
});

test('a conflict shows both versions', async (t) => {
  await addContainer(mayfly, 'conflicts');
  for (const [look, button, wanted] of [[{}, 'Keep mine', 'mine'], [{ size: 'narrow', dark: true }, 'Take theirs', 'theirs']]) {
    await t.test(button, async () => {
      await mayfly.api('POST', `${shop}/conflicts/items?upsert=true`, { id: 'x', user: 'ada', value: 'first' });
      const page = await chrome.open(mayfly, { ...look, at: at('conflicts', '?id=x&pk=%5B%22ada%22%5D') });
      page.expected(/412/);
      await editor(page).getByText('"first"').waitFor();
      await mayfly.api('PUT', `${shop}/conflicts/items/x`, { id: 'x', user: 'ada', value: 'theirs' });
      await write(editor(page), '{\n  "id": "x",\n  "user": "ada",\n  "value": "mine"\n}');
      await page.getByRole('button', { name: 'Save' }).click();
      const dialog = page.getByRole('dialog', { name: 'The item has changed meanwhile' });
      await dialog.getByLabel('Stored now').getByText('theirs').waitFor();
      await dialog.getByLabel('Your version').getByText('mine').waitFor();
      await page.shot(`items-conflict-${wanted}`);
      await page.fits();
      await page.accessible();
      await dialog.getByRole('button', { name: button }).click();
      await dialog.waitFor({ state: 'detached' });
      await editor(page).getByText(`"${wanted}"`).waitFor();
      assert.equal((await mayfly.api('GET', `${shop}/conflicts/items/x`)).value, wanted);
      await page.done();
    });
  }
});

test('unsaved changes are not lost by accident', async () => {
  await addContainer(mayfly, 'drafts');
  await fill(mayfly, 'drafts', [{ id: 'a', user: 'ada' }, { id: 'b', user: 'ada' }]);
  const page = await chrome.open(mayfly, { at: at('drafts', '?id=a') });
  await editor(page).getByText('"a"').waitFor();
  await write(editor(page), '{"id": "a", "user": "ada", "x": 1}');
  await page.getByRole('button', { name: 'Open b' }).click();
  const ask = page.getByRole('dialog', { name: 'Changes are not saved' });
  await ask.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForURL(/id=a/);
  await editor(page).getByText('"x"').waitFor();
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await ask.getByRole('button', { name: 'Discard the changes' }).click();
  await editor(page).waitFor({ state: 'detached' });
  await page.done();
});

test('unsaved changes stay when another place is chosen', async () => {
  await addContainer(mayfly, 'left');
  await fill(mayfly, 'left', [{ id: 'a', user: 'ada' }]);
  const page = await chrome.open(mayfly, { at: at('left', '?id=a') });
  await editor(page).getByText('"a"').waitFor();
  await write(editor(page), '{"id": "a", "user": "ada", "x": 1}');
  const ask = page.getByRole('dialog', { name: 'Changes are not saved' });
  const tab = page.getByRole('link', { name: 'Query', exact: true });
  await tab.click();
  await ask.waitFor();
  await page.accessible();
  await ask.getByRole('button', { name: 'Cancel' }).click();
  await ask.waitFor({ state: 'detached' });
  assert.match(page.url(), /left\/items\?id=a/);
  await editor(page).getByText('"x"').waitFor();
  await tab.click();
  await ask.getByRole('button', { name: 'Discard the changes' }).click();
  await page.waitForURL(/left\/query/);
  await editor(page).waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.goBack();
  await editor(page).getByText('"a"').waitFor();
  await page.done();
});

test('a life is extended, and the reason of an end is told in place', async () => {
  await addContainer(mayfly, 'lives', { defaultTtl: 100 });
  await fill(mayfly, 'lives', [{ id: 'x', user: 'ada' }, { id: 'y', user: 'ada', ttl: -1 }]);
  const page = await chrome.open(mayfly, { at: at('lives') });
  await page.getByRole('button', { name: 'Open x' }).focus();
  await page.keyboard.press('w');
  await page.getByText('The default of the container ends this item').first().waitFor();
  await page.shot('items-why');
  await page.accessible();
  await page.keyboard.press('j');
  await page.keyboard.press('w');
  await page.getByText('This item has a ttl of -1, so it never expires.').first().waitFor();
  await page.getByText('Write the item with a ttl in seconds').waitFor();
  await page.keyboard.press('w');
  await mayfly.api('POST', '/clock/advance', { duration: '60s' });
  await row(page, 'x').filter({ hasText: /x\s*40s/ }).waitFor();
  await page.keyboard.press('k');
  await page.keyboard.press('e');
  await page.getByLabel('Write it again: 1 minute 40 seconds from now').waitFor();
  await page.shot('items-extend');
  await page.accessible();
  await page.getByRole('dialog').getByRole('button', { name: 'Extend life' }).click();
  await page.getByText(/x · ada now ends in 1m 40s/).waitFor();
  await row(page, 'x').filter({ hasText: '1m 40s' }).waitFor();
  await page.keyboard.press('e');
  await page.getByLabel('Give it a ttl of its own').check();
  await page.getByLabel(/Life of an item/).fill('2d');
  await page.getByRole('dialog').getByRole('button', { name: 'Extend life' }).click();
  await row(page, 'x').filter({ hasText: '2d' }).waitFor();
  assert.equal((await mayfly.api('GET', `${shop}/lives/items/x`)).ttl, 172800);
  await page.done();
});

test('a document of MongoDB keeps the types of what was not changed', async () => {
  const page = await chrome.open(mayfly, { at: at('visits') });
  page.expected(/412/);
  await page.getByRole('button', { name: 'Open 7', exact: true }).click();
  await editor(page).getByText('"long"').waitFor();
  await page.shot('items-mongo');
  const text = '{"_id": 7, "page": "changed", "at": {"$date": "2026-01-02T03:14:05Z"}, "long": 5, "n": 7.5}';
  await write(editor(page), text);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/Item .* saved/).waitFor();
  assert.deepEqual(await mayfly.api('GET', `${shop}/visits/items/7?format=canonical`), { _id: { $numberInt: '7' }, page: 'changed',
    at: { $date: { $numberLong: String((start + 600) * 1000) } }, long: { $numberLong: '5' }, n: { $numberDouble: '7.5' } });
  await write(editor(page), text.replace('"_id": 7', '"_id": 8'));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The _id of a document cannot be changed').waitFor();
  await page.getByRole('button', { name: 'Revert' }).click();
  await page.getByLabel('Canonical extended JSON').check();
  await editor(page).getByText('"$numberDouble"').waitFor();
  await page.getByLabel('Canonical extended JSON').uncheck();
  await editor(page).getByText('"$numberDouble"').first().waitFor({ state: 'detached' });
  await mayfly.api('PUT', `${shop}/visits/items/7`, { page: 'theirs', at: { $date: '2026-01-02T03:14:05Z' } });
  await write(editor(page), text);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog', { name: 'The item has changed meanwhile' }).getByRole('button', { name: 'Take theirs' }).click();
  await editor(page).getByText('"theirs"').waitFor();
  await page.getByRole('button', { name: 'Extend life' }).click();
  await page.getByLabel('Set at to now: 10 minutes from then').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Extend life' }).click();
  await page.getByText(/now ends in 10m/).waitFor();
  await editor(page).getByText('"theirs"').waitFor();
  await write(editor(page), '{"_id": 7, "page": "after"}');
  await page.getByRole('button', { name: 'Save' }).click();
  await row(page, '7').filter({ hasText: 'after' }).waitFor();
  await page.done();
});

// addDocuments makes a collection of a test's own.
async function addDocuments(id, documents, indexes = []) {
  await mayfly.api('POST', shop, { id, dialect: 'mongodb', indexes });
  for (const document of documents) await mayfly.api('POST', `${shop}/${id}/items`, document);
}

const dates = [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 600 }];

test('a write that comes just before a save or an extension of a document is not lost', async () => {
  await addDocuments('raced', [{ _id: 'x', at: { $date: '2026-01-02T03:14:05Z' }, n: 1 }], dates);
  const page = await chrome.open(mayfly, { at: at('raced', '?id=x') });
  page.expected(/412/);
  await editor(page).getByText('"n"').waitFor();
  let raced = false;
  await page.route('**/raced/items/x*', async (route) => {
    if (route.request().method() === 'PUT' && !raced) {
      raced = true;
      await mayfly.api('PUT', `${shop}/raced/items/x`, { at: { $date: '2026-01-02T03:14:05Z' }, n: 'theirs' });
    }
    await route.continue();
  });
  await write(editor(page), '{"_id": "x", "at": {"$date": "2026-01-02T03:14:05Z"}, "n": "mine"}');
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog', { name: 'The item has changed meanwhile' });
  await dialog.getByLabel('Stored now').getByText('theirs').waitFor();
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await page.getByText('Item x saved').waitFor();
  assert.equal((await mayfly.api('GET', `${shop}/raced/items/x`)).n, 'mine');

  await page.getByRole('button', { name: 'Extend life' }).click();
  await page.getByLabel('Set at to now').waitFor();
  await mayfly.api('PUT', `${shop}/raced/items/x`, { at: { $date: '2026-01-02T03:14:05Z' }, n: 'again theirs' });
  const extend = page.getByRole('dialog').getByRole('button', { name: 'Extend life' });
  await extend.click();
  await page.getByText('Look at it again, then extend its life').waitFor();
  const extended = page.getByText(/x now ends in/);
  for (let i = 0; i < 10 && !(await extended.isVisible()); i++) { // the dialog has to read the item again first
    await extend.click({ timeout: 1000 }).catch(() => {});
    await extended.waitFor({ timeout: 1000 }).catch(() => {});
  }
  await extended.waitFor();
  assert.equal((await mayfly.api('GET', `${shop}/raced/items/x`)).n, 'again theirs');
  await page.done();
});

test('a duplicate of a document, and one that is created again, keep the types of numbers', async () => {
  const typed = { long: { $numberLong: '5' }, double: { $numberDouble: '5.0' }, int: { $numberInt: '5' } };
  await addDocuments('typed', [{ _id: { $numberLong: '1' }, ...typed, in: [typed] }, { _id: { $numberLong: '2' }, ...typed }]);
  const page = await chrome.open(mayfly, { at: at('typed') });
  page.expected(/404/);
  await page.getByRole('button', { name: 'Open 1', exact: true }).click();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Duplicate' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.locator('.grid tbody tr').nth(2).waitFor();
  const { items } = await mayfly.api('GET', `${shop}/typed/items?format=canonical`);
  const { _id, ...copy } = items.find((item) => item._id.$oid);
  assert.deepEqual(copy, { ...typed, in: [typed] });

  await page.getByRole('button', { name: 'Open 2', exact: true }).click();
  await page.getByRole('region', { name: '2', exact: true }).getByLabel('Item as JSON').waitFor();
  await mayfly.api('DELETE', `${shop}/typed/items/2`);
  await write(editor(page), '{"_id": 2, "long": 5, "double": 5, "int": 5, "again": true}');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Create it again' }).click();
  await page.getByText('Item 2 saved').waitFor();
  assert.deepEqual(await mayfly.api('GET', `${shop}/typed/items/2?format=canonical`), { _id: { $numberLong: '2' }, ...typed, again: true });
  await page.done();
});

test('a document of any _id is deleted from its panel, and its row goes', async () => {
  const ids = { 5: { $numberInt: '5' }, 6: { $numberLong: '6' }, 7.5: { $numberDouble: '7.5' }, text: 'text',
    '9007199254740993': { $numberLong: '9007199254740993' }, '100000000000000000000': { $numberDouble: '1e20' },
    '2026-01-02T03:04:05.500Z': { $date: '2026-01-02T03:04:05.5Z' }, '{"a":5}': { a: { $numberLong: '5' } } };
  await addDocuments('named', Object.values(ids).map((_id) => ({ _id })));
  const page = await chrome.open(mayfly, { at: at('named') });
  let left = Object.keys(ids).length;
  for (const label of Object.keys(ids)) {
    await page.getByRole('button', { name: `Open ${label}`, exact: true }).click();
    const panel = page.getByRole('region', { name: label, exact: true });
    await panel.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: `Open ${label}`, exact: true }).waitFor({ state: 'detached' });
    assert.equal((await mayfly.api('GET', `${shop}/named/items`)).items.length, --left, label);
  }
  await page.done();
});

test('nothing typed is lost while an item is saved, nor by a second conflict', async () => {
  await addContainer(mayfly, 'slow');
  await mayfly.api('POST', `${shop}/slow/items`, { id: 'x', user: 'ada', value: 'first' });
  const page = await chrome.open(mayfly, { at: at('slow', '?id=x&pk=%5B%22ada%22%5D') });
  page.expected(/412/);
  await editor(page).getByText('"first"').waitFor();
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await page.route('**/slow/items/x*', async (route) => {
    if (route.request().method() === 'PUT') await held;
    await route.continue();
  });
  const text = (value) => `{\n  "id": "x",\n  "user": "ada",\n  "value": "${value}"\n}`;
  await write(editor(page), text('second'));
  await page.keyboard.press('Control+s');
  await page.keyboard.type('typed meanwhile');
  await page.locator('[aria-label="Item as JSON"][aria-readonly="true"]').waitFor();
  assert.equal(await editor(page).getByText('typed meanwhile').count(), 0, 'the editor takes no text that the answer would replace');
  release();
  await page.getByText('Item x · ada saved').waitFor();
  await page.locator('[aria-label="Item as JSON"]:not([aria-readonly="true"])').waitFor();

  await mayfly.api('PUT', `${shop}/slow/items/x`, { id: 'x', user: 'ada', value: 'theirs' });
  await write(editor(page), text('mine'));
  await page.keyboard.press('Control+s');
  const dialog = page.getByRole('dialog', { name: 'The item has changed meanwhile' });
  await write(dialog.getByLabel('Your version'), text('merged'));
  await mayfly.api('PUT', `${shop}/slow/items/x`, { id: 'x', user: 'ada', value: 'theirs again' });
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await dialog.getByLabel('Stored now').getByText('theirs again').waitFor();
  await dialog.getByLabel('Your version').getByText('merged').waitFor();
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await mayfly.api('GET', `${shop}/slow/items/x`)).value, 'merged');
  await page.done();
});

test('no date is offered where it would destroy an array', async () => {
  const date = { $date: '2026-01-02T03:14:05Z' };
  const index = (field) => ({ key: { [field]: 1 }, name: field, expireAfterSeconds: 600 });
  await addDocuments('nested', [{ _id: 'in', a: [{ at: date, x: 1 }] }, { _id: 'list', a: { at: [date] } }, { _id: 'text', a: 'text' },
    { _id: 'date', a: date }, { _id: 'plain', a: { at: date, x: 1 } }, { _id: 'none' }], [index('a.at')]);
  const page = await chrome.open(mayfly, { at: at('nested') });
  const extend = page.getByRole('dialog').getByRole('button', { name: 'Extend life' });
  for (const [name, offered] of [['in', false], ['list', false], ['text', false], ['date', false], ['plain', true], ['none', true]]) {
    await page.getByRole('button', { name: `Open ${name}`, exact: true }).focus();
    await page.keyboard.press('e');
    if (offered) {
      await page.getByLabel('Set a.at to now: 10 minutes from then').waitFor();
      await extend.click();
      await page.getByText(new RegExp(`${name} now ends in 10m`)).waitFor();
    } else {
      await page.getByText('The date that ends this item is in a list').waitFor();
      assert.ok(await extend.isDisabled());
      await page.keyboard.press('Escape');
    }
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  assert.equal((await mayfly.api('GET', `${shop}/nested/items/plain`)).a.x, 1);
  await page.done();
});

test('JSON lines are imported and exported', async () => {
  await addContainer(mayfly, 'moved');
  const page = await chrome.open(mayfly, { at: at('moved') });
  await page.getByText('No items yet').waitFor();
  await page.getByRole('button', { name: 'Import and export' }).click();
  await page.getByRole('menuitem', { name: 'Import' }).click();
  const lines = [...Array.from({ length: 300 }, (_, i) => JSON.stringify({ id: `i${i}`, user: 'ada' })), '{"user": "no id"}'];
  await page.getByLabel('File of JSON lines').setInputFiles({ name: 'x.jsonl', mimeType: 'application/x-ndjson', buffer: Buffer.from(lines.join('\n')) });
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
  await page.getByText('300 items written').waitFor();
  await page.getByRole('cell', { name: '301' }).waitFor();
  await page.shot('items-import');
  await page.accessible();
  await page.keyboard.press('Escape');
  await row(page, 'i0').waitFor();
  await page.getByRole('button', { name: 'Import and export' }).click();
  await page.getByRole('menuitem', { name: 'Export' }).click();
  const [saved] = await Promise.all([page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: 'Export' }).click()]);
  assert.equal(saved.suggestedFilename(), 'moved.jsonl');
  await page.getByText('Saved.').waitFor();
  await page.getByText('300 items,').waitFor();
  await page.done();
});

test('views and sessions that only read have no buttons that write', async () => {
  const page = await chrome.open(mayfly, { at: at('carts', '?id=cart-001') });
  await editor(page).getByText('"cart-001"').waitFor();
  await page.route('**/_mayfly/v1/session', (route) => route.fulfill({ json: { needsKey: false, signedIn: true, write: false } }));
  await page.reload();
  await editor(page).getByText('"cart-001"').waitFor();
  const none = async (...names) => {
    for (const name of names) assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  };
  await none('New item', 'Save', 'Extend life');
  assert.equal(await page.getByRole('button', { name: 'Why?' }).count(), 1);
  await page.unroute('**/_mayfly/v1/session');
  await page.route('**/databases/shop/containers', async (route) => {
    const { containers } = await (await route.fetch()).json();
    return route.fulfill({ json: { containers: containers.map((c) => (c.id === 'visits' ? { ...c, view: true } : c)) } });
  });
  await page.goto(`${mayfly.admin}${at('visits')}`);
  await page.reload();
  await page.getByText('A view of MongoDB').waitFor();
  await page.getByRole('button', { name: 'Open 1', exact: true }).click();
  await editor(page).getByText('"page"').waitFor();
  await none('New item', 'Save', 'Extend life', 'Why?', 'Import and export');
  await page.shot('items-view');
  await page.done();
});

test('text replaces a coloured selection that the editor has not heard of', async () => {
  const page = await chrome.open(mayfly, { at: at('carts', '?new=1') });
  await editor(page).getByText('"id"').waitFor();
  await page.evaluate(() => addEventListener('selectionchange', (e) => e.stopImmediatePropagation(), true));
  await editor(page).fill('{"id": "replaced"}');
  await editor(page).getByText('{"id": "replaced"}', { exact: true }).waitFor();
  await page.done();
});
