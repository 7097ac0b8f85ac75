// Queries over several partitions and several pages, in both gateway modes: mayfly
// answers them itself, or leaves the merging to the SDK as the cloud's gateway does.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connect, newContainer, refused, start } from "../mayfly.js";

const count = 60;
const cities = ["Lisboa", "Porto", "Sevilla", "Vigo"];

/** Item i: numbers repeat, every seventh has no n, every tenth a string there. No price is 0: the SDK's DISTINCT drops what is false. */
function item(i) {
  const made = { id: `${i}`, pk: `k${i % 6}`, city: cities[i % 4], i, price: 1 + ((i * 37) % 50), tags: [`t${i % 3}`, `t${i % 5}`], nested: { deep: i % 9 } };
  if (i % 10 === 0) made.n = `text ${i % 20}`;
  else if (i % 7 !== 0) made.n = (i * 13) % 17;
  return made;
}
const items = Array.from({ length: count }, (_, i) => item(i));
const sum = (list) => list.reduce((a, b) => a + b, 0);
const by = (f) => (a, b) => (f(a) < f(b) ? -1 : f(a) > f(b) ? 1 : a.i - b.i);

/** Rows of a query, and in how many pages they came. */
async function pages(container, query, options = {}) {
  const iterator = container.items.query(query, { maxItemCount: 7, ...options });
  const rows = [];
  let n = 0;
  while (iterator.hasMoreResults()) {
    const page = await iterator.fetchNext();
    rows.push(...(page.resources ?? [])); // while it merges, the SDK has pages without rows
    assert.ok(n++ < 500, "the query has no end");
  }
  return { rows, n };
}

const rows = async (container, query, options) => (await pages(container, query, options)).rows;
const sorted = (list) => [...list].map((x) => JSON.stringify(x)).sort();

