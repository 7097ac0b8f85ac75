// The MongoDB driver for Node, as applications use it, against a replica set of one.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { pipeline } from "node:stream/promises";
import { Readable, Writable } from "node:stream";
import { Binary, Decimal128, Double, GridFSBucket, Int32, Long, MongoBulkWriteError, MongoClient, MongoServerError, ObjectId, Timestamp } from "mongodb";
import { lack, several, startMongo } from "../mayfly.js";

let client, db;
let made = 0;
before(async () => {
  client = await MongoClient.connect(process.env.TESTED_MONGO_URI);
  db = client.db(`node-${process.pid}`);
});
after(async () => {
  await db?.dropDatabase();
  await client?.close();
});

/** A collection with a name of its own, and these documents. */
async function filled(...documents) {
  const collection = db.collection(`c${++made}`);
  if (documents.length > 0) await collection.insertMany(documents);
  return collection;
}

/** Requires that the server refuses with this code. */
async function refused(code, promise) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof MongoServerError, error.stack);
    assert.equal(error.code, code, error.message);
    return true;
  });
}

const ids = (documents) => documents.map((d) => d._id);
const range = (n) => Array.from({ length: n }, (_, i) => i);

test("insert, find, update, replace, delete", async () => {
  const c = await filled();
  const { insertedId } = await c.insertOne({ name: "ann", age: 31, tags: ["a", "b"], address: { city: "Oslo" } });
  assert.ok(insertedId instanceof ObjectId);
  assert.equal((await c.findOne({ "address.city": "Oslo" })).name, "ann");
  assert.deepEqual(await c.findOne({ _id: insertedId }, { projection: { _id: 0, name: 1, tags: { $slice: 1 } } }), { name: "ann", tags: ["a"] });
  const updated = await c.updateOne({ _id: insertedId }, { $inc: { age: 1 }, $addToSet: { tags: "c" }, $currentDate: { seen: true } });
  assert.deepEqual([updated.matchedCount, updated.modifiedCount], [1, 1]);
  const after = await c.findOneAndUpdate({ name: "ann" }, [{ $set: { old: { $gt: ["$age", 30] } } }], { returnDocument: "after" });
  assert.deepEqual([after.age, after.old, after.tags], [32, true, ["a", "b", "c"]]);
  assert.ok(after.seen instanceof Date);
  const upserted = await c.replaceOne({ _id: 7 }, { name: "bob" }, { upsert: true });
  assert.equal(upserted.upsertedId, 7);
  assert.equal(await c.countDocuments(), 2);
  assert.equal(await c.estimatedDocumentCount(), 2);
  assert.deepEqual(await c.distinct("name"), ["ann", "bob"]);
  assert.equal((await c.findOneAndDelete({ _id: 7 })).name, "bob");
  assert.equal((await c.deleteMany({})).deletedCount, 1);
  await refused(11000, (async () => (await c.insertOne({ _id: 1 }), c.insertOne({ _id: 1 })))());
});

test("every type comes back as it went", async () => {
  const c = await filled();
  const document = {
    _id: new ObjectId(), double: 1.5, whole: new Double(3), text: "Grüße \u0000 漢字 😀", object: { a: { b: {} } }, array: [1, [2, [3]], []],
    binary: new Binary(randomBytes(100), 0), uuid: new Binary(randomBytes(16), 4), yes: true, date: new Date("1969-12-31T23:59:59.999Z"),
    nothing: null, pattern: /^a.*b$/im, int: new Int32(-5), long: Long.fromString("9007199254740993"),
    timestamp: new Timestamp({ t: 5, i: 6 }), decimal: Decimal128.fromString("-1.2340E+10"), infinite: -Infinity,
  };
  await c.insertOne(document);
  const options = { promoteValues: false, promoteLongs: false };
  const [raw] = await c.find({}, { raw: true }).toArray();
  const { serialize } = await import("mongodb").then((m) => m.BSON);
  assert.ok(Buffer.from(raw).equals(Buffer.from(serialize(document))));
  assert.equal((await c.findOne({}, options)).long.toString(), "9007199254740993");
  assert.ok(Number.isNaN((await (await filled({ x: NaN })).findOne({ x: NaN })).x));
});

