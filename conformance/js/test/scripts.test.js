// Scripts are stored, listed and echoed; executing one says that it cannot be done.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, newContainer, refused } from "../mayfly.js";

let client;
before(() => (client = connect(process.env.MAYFLY_HTTPS)));
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

test("execution is refused, not pretended", async () => {
  const { scripts } = await newContainer(client);
  await scripts.storedProcedures.create({ id: "s", body: "function () {}" });
  await refused(400, () => scripts.storedProcedure("s").execute("p", []));
});
