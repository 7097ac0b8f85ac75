// Users, permissions, and what a resource token opens.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CosmosClient } from "@azure/cosmos";
import { connect, newDatabase, refused } from "../mayfly.js";

const endpoint = process.env.TESTED_HTTPS;
let client;
before(() => (client = connect(endpoint)));
after(() => client.dispose());

test("users", async () => {
  const database = await newDatabase(client);
  const { user, resource } = await database.users.create({ id: "ada" });
  assert.equal(resource.id, "ada");
  await refused(409, () => database.users.create({ id: "ada" }));
  assert.equal((await database.users.upsert({ id: "bob" })).statusCode, 201);
  const { resources } = await database.users.readAll().fetchAll();
  assert.deepEqual(resources.map((u) => u.id), ["ada", "bob"]);
  assert.equal((await user.replace({ id: "grace" })).resource.id, "grace");
  assert.equal((await database.user("grace").delete()).statusCode, 204);
  await refused(404, () => database.user("grace").read());
});

test("permissions", async () => {
  const database = await newDatabase(client);
  const { container } = await database.containers.create({ id: "c", partitionKey: "/pk" });
  const { user } = await database.users.create({ id: "ada" });
  const { permission, resource } = await user.permissions.create({ id: "read c", permissionMode: "read", resource: container.url });
  assert.equal(resource.id, "read c");
  assert.equal(resource.permissionMode.toLowerCase(), "read");
  assert.match(resource._token, /^type=resource&ver=1/);
  await refused(409, () => user.permissions.create({ id: "again", permissionMode: "read", resource: container.url }));
  const { resources } = await user.permissions.readAll().fetchAll();
  assert.deepEqual(resources.map((p) => p.id), ["read c"]);
  const replaced = await permission.replace({ id: "read c", permissionMode: "all", resource: container.url });
  assert.equal(replaced.resource.permissionMode.toLowerCase(), "all");
  assert.equal((await permission.delete()).statusCode, 204);
  await refused(404, () => permission.read());
});

test("resource tokens limit access", async () => {
  const database = await newDatabase(client);
  const { container: open } = await database.containers.create({ id: "open", partitionKey: "/pk" });
  const { container: shut } = await database.containers.create({ id: "shut", partitionKey: "/pk" });
  await open.items.create({ id: "x", pk: "p" });
  await shut.items.create({ id: "x", pk: "p" });
  const token = async (name, permissionMode, extra = {}) => {
    const { user } = await database.users.create({ id: name });
    const { resource } = await user.permissions.create({ id: name, permissionMode, resource: open.url, ...extra });
    return resource._token;
  };
  const as = (resourceToken) => {
    const guest = new CosmosClient({ endpoint, resourceTokens: { [open.url]: resourceToken, [shut.url]: resourceToken } });
    return (container) => guest.database(database.id).container(container.id);
  };

  const reader = as(await token("reader", "read"));
  assert.equal((await reader(open).item("x", "p").read()).statusCode, 200);
  assert.equal((await reader(open).read()).resource.id, "open");
  await refused(403, () => reader(open).items.create({ id: "y", pk: "p" }));
  await refused(403, () => reader(open).item("x", "p").delete());
  await refused(403, () => reader(shut).item("x", "p").read());

  const writer = as(await token("writer", "all"));
  assert.equal((await writer(open).items.create({ id: "y", pk: "p" })).statusCode, 201);
  await refused(403, () => writer(shut).items.create({ id: "y", pk: "p" }));

  const partition = as(await token("partition", "all", { resourcePartitionKey: ["p"] }));
  assert.equal((await partition(open).item("x", "p").read()).statusCode, 200);
  await refused(403, () => partition(open).items.create({ id: "z", pk: "q" }));

  const forged = as("type=resource&ver=1&sig=Zm9yZ2Vk;");
  await refused(401, () => forged(open).item("x", "p").read());
});