test("bulkWrite and its errors", async () => {
  const c = await filled(...range(10).map((i) => ({ _id: i, n: i })));
  const result = await c.bulkWrite([
    { insertOne: { document: { _id: 10 } } },
    { updateMany: { filter: { n: { $gte: 5 } }, update: { $set: { big: true } } } },
    { updateOne: { filter: { _id: "u" }, update: { $set: { n: 1 } }, upsert: true } },
    { replaceOne: { filter: { _id: 0 }, replacement: { z: 1 } } },
    { deleteMany: { filter: { n: { $in: [1, 2] } } } },
  ]);
  assert.deepEqual(
    [result.insertedCount, result.modifiedCount, result.upsertedCount, result.deletedCount, result.upsertedIds[2]],
    [1, 6, 1, 3, "u"],
  );
  const again = range(5).map((i) => ({ insertOne: { document: { _id: i < 3 ? `new${i}` : 5 } } }));
  for (const ordered of [true, false]) {
    await c.deleteMany({ _id: /^new/ });
    await assert.rejects(c.bulkWrite(again, { ordered }), (error) => {
      assert.ok(error instanceof MongoBulkWriteError);
      assert.equal(error.code, 11000);
      assert.equal(error.result.insertedCount, 3);
      assert.equal(error.writeErrors.length, ordered ? 1 : 2);
      assert.deepEqual(error.writeErrors[0].err.keyValue ?? { _id: 5 }, { _id: 5 });
      return true;
    });
  }
});

test("cursors", async () => {
  const c = await filled(...range(1000).map((i) => ({ _id: i, n: i % 10 })));
  let n = 0;
  for await (const d of c.find({}).sort({ _id: -1 }).batchSize(37)) assert.equal(d._id, 999 - n++);
  assert.equal(n, 1000);
  assert.deepEqual(ids(await c.find({ n: 3 }).sort({ _id: 1 }).skip(2).limit(3).toArray()), [23, 33, 43]);
  const cursor = c.find({}, { batchSize: 2 });
  await cursor.next();
  await cursor.close();
  const cursorId = (await db.command({ find: c.collectionName, batchSize: 2 })).cursor.id;
  const killed = await db.command({ killCursors: c.collectionName, cursors: [Long.fromValue(cursorId)] });
  assert.deepEqual(killed.cursorsKilled.map(String), [String(cursorId)]);
  await refused(43, db.command({ getMore: Long.fromValue(cursorId), collection: c.collectionName }));
  assert.equal((await c.find({}).map((d) => d.n).toArray()).length, 1000);
  let streamed = 0;
  await pipeline(c.find({}, { batchSize: 100 }).stream(), new Writable({ objectMode: true, write: (_d, _e, done) => (streamed++, done()) }));
  assert.equal(streamed, 1000);
});

test("aggregation", async () => {
  const sales = await filled(...range(300).map((i) => ({ _id: i, shop: `s${i % 3}`, price: (i * 7) % 50, day: new Date(Date.UTC(2030, 0, 1 + (i % 31))) })));
  const shops = await filled({ _id: "s0", city: "Oslo" }, { _id: "s1", city: "Rome" });
  const byShop = await sales
    .aggregate(
      [
        { $match: { price: { $gte: 10 } } },
        { $group: { _id: "$shop", total: { $sum: "$price" }, mean: { $avg: "$price" }, dear: { $max: "$price" }, n: { $count: {} } } },
        { $lookup: { from: shops.collectionName, let: { s: "$_id" }, pipeline: [{ $match: { $expr: { $eq: ["$_id", "$$s"] } } }], as: "shop" } },
        { $set: { city: { $ifNull: [{ $first: "$shop.city" }, "nowhere"] } } },
        { $unset: "shop" },
        { $sort: { _id: 1 } },
      ],
      { batchSize: 1 },
    )
    .toArray();
  assert.deepEqual(byShop.map((s) => [s._id, s.city, s.dear]), [["s0", "Oslo", 49], ["s1", "Rome", 49], ["s2", "nowhere", 49]]);
  assert.equal(byShop.reduce((sum, s) => sum + s.n, 0), 240);
  const [facets] = await sales
    .aggregate([{ $facet: {
      days: [{ $group: { _id: { $dateToString: { date: "$day", format: "%Y-%m" } }, n: { $sum: 1 } } }],
      prices: [{ $bucket: { groupBy: "$price", boundaries: [0, 25, 50], output: { n: { $sum: 1 } } } }],
      top: [{ $sort: { price: -1, _id: 1 } }, { $limit: 2 }, { $project: { price: 1 } }],
      count: [{ $count: "all" }],
    } }])
    .toArray();
  assert.deepEqual(facets.days, [{ _id: "2030-01", n: 300 }]);
  assert.deepEqual([facets.prices.map((p) => p.n), facets.count, facets.top.length], [[150, 150], [{ all: 300 }], 2]);
  const out = `out${process.pid}`;
  await sales.aggregate([{ $group: { _id: "$shop", n: { $sum: 1 } } }, { $out: out }]).toArray();
  await sales.aggregate([{ $limit: 1 }, { $project: { _id: "$shop", x: "1" } }, { $merge: { into: out } }]).toArray();
  assert.equal(await db.collection(out).countDocuments({ n: 100 }), 3);
});