for (const [mode, partitions] of [["serve", 1], ["strict", 1], ["serve", 4], ["strict", 4]]) {
  describe(`--cross-partition=${mode}, ${partitions} ranges`, () => {
    let mayfly, client, container;
    before(async () => {
      mayfly = await start("--memory", `--cross-partition=${mode}`, `--partitions=${partitions}`);
      client = connect(mayfly.http);
      container = await newContainer(client, {
        defaultTtl: -1,
        indexingPolicy: {
          includedPaths: [{ path: "/*" }],
          excludedPaths: [{ path: "/secret/?" }],
          compositeIndexes: [[{ path: "/city", order: "ascending" }, { path: "/price", order: "descending" }]],
        },
      });
      for (const made of items) await container.items.create(made);
    });
    after(async () => {
      client?.dispose();
      await mayfly?.stop();
    });

    test("a filter", async () => {
      const got = await rows(container, { query: "SELECT c.id FROM c WHERE c.price >= @low AND c.price < 30", parameters: [{ name: "@low", value: 10 }] });
      const want = items.filter((x) => x.price >= 10 && x.price < 30).map((x) => ({ id: x.id }));
      assert.deepEqual(sorted(got), sorted(want));
    });

    test("ORDER BY over pages", async () => {
      const { rows: got, n } = await pages(container, "SELECT VALUE c.i FROM c ORDER BY c.i DESC");
      assert.deepEqual(got, items.map((x) => x.i).reverse());
      assert.ok(n > 5, `${n} pages`);
    });

    test("ORDER BY keeps items of every type and those without the property", async () => {
      if (mode === "strict" && partitions > 1) {
        await assert.rejects(rows(container, "SELECT * FROM c ORDER BY c.n"), /mixed types/); // the SDK merges one type only
        return;
      }
      const got = await rows(container, "SELECT * FROM c ORDER BY c.n");
      const rank = (x) => (x.n === undefined ? 0 : typeof x.n === "number" ? 1 : 2);
      const want = [...items].sort((a, b) => rank(a) - rank(b) || (a.n < b.n ? -1 : a.n > b.n ? 1 : 0));
      assert.deepEqual(got.map((x) => [rank(x), x.n]), want.map((x) => [rank(x), x.n]));
      assert.equal(new Set(got.map((x) => x.id)).size, count);
    });

    test("ORDER BY two keys over a composite index", async () => {
      const got = await rows(container, "SELECT c.city, c.price FROM c ORDER BY c.city ASC, c.price DESC");
      const want = [...items].sort((a, b) => (a.city < b.city ? -1 : a.city > b.city ? 1 : b.price - a.price));
      assert.deepEqual(got, want.map((x) => ({ city: x.city, price: x.price })));
    });

    test("ORDER BY two keys without one is refused", async () => {
      await refused(400, () => rows(container, "SELECT * FROM c ORDER BY c.price, c.city"));
    });

    test("ORDER BY with a projection", async () => {
      const got = await rows(container, "SELECT c.id, c.nested.deep AS deep, c.missing FROM c WHERE c.i < 20 ORDER BY c.i");
      assert.deepEqual(got, items.slice(0, 20).map((x) => ({ id: x.id, deep: x.nested.deep })));
    });

    test("TOP, alone and in order", async () => {
      assert.equal((await rows(container, "SELECT TOP 9 c.id FROM c")).length, 9);
      const got = await rows(container, "SELECT TOP 9 VALUE c.i FROM c ORDER BY c.i");
      assert.deepEqual(got, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
      assert.deepEqual(await rows(container, { query: "SELECT TOP @n VALUE c.i FROM c ORDER BY c.i", parameters: [{ name: "@n", value: 2 }] }), [0, 1]);
    });

    test("OFFSET and LIMIT", async () => {
      const got = await rows(container, "SELECT VALUE c.i FROM c ORDER BY c.i OFFSET 11 LIMIT 20");
      assert.deepEqual(got, items.slice(11, 31).map((x) => x.i));
      assert.equal((await rows(container, "SELECT c.id FROM c OFFSET 55 LIMIT 20")).length, 5);
    });

    test("DISTINCT", async () => {
      const got = await rows(container, "SELECT DISTINCT VALUE c.city FROM c");
      assert.deepEqual(sorted(got), sorted(cities));
      const pairs = await rows(container, "SELECT DISTINCT c.city, c.pk FROM c");
      assert.deepEqual(sorted(pairs), sorted([...new Set(items.map((x) => JSON.stringify({ city: x.city, pk: x.pk })))].map((x) => JSON.parse(x))));
    });

    test("DISTINCT in order", async () => {
      const got = await rows(container, "SELECT DISTINCT VALUE c.price FROM c ORDER BY c.price");
      assert.deepEqual(got, [...new Set(items.map((x) => x.price))].sort((a, b) => a - b));
    });

    test("one aggregate", async () => {
      const one = async (text) => (await rows(container, `SELECT VALUE ${text} FROM c`))[0];
      assert.equal(await one("COUNT(1)"), count);
      assert.equal(await one("COUNT(c.n)"), items.filter((x) => x.n !== undefined).length);
      assert.equal(await one("SUM(c.price)"), sum(items.map((x) => x.price)));
      assert.equal(await one("MIN(c.price)"), Math.min(...items.map((x) => x.price)));
      assert.equal(await one("MAX(c.price)"), Math.max(...items.map((x) => x.price)));
      assert.equal(await one("AVG(c.price)"), sum(items.map((x) => x.price)) / count);
    });

    test("an aggregate of nothing", async () => {
      assert.deepEqual(await rows(container, "SELECT VALUE COUNT(1) FROM c WHERE c.i > 1000"), [0]);
    });

    test("GROUP BY with aggregates", async () => {
      const got = await rows(container, "SELECT c.city, COUNT(1) AS n, SUM(c.price) AS total, AVG(c.price) AS mean, MIN(c.i) AS first, MAX(c.i) AS last FROM c GROUP BY c.city");
      const want = cities.map((city) => {
        const own = items.filter((x) => x.city === city);
        const total = sum(own.map((x) => x.price));
        return { city, n: own.length, total, mean: total / own.length, first: own[0].i, last: own.at(-1).i };
      });
      assert.deepEqual([...got].sort(by((x) => x.city)), want);
    });

    test("GROUP BY two keys", async () => {
      const got = await rows(container, "SELECT c.city, c.pk, COUNT(1) AS n FROM c GROUP BY c.city, c.pk");
      assert.equal(got.length, new Set(items.map((x) => x.city + x.pk)).size);
      assert.equal(sum(got.map((x) => x.n)), count);
    });

    test("GROUP BY a value", async () => {
      const got = await rows(container, "SELECT VALUE c.city FROM c GROUP BY c.city");
      assert.deepEqual(sorted(got), sorted(cities));
    });

    test("JOIN, ARRAY_CONTAINS, IN, LIKE, subqueries", async () => {
      assert.equal((await rows(container, "SELECT c.id, t FROM c JOIN t IN c.tags")).length, 2 * count);
      const tagged = items.filter((x) => x.tags.includes("t4")).map((x) => x.id);
      for (const where of ['ARRAY_CONTAINS(c.tags, "t4")', 'EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = "t4")', '"t4" IN (c.tags[0], c.tags[1])']) {
        assert.deepEqual(sorted(await rows(container, `SELECT VALUE c.id FROM c WHERE ${where}`)), sorted(tagged), where);
      }
      assert.deepEqual(sorted(await rows(container, "SELECT DISTINCT VALUE c.city FROM c WHERE c.city LIKE '%o%'")), sorted(["Lisboa", "Porto", "Vigo"]));
    });

    test("one partition needs no merging", async () => {
      const got = await rows(container, "SELECT VALUE c.i FROM c ORDER BY c.i DESC", { partitionKey: "k1" });
      assert.deepEqual(got, items.filter((x) => x.pk === "k1").map((x) => x.i).reverse());
      const grouped = await rows(container, "SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city", { partitionKey: "k1" });
      assert.equal(sum(grouped.map((x) => x.n)), 10);
    });

    test("readAll, fetchAll, and a continuation", async () => {
      assert.equal((await container.items.readAll().fetchAll()).resources.length, count);
      const iterator = container.items.query("SELECT VALUE c.id FROM c", { maxItemCount: 25, partitionKey: "k2" });
      assert.equal((await iterator.fetchAll()).resources.length, 10);
      const first = await container.items.query("SELECT VALUE c.i FROM c ORDER BY c.i", { maxItemCount: 4, partitionKey: "k2" }).fetchNext();
      assert.ok(first.continuationToken);
      const second = await container.items
        .query("SELECT VALUE c.i FROM c ORDER BY c.i", { maxItemCount: 4, partitionKey: "k2", continuationToken: first.continuationToken })
        .fetchNext();
      assert.deepEqual([...first.resources, ...second.resources], [2, 8, 14, 20, 26, 32, 38, 44]);
    });

    test("a page at a time over all partitions, each by the token of the one before", async () => {
      const got = [];
      let continuationToken;
      for (let i = 0; i < 100; i++) {
        const page = await container.items
          .query("SELECT VALUE c.price FROM c ORDER BY c.price", { maxItemCount: 9, enableQueryControl: true, continuationToken })
          .fetchNext();
        got.push(...(page.resources ?? []));
        continuationToken = page.continuationToken;
        if (!continuationToken) break;
      }
      assert.deepEqual(got, items.map((x) => x.price).sort((a, b) => a - b));
    });

    test("metrics are asked for and told", async () => {
      const page = await container.items
        .query("SELECT * FROM c WHERE c.city = 'Vigo' AND c.i > 5", { populateQueryMetrics: true, populateIndexMetrics: true, partitionKey: "k1" })
        .fetchNext();
      assert.ok(page.requestCharge > 0);
      assert.ok(page.queryMetrics || page.headers["x-ms-documentdb-query-metrics"]);
      assert.ok(JSON.stringify(page.indexMetrics).includes("/city/?"), JSON.stringify(page.indexMetrics));
    });

    test("databases and containers are asked by queries too", async () => {
      const { resources } = await client.databases.query({ query: "SELECT * FROM root r WHERE r.id = @id", parameters: [{ name: "@id", value: container.database.id }] }).fetchAll();
      assert.deepEqual(resources.map((x) => x.id), [container.database.id]);
      const found = await container.database.containers.query("SELECT VALUE c.id FROM c ORDER BY c.id").fetchAll();
      assert.deepEqual(found.resources, ["things"]);
    });

    test("a mistake is told with its place", async () => {
      const error = await refused(400, () => rows(container, "SELECT FORM c"));
      assert.match(`${error.message} ${JSON.stringify(error.body ?? "")}`, /SC1001|SC2001/);
    });

    test("a user-defined function", async () => {
      await container.scripts.userDefinedFunctions.create({ id: "twice", body: "function (x) { return 2 * x; }" });
      assert.deepEqual(await rows(container, "SELECT VALUE udf.twice(c.i) FROM c WHERE c.i = 21"), [42]);
    });
  });
}
