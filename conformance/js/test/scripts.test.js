// Scripts: kept and given back, and run: procedures in one transaction, triggers around writes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, newContainer, refused } from "../mayfly.js";

let client;
before(() => (client = connect(process.env.TESTED_HTTPS)));
after(() => client.dispose());

const kinds = [
  ["storedProcedures", "storedProcedure", {}],
  ["triggers", "trigger", { triggerType: "Pre", triggerOperation: "All" }],
  ["userDefinedFunctions", "userDefinedFunction", {}],
];

for (const [feed, one, extra] of kinds) {
  test(feed, async () => {
    const { scripts } = await newContainer(client);
    const body = "function () { return 1; }";
    const { resource } = await scripts[feed].create({ id: "s", body, ...extra });
    assert.deepEqual({ ...resource, ...{ id: "s", body, ...extra } }, resource);
    await refused(409, () => scripts[feed].create({ id: "s", body, ...extra }));
    await scripts[feed].create({ id: "t", body, ...extra });
    const { resources } = await scripts[feed].readAll().fetchAll();
    assert.deepEqual(resources.map((s) => s.id), ["s", "t"]);
    const replaced = await scripts[one]("s").replace({ id: "s", body: "function () { return 2; }", ...extra });
    assert.match(replaced.resource.body, /2/);
    assert.match((await scripts[one]("s").read()).resource.body, /2/);
    assert.equal((await scripts[one]("s").delete()).statusCode, 204);
    await refused(404, () => scripts[one]("s").read());
  });
}

/** Makes a procedure and runs it in partition p. */
async function run(container, body, args = [], options = {}) {
  const id = `s${Math.random()}`;
  await container.scripts.storedProcedures.create({ id, body: `${body}` });
  return container.scripts.storedProcedure(id).execute("p", args, options);
}

test("a procedure answers what it is given", async () => {
  const container = await newContainer(client);
  const { resource } = await run(container, function (name, n) {
    getContext().getResponse().setBody({ greeting: "Hello, " + name, twice: 2 * n });
  }, ["Ada", 21]);
  assert.deepEqual(resource, { greeting: "Hello, Ada", twice: 42 });
});

test("a procedure creates, reads, queries and deletes", async () => {
  const container = await newContainer(client);
  const { resource } = await run(container, function (count) {
    const collection = getContext().getCollection();
    const link = collection.getSelfLink();
    let made = 0;
    function next() {
      if (made === count) return look();
      const accepted = collection.createDocument(link, { id: "i" + made, pk: "p", n: made }, function (error) {
        if (error) throw error;
        made++;
        next();
      });
      if (!accepted) getContext().getResponse().setBody(made);
    }
    function look() {
      collection.queryDocuments(link, { query: "SELECT * FROM c WHERE c.n >= @n ORDER BY c.n", parameters: [{ name: "@n", value: 2 }] }, function (error, items) {
        if (error) throw error;
        collection.deleteDocument(items[0]._self, {}, function (error) {
          if (error) throw error;
          getContext().getResponse().setBody(items.map((item) => item.id));
        });
      });
    }
    next();
  }, [5]);
  assert.deepEqual(resource, ["i2", "i3", "i4"]);
  const { resources } = await container.items.query("SELECT VALUE c.id FROM c ORDER BY c.id", { partitionKey: "p" }).fetchAll();
  assert.deepEqual(resources, ["i0", "i1", "i3", "i4"]);
});

test("a procedure that throws leaves nothing behind", async () => {
  const container = await newContainer(client);
  const error = await refused(400, () => run(container, function () {
    const collection = getContext().getCollection();
    collection.createDocument(collection.getSelfLink(), { id: "1", pk: "p" }, function () {
      throw new Error("I changed my mind");
    });
  }));
  assert.match(`${error.message} ${JSON.stringify(error.body)}`, /I changed my mind/);
  assert.deepEqual((await container.items.readAll().fetchAll()).resources, []);
});

test("a procedure has no other partition", async () => {
  const container = await newContainer(client);
  await container.items.create({ id: "1", pk: "q" });
  const { resource } = await run(container, function () {
    const collection = getContext().getCollection();
    collection.queryDocuments(collection.getSelfLink(), "SELECT * FROM c", function (error, items) {
      getContext().getResponse().setBody(items.length);
    });
  });
  assert.equal(resource, 0);
  await refused(400, () => run(container, function () {
    const collection = getContext().getCollection();
    collection.createDocument(collection.getSelfLink(), { id: "2", pk: "q" }, function (error) {
      if (error) throw error;
    });
  }));
});

test("a log comes back when it is asked for", async () => {
  const container = await newContainer(client);
  const { headers } = await run(container, function () { console.log("été & co"); }, [], { enableScriptLogging: true });
  assert.equal(decodeURIComponent(headers["x-ms-documentdb-script-log-results"]).trim(), "été & co");
});

test("an endless procedure is ended", async () => {
  const container = await newContainer(client);
  await assert.rejects(run(container, "function () { while (true) {} }"), (error) => error.code === 408 || error.code === 400);
});

test("triggers run before and after a write", async () => {
  const container = await newContainer(client);
  await container.scripts.triggers.create({
    id: "stamp", triggerType: "Pre", triggerOperation: "Create",
    body: function () {
      const request = getContext().getRequest();
      const item = request.getBody();
      item.stamped = true;
      request.setBody(item);
    }.toString(),
  });
  await container.scripts.triggers.create({
    id: "count", triggerType: "Post", triggerOperation: "All",
    body: function () {
      const collection = getContext().getCollection();
      const made = getContext().getResponse().getBody();
      collection.createDocument(collection.getSelfLink(), { id: "about-" + made.id, pk: made.pk }, function (error) {
        if (error) throw error;
      });
    }.toString(),
  });
  const { resource } = await container.items.create({ id: "1", pk: "p" }, { preTriggerInclude: ["stamp"], postTriggerInclude: ["count"] });
  assert.equal(resource.stamped, true);
  assert.equal((await container.item("about-1", "p").read()).statusCode, 200);
  await refused(409, () => container.items.create({ id: "1", pk: "p" }, { postTriggerInclude: ["count"] }));
});

test("a post-trigger that throws takes the write back", async () => {
  const container = await newContainer(client);
  await container.scripts.triggers.create({ id: "no", triggerType: "Post", triggerOperation: "All", body: "function () { throw new Error('no'); }" });
  await refused(400, () => container.items.create({ id: "1", pk: "p" }, { postTriggerInclude: ["no"] }));
  assert.equal((await container.item("1", "p").read()).statusCode, 404);
});