test("indexes", async () => {
  const c = await filled(...range(500).map((i) => ({ _id: i, a: i % 50, b: i, t: [`x${i % 7}`, `y${i % 5}`] })));
  assert.equal(await c.createIndex({ a: 1, b: -1 }), "a_1_b_-1");
  await c.createIndexes([{ key: { b: 1 }, unique: true }, { key: { t: 1 }, name: "tags" }, { key: { a: 1 }, partialFilterExpression: { b: { $gt: 400 } } }]);
  assert.deepEqual((await c.indexes()).map((x) => x.name), ["_id_", "a_1_b_-1", "b_1", "tags", "a_1"]);
  assert.ok(await c.indexExists("tags"));
  await refused(11000, c.insertOne({ b: 5 }));
  await refused(85, c.createIndex({ t: 1 }, { name: "other" }));
  const stage = (plan) => (plan.inputStage ? stage(plan.inputStage) : plan);
  for (const [filter, want] of [[{ a: 3 }, "IXSCAN"], [{ t: "x3" }, "IXSCAN"], [{ none: 1 }, "COLLSCAN"]]) {
    const plan = await c.find(filter).explain("executionStats");
    assert.equal(stage(plan.queryPlanner.winningPlan).stage, want, JSON.stringify(filter));
    assert.equal(plan.executionStats.nReturned, (await c.find(filter).toArray()).length);
  }
  assert.ok((await c.aggregate([{ $match: { a: 3 } }]).explain()).ok);
  await c.dropIndex("tags");
  await c.dropIndexes();
  assert.equal((await c.indexes()).length, 1);
  assert.ok((await db.command({ collStats: c.collectionName })).count === 500);
});

test("collections and databases", async () => {
  const c = await db.createCollection(`v${process.pid}`, { validator: { $jsonSchema: { required: ["name"], properties: { name: { bsonType: "string" } } } } });
  await refused(121, c.insertOne({ name: 5 }));
  await c.insertOne({ name: "x" });
  await c.insertOne({ name: 5 }, { bypassDocumentValidation: true });
  await db.createCollection("names", { viewOn: c.collectionName, pipeline: [{ $project: { _id: 0, name: 1 } }] });
  assert.deepEqual(await db.collection("names").find().toArray(), [{ name: "x" }, { name: 5 }]);
  const listed = await db.listCollections({ name: "names" }).toArray();
  assert.deepEqual([listed[0].type, listed[0].options.viewOn], ["view", c.collectionName]);
  await c.rename("renamed");
  assert.equal(await db.collection("renamed").countDocuments(), 2);
  await refused(48, db.createCollection("names"));
  assert.ok((await db.admin().listDatabases()).databases.some((d) => d.name === db.databaseName));
  assert.ok((await db.stats()).collections >= 1);
  await db.dropCollection("names");
});

test("sessions and transactions", async () => {
  const c = await filled({ _id: "a", n: 10 }, { _id: "b", n: 0 });
  await client.withSession(async (session) => {
    const moved = await session.withTransaction(async () => {
      await c.updateOne({ _id: "a" }, { $inc: { n: -3 } }, { session });
      await c.updateOne({ _id: "b" }, { $inc: { n: 3 } }, { session });
      return "moved";
    });
    assert.equal(moved, "moved");
    await assert.rejects(session.withTransaction(async () => {
      await c.insertOne({ _id: "c" }, { session });
      throw new Error("changed my mind");
    }), /changed my mind/);
    session.startTransaction({ readConcern: { level: "snapshot" } });
    assert.equal(await c.countDocuments({}, { session }), 2);
    await c.insertOne({ _id: "outside" });
    assert.equal(await c.countDocuments({}, { session }), 2);
    await session.commitTransaction();
  });
  assert.deepEqual((await c.find().sort({ _id: 1 }).toArray()).map((d) => d.n), [7, 3, undefined]);
  const [first, second] = [client.startSession(), client.startSession()];
  first.startTransaction();
  second.startTransaction();
  await c.updateOne({ _id: "a" }, { $set: { x: 1 } }, { session: first });
  const conflict = async () => {
    await c.updateOne({ _id: "a" }, { $set: { x: 2 } }, { session: second });
    if (!several) return;
    await first.commitTransaction(); // it may be in another process, which knows nothing of the second one: D-90
    await second.commitTransaction();
  };
  await assert.rejects(conflict, (error) => error.code === 112 && error.hasErrorLabel("TransientTransactionError"));
  if (first.inTransaction()) await first.commitTransaction();
  if (second.inTransaction()) await second.abortTransaction();
  assert.equal((await c.findOne({ _id: "a" })).x, 1);
  await Promise.all([first.endSession(), second.endSession()]);
});

