// A container with four ranges of partition keys: what the SDK sends to each of them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { BulkOperationType, ChangeFeedStartFrom } from "@azure/cosmos";
import { connect, newDatabase, refused } from "../mayfly.js";

const count = 40;
const items = Array.from({ length: count }, (_, i) => ({ id: `${i}`, pk: `key ${i}`, n: i, third: i % 3 }));
const numbers = items.map((item) => item.n);
const sorted = (list) => [...list].sort((a, b) => a - b);

let client, container;
before(async () => {
  client = connect(process.env.TESTED_HTTPS);
  const database = await newDatabase(client);
  const made = await database.containers.create(
    { id: "things", partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } },
    { initialHeaders: { "x-mayfly-partitions": "4" } },
  );
  assert.equal(made.headers["x-mayfly-partitions"], "4");
  container = made.container;
  for (const item of items) await container.items.create(item);
});
after(() => client.dispose());

/** Reads a change feed until there is nothing new in any range. */
async function drain(options) {
  const found = [];
  const iterator = container.items.getChangeFeedIterator(options);
  for (let i = 0; i < 1000; i++) {
    const page = await iterator.readNext();
    if (page.statusCode === 304) return { found, continuation: page.continuationToken };
    found.push(...page.result.map((item) => item.n));
  }
  throw new Error("the feed has no end");
}

test("the ranges", async () => {
  const { resources } = await container.readPartitionKeyRanges().fetchAll();
  assert.deepEqual(resources.map((r) => r.id), ["0", "1", "2", "3"]);
  assert.equal(resources[0].minInclusive, "");
  assert.equal(resources[3].maxExclusive, "FF");
  for (let i = 1; i < 4; i++) assert.equal(resources[i].minInclusive, resources[i - 1].maxExclusive);
  assert.deepEqual(resources.map((r) => r.throughputFraction), [0.25, 0.25, 0.25, 0.25]);
});

describe("change feed", () => {
  test("of each feed range", async () => {
    const ranges = await container.getFeedRanges();
    assert.equal(ranges.length, 4);
    const all = [];
    for (const range of ranges) {
      const { found, continuation } = await drain({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning(range), maxItemCount: 3 });
      assert.ok(found.length > 0, "a range is empty");
      all.push(...found);
      const more = await drain({ changeFeedStartFrom: ChangeFeedStartFrom.Continuation(continuation) });
      assert.deepEqual(more.found, []);
    }
    assert.deepEqual(sorted(all), numbers);
  });

  test("of the whole container, and on from there", async () => {
    const { found, continuation } = await drain({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning(), maxItemCount: 3 });
    assert.deepEqual(sorted(found), numbers);
    await container.items.upsert({ ...items[7], again: true });
    const more = await drain({ changeFeedStartFrom: ChangeFeedStartFrom.Continuation(continuation) });
    assert.deepEqual(more.found, [7]);
  });

  test("of a partition key", async () => {
    const { found } = await drain({ changeFeedStartFrom: ChangeFeedStartFrom.Beginning("key 9") });
    assert.deepEqual(found, [9]);
  });

  test("from now", async () => {
    const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom: ChangeFeedStartFrom.Now() });
    assert.equal((await iterator.readNext()).statusCode, 304);
    await container.items.upsert({ ...items[8], again: true });
    for (let i = 0; i < 8; i++) {
      const page = await iterator.readNext();
      if (page.statusCode === 304) continue;
      assert.deepEqual(page.result.map((item) => item.n), [8]);
      return;
    }
    assert.fail("the change did not come");
  });
});

test("the read feed has every item once", async () => {
  const { resources } = await container.items.readAll({ maxItemCount: 7 }).fetchAll();
  assert.deepEqual(sorted(resources.map((item) => item.n)), numbers);
});

test("a query for some partition keys", async () => {
  const query = "SELECT VALUE c.n FROM c WHERE c.pk IN ('key 1', 'key 20', 'key 33') ORDER BY c.n";
  const { resources } = await container.items.query(query).fetchAll();
  assert.deepEqual(resources, [1, 20, 33]);
});

test("bulk, with operations in every range", async () => {
  const reads = items.map((item) => ({ operationType: BulkOperationType.Read, id: item.id, partitionKey: item.pk }));
  const answers = await container.items.executeBulkOperations(reads);
  assert.deepEqual(answers.map((a) => a.response?.statusCode), items.map(() => 200));
  assert.deepEqual(answers.map((a) => a.response.resourceBody.n), numbers);
  const older = await container.items.bulk(reads);
  assert.deepEqual(older.map((a) => a.statusCode), items.map(() => 200));
});

test("batch and its session", async () => {
  const tokens = new Set();
  for (const item of items) {
    const { code, headers } = await container.items.batch([{ operationType: "Upsert", resourceBody: item }], item.pk);
    assert.equal(code, 200);
    const token = headers["x-ms-session-token"];
    tokens.add(token.split(":")[0]);
    const { resource } = await container.item(item.id, item.pk).read({ sessionToken: token });
    assert.equal(resource.n, item.n);
  }
  assert.deepEqual([...tokens].sort(), ["0", "1", "2", "3"]);
});

test("a range that the container does not have is one that was split, to the SDK", async () => {
  const missing = { initialHeaders: { "x-ms-documentdb-partitionkeyrangeid": "7" } };
  const error = await refused(503, () => container.items.readAll(missing).fetchAll());
  assert.equal(error.originalError.code, 410);
  assert.equal(error.originalError.substatus, 1002);
});

test("as many ranges as there cannot be", async () => {
  const database = await newDatabase(client);
  const error = await refused(400, () =>
    database.containers.create({ id: "things", partitionKey: "/pk" }, { initialHeaders: { "x-mayfly-partitions": "257" } }));
  assert.match(error.message, /from 1 to 256/);
});
