// @azure/cosmos 3.x, which programs still have: it reads the answers of queries in other ways than 4.x.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { CosmosClient } from "cosmos3";
import { key, newContainer } from "../mayfly.js";

describe("@azure/cosmos 3.17", () => {
  let container;
  before(async () => {
    // 3.17 takes no plain http.
    container = await newContainer(new CosmosClient({ endpoint: process.env.TESTED_HTTPS, key }));
    for (let i = 0; i < 9; i++) await container.items.create({ id: `${i}`, pk: `k${i % 3}`, n: i });
  });

  for (const [query, rows] of [
    ["SELECT VALUE c.n FROM c ORDER BY c.n DESC", [8, 7, 6, 5, 4, 3, 2, 1, 0]],
    ["SELECT VALUE COUNT(1) FROM c", [9]],
    ["SELECT COUNT(1) AS all FROM c", [{ all: 9 }]],
    ["SELECT c.pk, SUM(c.n) AS sum FROM c GROUP BY c.pk", [{ pk: "k0", sum: 9 }, { pk: "k1", sum: 12 }, { pk: "k2", sum: 15 }]],
    ["SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n", [0, 1]],
    ["SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 3 LIMIT 2", [3, 4]],
  ]) {
    test(`the charges of pages add up: ${query}`, async () => {
      const iterator = container.items.query(query, { maxItemCount: 2 });
      const found = [];
      let charge = 0;
      while (iterator.hasMoreResults()) {
        const page = await iterator.fetchNext();
        found.push(...(page.resources ?? []));
        charge += page.requestCharge;
      }
      if (query.includes("GROUP")) found.sort((a, b) => (a.pk < b.pk ? -1 : 1));
      assert.deepEqual(found, rows);
      assert.equal(typeof charge, "number", `the charges are joined: ${charge}`);
      assert.ok(charge > 0);
    });
  }

  test("a feed comes whole, page by page", async () => {
    const iterator = container.items.readAll({ maxItemCount: 2 });
    let n = 0;
    while (iterator.hasMoreResults()) n += (await iterator.fetchNext()).resources?.length ?? 0;
    assert.equal(n, 9);
  });
});