test("change streams", { skip: lack("change streams") }, async () => {
  const c = await filled({ _id: 0 });
  const stream = c.watch([{ $match: { operationType: { $ne: "replace" } } }], { fullDocument: "updateLookup" });
  assert.equal(await stream.tryNext(), null);
  await c.insertOne({ _id: 1, a: { b: 1, c: 2 } });
  await c.updateOne({ _id: 1 }, { $set: { "a.b": 5 }, $unset: { "a.c": "" } });
  await c.replaceOne({ _id: 0 }, { z: 1 });
  await c.deleteOne({ _id: 0 });
  const events = [await stream.next()];
  events.push(await stream.next(), await stream.next());
  await stream.close();
  assert.deepEqual(events.map((e) => [e.operationType, e.documentKey._id]), [["insert", 1], ["update", 1], ["delete", 0]]);
  assert.deepEqual(events[1].updateDescription.updatedFields, { "a.b": 5 });
  assert.deepEqual(events[1].updateDescription.removedFields, ["a.c"]);
  assert.deepEqual(events[1].fullDocument, { _id: 1, a: { b: 5 } });

  const resumed = db.watch([], { resumeAfter: events[1]._id });
  const kinds = [];
  for await (const event of resumed) if (event.ns.coll === c.collectionName && kinds.push(event.operationType) === 2) break;
  assert.deepEqual(kinds, ["replace", "delete"]);
  await resumed.close();
});

test("GridFS", async () => {
  const bucket = new GridFSBucket(db, { chunkSizeBytes: 10_000 });
  const content = randomBytes(123_456);
  const upload = bucket.openUploadStream("picture.png", { metadata: { by: "ann" } });
  await pipeline(Readable.from(content), upload);
  const hash = createHash("sha256");
  for await (const chunk of bucket.openDownloadStream(upload.id)) hash.update(chunk);
  assert.equal(hash.digest("hex"), createHash("sha256").update(content).digest("hex"));
  const parts = [];
  for await (const chunk of bucket.openDownloadStreamByName("picture.png", { start: 9_990, end: 20_010 })) parts.push(chunk);
  assert.ok(Buffer.concat(parts).equals(content.subarray(9_990, 20_010)));
  assert.equal((await bucket.find({ "metadata.by": "ann" }).toArray())[0].length, 123_456);
  await bucket.delete(upload.id);
  assert.equal(await db.collection("fs.chunks").countDocuments(), 0);
});

test("lifetimes", { skip: lack("virtual clock") }, async () => {
  const mayfly = await startMongo("--memory", "--clock=virtual=2031-02-03T04:05:06Z");
  const own = await MongoClient.connect(mayfly.uri());
  try {
    const stamped = own.db("t").collection("stamped");
    assert.equal(await stamped.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 }), "_ts_1");
    await stamped.insertMany([{ ttl: new Double(20) }, { ttl: new Int32(20) }, { ttl: Long.fromInt(20) }, { ttl: 20.5 }, { ttl: Long.fromString("2147483649") }, {}]);
    const dated = own.db("t").collection("dated");
    await dated.createIndex({ at: 1 }, { expireAfterSeconds: 15 });
    await dated.insertMany([{ at: new Date("2031-02-03T04:05:06Z") }, { at: new Date("2031-02-03T04:05:11Z") }, { at: "never" }]);
    let second = 0;
    for (const [at, byStamp, byDate] of [[9, 6, 3], [10, 3, 3], [14, 3, 3], [15, 3, 2], [19, 3, 2], [20, 0, 1]]) {
      await mayfly.advance(at - second);
      second = at;
      assert.deepEqual([(await stamped.find().toArray()).length, await dated.countDocuments()], [byStamp, byDate], `second ${at}`);
    }
  } finally {
    await own.close();
    await mayfly.stop();
  }
});
