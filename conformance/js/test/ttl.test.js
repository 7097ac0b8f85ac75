// The SDK's own TTL suite (ttl.spec.ts), restated: a virtual clock in place of
// its waits, so that each deadline is looked at from both sides of its second;
// and once on the wall clock.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { connect, lack, newContainer, newDatabase, refused, start, status } from "../mayfly.js";

const virtual = { skip: lack("virtual clock") };
let mayfly, client;
before(async () => {
  if (virtual.skip) return;
  mayfly = await start("--memory", "--clock=virtual");
  client = connect(mayfly.http);
});
after(async () => {
  client?.dispose();
  await mayfly?.stop();
});

/** Requires that these items exist, and of all others none. */
async function living(container, all, want, when) {
  for (const id of all) assert.equal(await status(container, id), want.includes(id) ? 200 : 404, `${id} ${when}`);
  const { resources } = await container.items.query(undefined).fetchAll();
  assert.deepEqual(resources.map((item) => item.id).sort(), [...want].sort(), `the feed ${when}`);
}

test("default ttl values", virtual, async () => {
  const database = await newDatabase(client);
  const make = (defaultTtl) => database.containers.create({ id: `c${defaultTtl}`, partitionKey: "/pk", defaultTtl });
  assert.equal((await make(5)).resource.defaultTtl, 5);
  for (const bad of [0, -10, 1.5, "5", true, 2147483648]) {
    const error = await refused(400, () => make(bad));
    assert.match(error.message, /The input defaultTtl '.*' is invalid/);
  }
  assert.equal((await make(null)).resource.defaultTtl, undefined);
});

test("item ttl values", virtual, async () => {
  const { items } = await newContainer(client, { defaultTtl: 5 });
  for (const bad of [null, 0, -10, 20.5, "20"]) {
    const error = await refused(400, () => items.create({ id: "bad", pk: "p", ttl: bad }));
    assert.match(error.message, /The input ttl '.*' is invalid/);
  }
  for (const good of [-1, 1, 20]) await items.create({ id: `${good}`, pk: "p", ttl: good });
});

test("a positive default", virtual, async () => {
  const container = await newContainer(client, { defaultTtl: 5 });
  const all = ["doc1", "doc2", "doc3", "doc4"];
  await container.items.create({ id: "doc1", pk: "p" });
  await container.items.create({ id: "doc2", pk: "p", ttl: -1 });
  await container.items.create({ id: "doc3", pk: "p", ttl: 2 });
  await container.items.create({ id: "doc4", pk: "p", ttl: 8 });
  let now = 0;
  for (const [second, want] of [[1, all], [2, ["doc1", "doc2", "doc4"]], [4, ["doc1", "doc2", "doc4"]], [5, ["doc2", "doc4"]], [7, ["doc2", "doc4"]], [8, ["doc2"]]]) {
    await mayfly.advance(second - now);
    now = second;
    await living(container, all, want, `at second ${second}`);
  }
});

test("default -1", virtual, async () => {
  const container = await newContainer(client, { defaultTtl: -1 });
  const all = ["doc1", "doc2", "doc3"];
  await container.items.create({ id: "doc1", pk: "p" });
  await container.items.create({ id: "doc2", pk: "p", ttl: -1 });
  await container.items.create({ id: "doc3", pk: "p", ttl: 2 });
  await mayfly.advance(1);
  await living(container, all, all, "at second 1");
  await mayfly.advance(1);
  await living(container, all, ["doc1", "doc2"], "at second 2");
  await mayfly.advance(86400);
  await living(container, all, ["doc1", "doc2"], "a day later");
});

test("no default", virtual, async () => {
  const container = await newContainer(client);
  await container.items.create({ id: "doc1", pk: "p", ttl: 5 });
  await mayfly.advance(7);
  await living(container, ["doc1"], ["doc1"], "at second 7");
});

test("the odds and ends of the SDK's suite", virtual, async () => {
  const container = await newContainer(client, { defaultTtl: 8 });
  const { items } = container;
  await items.create({ id: "doc1", pk: "p", name: "first" });
  await mayfly.advance(8);
  assert.equal(await status(container, "doc1"), 404);
  const again = await items.create({ id: "doc1", pk: "p", name: "second" });
  assert.equal(again.statusCode, 201);

  await mayfly.advance(3);
  assert.equal((await items.upsert({ id: "doc1", pk: "p", name: "third" })).statusCode, 200);
  await mayfly.advance(7);
  assert.equal(await status(container, "doc1"), 200);
  await mayfly.advance(1);
  assert.equal(await status(container, "doc1"), 404);
  assert.deepEqual((await items.query(undefined).fetchAll()).resources, []);

  // A replace without defaultTtl switches TTL off; the items that live go on.
  await items.create({ id: "doc2", pk: "p" });
  const { resource } = await container.read();
  delete resource.defaultTtl;
  await container.replace(resource);
  await mayfly.advance(86400);
  assert.equal(await status(container, "doc2"), 200);
  assert.equal(await status(container, "doc1"), 404);
});

test("on the wall clock", async () => {
  const real = connect(process.env.TESTED_HTTPS);
  const container = await newContainer(real, { defaultTtl: 3 });
  const { resource } = await container.items.create({ id: "x", pk: "p", ttl: 2 });
  const kept = await container.items.create({ id: "kept", pk: "p", ttl: -1 });
  const deadline = (resource._ts + 2) * 1000;
  while (Date.now() < deadline + 1000) {
    const asked = Date.now();
    const code = await status(container, "x");
    const answered = Date.now();
    if (answered < deadline) assert.equal(code, 200, `${deadline - answered} ms before`);
    if (asked >= deadline) assert.equal(code, 404, `${asked - deadline} ms after`);
    await pause(10);
  }
  assert.equal(await status(container, "kept"), 200);
  assert.ok(kept.etag);
  assert.equal((await container.items.upsert({ id: "x", pk: "p" })).statusCode, 201);
  real.dispose();
});
