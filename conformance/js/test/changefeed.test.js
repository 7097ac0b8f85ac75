// The change feed iterator: every start, every scope.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ChangeFeedStartFrom } from "@azure/cosmos";
import { connect, newContainer } from "../mayfly.js";

let client;
before(() => (client = connect(process.env.TESTED_HTTPS)));
after(() => client.dispose());

/** Reads until there is nothing new. */
async function drain(iterator) {
  const ids = [];
  for (let i = 0; i < 1000; i++) {
    const page = await iterator.readNext();
    if (page.statusCode === 304) return { ids, continuation: page.continuationToken };
    assert.equal(page.statusCode, 200);
    assert.ok(page.result.length > 0 && page.requestCharge > 0);
    ids.push(...page.result.map((item) => item.id));
  }
  throw new Error("the feed has no end");
}

async function filled() {
  const container = await newContainer(client);
  for (let i = 0; i < 6; i++) await container.items.create({ id: `${i}`, pk: `k${i % 2}` });
  return container;
}

const from = (container, changeFeedStartFrom, maxItemCount) =>
  container.items.getChangeFeedIterator({ changeFeedStartFrom, maxItemCount });

test("from the beginning, whole container, by pages", async () => {
  const container = await filled();
  const { ids } = await drain(from(container, ChangeFeedStartFrom.Beginning(), 2));
  assert.deepEqual(ids, ["0", "1", "2", "3", "4", "5"]);
});

test("from a continuation", async () => {
  const container = await filled();
  const { continuation } = await drain(from(container, ChangeFeedStartFrom.Beginning()));
  await container.items.upsert({ id: "2", pk: "k0", again: true });
  await container.item("3", "k1").delete();
  const { ids } = await drain(from(container, ChangeFeedStartFrom.Continuation(continuation)));
  assert.deepEqual(ids, ["2"]);
  const all = await drain(from(container, ChangeFeedStartFrom.Beginning()));
  assert.deepEqual(all.ids, ["0", "1", "4", "5", "2"]);
});

test("from now", async () => {
  const container = await filled();
  const iterator = from(container, ChangeFeedStartFrom.Now());
  assert.equal((await iterator.readNext()).statusCode, 304);
  await container.items.create({ id: "new", pk: "k0" });
  assert.deepEqual((await drain(iterator)).ids, ["new"]);
});

test("from a time", async () => {
  const container = await filled();
  await pause(2100);
  const between = new Date();
  await pause(1100);
  await container.items.create({ id: "new", pk: "k0" });
  assert.deepEqual((await drain(from(container, ChangeFeedStartFrom.Time(between)))).ids, ["new"]);
});

test("of a partition key", async () => {
  const container = await filled();
  const { ids, continuation } = await drain(from(container, ChangeFeedStartFrom.Beginning("k1"), 1));
  assert.deepEqual(ids, ["1", "3", "5"]);
  await container.items.create({ id: "other", pk: "k0" });
  await container.items.create({ id: "same", pk: "k1" });
  assert.deepEqual((await drain(from(container, ChangeFeedStartFrom.Continuation(continuation)))).ids, ["same"]);
});

test("of feed ranges, together the whole", async () => {
  const container = await filled();
  const ranges = await container.getFeedRanges();
  assert.ok(ranges.length >= 1);
  const seen = [];
  for (const range of ranges) seen.push(...(await drain(from(container, ChangeFeedStartFrom.Beginning(range)))).ids);
  assert.deepEqual(seen.sort(), ["0", "1", "2", "3", "4", "5"]);
});

test("of sub-ranges that cut through the one physical range", async () => {
  const container = await newContainer(client, { partitionKey: { paths: ["/pk"], version: 2 } });
  for (let i = 0; i < 30; i++) await container.items.create({ id: `${i}`, pk: `key ${i}` });
  const [{ constructor: FeedRange }] = await container.getFeedRanges(); // not exported
  const seen = [];
  for (const [minInclusive, maxExclusive] of [["", "15"], ["15", "2A"], ["2A", "FF"]]) {
    seen.push(...(await drain(from(container, ChangeFeedStartFrom.Beginning(new FeedRange(minInclusive, maxExclusive))))).ids);
  }
  assert.deepEqual(seen.map(Number).sort((a, b) => a - b), Array.from({ length: 30 }, (_, i) => i));
});

test("of a prefix of hierarchical keys", async () => {
  const container = await newContainer(client, { partitionKey: { paths: ["/a", "/b"], kind: "MultiHash", version: 2 } });
  for (const [id, a, b] of [["0", "x", 1], ["1", "x", 2], ["2", "y", 1]]) await container.items.create({ id, a, b });
  assert.deepEqual((await drain(from(container, ChangeFeedStartFrom.Beginning(["x"])))).ids, ["0", "1"]);
  assert.deepEqual((await drain(from(container, ChangeFeedStartFrom.Beginning(["x", 2])))).ids, ["1"]);
});

test("the older iterator", async () => {
  const container = await filled();
  const iterator = container.items.changeFeed("k0", { startFromBeginning: true, maxItemCount: 2 });
  const ids = [];
  while (iterator.hasMoreResults) {
    const page = await iterator.fetchNext();
    if (page.statusCode === 304) break;
    ids.push(...page.result.map((item) => item.id));
  }
  assert.deepEqual(ids, ["0", "2", "4"]);
});
