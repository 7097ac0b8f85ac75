// Which items are shown, and how: pages, filters, order, columns.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { at, chrome, mayfly, row, serveShop } from './items-shop.js';

serveShop();

test('pages go on and back, and their size is remembered', async () => {
  const page = await chrome.open(mayfly, { at: at('carts') });
  await page.getByText('100 items of 260').waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('Page 2').waitFor();
  await row(page, 'cart-100').waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await row(page, 'cart-259').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Next page' }).isDisabled(), 'the last page');
  await page.getByRole('button', { name: 'Previous page' }).click();
  await row(page, 'cart-199').waitFor();
  await page.getByLabel('Items in a page').selectOption('25');
  await page.getByText('25 items of 260').waitFor();
  await page.reload();
  await page.getByText('25 items of 260').waitFor();
  await page.done();
});

test('pages of a collection go on by a cursor and back by skipping', async () => {
  const page = await chrome.open(mayfly, { at: at('visits'), storage: { 'items.pageSize': 25 } });
  await row(page, '24').waitFor();
  for (const id of ['25', '50']) {
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.locator('.grid tbody tr').first().filter({ hasText: id }).waitFor();
  }
  await page.getByText('10 items of 60').waitFor();
  for (const id of ['25', '0']) {
    await page.getByRole('button', { name: 'Previous page' }).click();
    await page.locator('.grid tbody tr').first().filter({ hasText: id }).waitFor();
  }
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('.grid tbody tr').first().filter({ hasText: '0' }).waitFor();
  await page.done();
});

test('a filter in SQL, and its mistakes in place', async () => {
  const page = await chrome.open(mayfly, { at: at('carts') });
  page.expected(/400/);
  await row(page, 'cart-000').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('c.total > 385 AND c.user = "ada"');
  await page.keyboard.press('Enter');
  await page.getByText('Page 1 · 1 item').waitFor();
  await row(page, 'cart-258').waitFor();
  await page.getByLabel('Condition in SQL').fill('c.total >>');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Syntax error' }).waitFor();
  await page.shot('items-filter-error');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('100 items of 260').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await page.done();
});

test('a filter of MongoDB, and its mistakes in place', async () => {
  const page = await chrome.open(mayfly, { at: at('visits') });
  page.expected(/400/);
  await row(page, '0').waitFor();
  const filter = page.getByLabel('Filter of MongoDB');
  await filter.fill('{"n": {"$gte": 58}}');
  await page.keyboard.press('Enter');
  await page.getByText('Page 1 · 2 items').waitFor();
  await filter.fill('{n: 1}');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'The filter is not JSON' }).waitFor();
  await filter.fill('{"n": {"$foo": 1}}');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'unknown operator: $foo' }).waitFor();
  await page.done();
});

test('columns sort where an index allows, and say so where none does', async () => {
  const page = await chrome.open(mayfly, { at: at('carts') });
  page.expected(/400/);
  await row(page, 'cart-000').waitFor();
  await page.getByRole('columnheader', { name: 'total' }).getByRole('button').click();
  await page.locator('th[aria-sort=ascending]').waitFor();
  await page.getByRole('columnheader', { name: 'total' }).getByRole('button').click();
  await page.locator('.grid tbody tr').first().filter({ hasText: 'cart-259' }).waitFor();
  await page.getByRole('columnheader', { name: 'note' }).getByRole('button').click();
  await page.getByRole('alert').filter({ hasText: 'order-by item is excluded' }).waitFor();
  await page.getByRole('button', { name: 'Remove the order' }).click();
  await page.locator('.grid tbody tr').first().filter({ hasText: 'cart-000' }).waitFor();

  await page.goto(mayfly.admin + at('visits'));
  await page.getByRole('columnheader', { name: 'at' }).getByRole('button').click();
  await page.locator('th[aria-sort=ascending]').waitFor();
  await page.getByRole('columnheader', { name: 'page' }).getByRole('button').click();
  await page.getByText('There is no index on page').waitFor();
  await page.getByRole('button', { name: 'Sort anyway' }).click();
  await page.locator('.grid tbody tr').first().filter({ hasText: '/p/0' }).waitFor();
  await page.done();
});

test('columns are chosen by path, and remembered', async () => {
  const page = await chrome.open(mayfly, { at: at('carts') });
  await row(page, 'cart-000').waitFor();
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByLabel('address.city').check();
  await page.getByLabel('note', { exact: true }).uncheck();
  assert.ok(await page.getByLabel('id', { exact: true }).isDisabled(), 'the id stays');
  await page.shot('items-columns');
  await page.accessible();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByRole('columnheader', { name: 'address.city' }).waitFor();
  assert.match(await row(page, 'cart-001').innerText(), /Bogotá/);
  assert.equal(await page.getByRole('columnheader', { name: 'note' }).count(), 0);
  await page.done();
});

