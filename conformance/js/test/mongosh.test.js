// mongosh: the documented samples, what people type, and export and import as
// canonical Extended JSON. The scripts are in the folder mongosh.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Binary, BSON, BSONRegExp, BSONSymbol, Code, DBRef, Decimal128, Double, Int32, Long, MaxKey, MinKey, MongoClient, ObjectId, Timestamp } from "mongodb";
import { lack, startMongo } from "../mayfly.js";

const shell = fileURLToPath(new URL("../node_modules/mongosh/bin/mongosh.js", import.meta.url));
const scripts = fileURLToPath(new URL("../mongosh", import.meta.url));
const patient = { timeout: 150_000 };
const database = `shell-${process.pid}`;

let home, client;
before(async () => {
  home = mkdtempSync(join(tmpdir(), "mayfly-mongosh-"));
  client = await MongoClient.connect(process.env.TESTED_MONGO_URI);
});
after(async () => {
  await client?.db(database).dropDatabase();
  await client?.close();
  rmSync(home, { recursive: true, force: true });
});

/** Runs mongosh and gives what it printed; input is typed into it. */
async function mongosh(uri, args, { env = {}, input } = {}) {
  const child = spawn(process.execPath, [shell, uri, "--quiet", "--norc", ...args], {
    env: { ...process.env, HOME: home, TESTED_SCRIPTS: scripts, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  child.stdin.end(input ?? "");
  const code = await new Promise((done) => child.on("close", done));
  assert.equal(code, 0, output);
  return output;
}

/** The shared server, with a database. */
const shared = (name) => process.env.TESTED_MONGO_URI.replace("/?", `/${name}?`);

test("the documented samples", { ...patient, skip: lack("virtual clock") }, async () => {
  const mayfly = await startMongo("--memory", "--clock=virtual");
  try {
    assert.match(await mongosh(mayfly.uri("test"), ["--file", join(scripts, "seeds.js")], { env: { TESTED_ADMIN: mayfly.admin } }), /seeds passed/);
  } finally {
    await mayfly.stop();
  }
});

test("helpers", { ...patient, skip: lack("change streams") }, async () => {
  assert.match(await mongosh(shared(`helpers-${process.pid}`), ["--file", join(scripts, "helpers.js")]), /helpers passed/);
});

test("helpers of operators", { ...patient, skip: lack("one process") }, async () => {
  const uri = shared(`monitoring-${process.pid}`);
  assert.match(await mongosh(uri, ["--file", join(scripts, "monitoring.js")]), /monitoring passed/);
  const typed = await mongosh(uri, [], {
    input: `${["profile", "dbs", "databases", "collections", "tables", "users", "roles", "log", "log global", "logs", "startupWarnings", "automationNotices"].map((what) => `show ${what}\n`).join("")}db.dropDatabase()
exit
`,
  });
  assert.match(typed, new RegExp(`monitoring-${process.pid} +[0-9.]+ [KM]?i?B`));
  assert.match(typed, /system\.profile/);
  assert.match(typed, /role: 'readWrite'/);
  assert.match(typed, /\[ 'global', 'startupWarnings' \]/);
  assert.doesNotMatch(typed, /Error/);
});

test("typed lines", patient, async () => {
  const typed = await mongosh(shared(database), [], {
    input: `db.typed.insertMany([{ _id: 1 }, { _id: 2 }])
db.typed.createIndex({ a: 1 })
show dbs
show collections
show users
use other${process.pid}
db.getName()
use ${database}
for (let i = 0; i < 50; i++) db.many.insertOne({ _id: i })
db.many.find()
it
exit
`,
  });
  assert.match(typed, /acknowledged: true/);
  assert.match(typed, new RegExp(`^.*${database} +[0-9.]+ [KM]?i?B`, "m"));
  assert.match(typed, /^.*> typed\s*$|^typed$/m);
  assert.match(typed, new RegExp(`switched to db other${process.pid}`));
  assert.match(typed, /Type "it" for more/);
  assert.match(typed, /_id: 39/);
  assert.doesNotMatch(typed, /Error/);
});

/** One document with every type that a JavaScript client can write, different for each i. */
function everything(i) {
  return {
    _id: i % 2 === 0 ? new Int32(i) : new Double(i), // 1.0 is no 1 when bytes count
    double: new Double(i / 3), negativeZero: new Double(-0), nan: new Double(NaN), infinity: new Double(-Infinity),
    string: `ü漢😀 ${i} \u0000 end`, object: { i: new Int32(i), empty: {} }, array: [new Int32(i), [], [new Double(i)], null],
    binary: new Binary(Buffer.from([i & 255, 1, 2]), 0), old: new Binary(Buffer.from("old"), 2), uuid: new Binary(Buffer.alloc(16, i & 255), 4),
    md5: new Binary(Buffer.alloc(16, 7), 5), own: new Binary(Buffer.from("x"), 128), nothing: new Binary(Buffer.alloc(0), 0),
    id: new ObjectId(i.toString(16).padStart(24, "0")), yes: i % 2 === 0, date: new Date(i * 86_400_000 - 1e12 + (i % 1000)), null: null,
    regex: new BSONRegExp(`^a${i}\\/"b`, "imsx"), code: new Code(`function () { return ${i}; }`), scoped: new Code("x", { x: new Int32(i) }),
    symbol: new BSONSymbol(`s${i}`), int: new Int32(-i), long: Long.fromString(String(9007199254740993n * BigInt(i))), small: Long.fromInt(i),
    timestamp: new Timestamp({ t: i, i: 4294967295 - i }), decimal: Decimal128.fromString(`-${i}.50E+${i % 6000}`), decimalNaN: Decimal128.fromString("NaN"),
    min: new MinKey(), max: new MaxKey(), reference: new DBRef("c", new ObjectId(i.toString(16).padStart(24, "0")), "d"),
    "": "an empty name", "a.b": "a name with a dot", $x: "a name with a dollar",
  };
}

test("export and import of 10,000 documents, byte for byte", patient, async () => {
  const db = client.db(database);
  const documents = Array.from({ length: 10_000 }, (_, i) => everything(i));
  await db.collection("source").insertMany(documents);
  const file = join(home, "export.json");
  assert.match(await mongosh(shared(database), ["--file", join(scripts, "export.js")], { env: { TESTED_EXPORT: file } }), /exported 10000/);
  assert.match(await mongosh(shared(database), ["--file", join(scripts, "import.js")], { env: { TESTED_EXPORT: file } }), /imported 10000/);
  const wanted = createHash("sha256");
  for (const d of documents) wanted.update(BSON.serialize(d));
  const want = wanted.digest("hex");
  for (const name of ["source", "target"]) {
    const hash = createHash("sha256");
    for await (const raw of db.collection(name).find({}, { raw: true }).sort({ _id: 1 })) hash.update(raw);
    assert.equal(hash.digest("hex"), want, name);
  }
});
