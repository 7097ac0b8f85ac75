// What people type into a shell, with what it must answer.
const assert = require("assert");

/** Requires that f fails; assert.throws would not wait for it. */
function refused(message, f) {
  try {
    f();
  } catch (error) {
    assert.match(error.message, message);
    return;
  }
  assert.fail(`succeeded, want ${message}`);
}

const range = (n) => Array.from({ length: n }, (_, i) => i);

assert.equal(db.things.insertOne({ _id: "a", n: 1 }).insertedId, "a");
assert.equal(Object.keys(db.things.insertMany(range(200).map((i) => ({ _id: i, n: i % 10, when: ISODate("2030-01-01"), tags: [`t${i % 3}`] }))).insertedIds).length, 200);
assert.equal(db.things.find({ n: { $gte: 8 }, _id: { $type: "number" } }).sort({ _id: -1 }).skip(1).limit(3).map((d) => d._id).toArray().join(), "198,189,188");
assert.equal(db.things.find().itcount(), 201);
assert.equal(db.things.find({ n: 1 }).count(), 21);
assert.equal(db.things.countDocuments({ n: 1 }), 21);
assert.equal(db.things.estimatedDocumentCount(), 201);
assert.equal(db.things.find({}, { _id: 1 }).hasNext(), true);
let n = 0;
db.things.find({ n: 3 }).forEach((d) => { n += d.n; });
assert.equal(n, 60);
assert.deepEqual(db.things.distinct("n").sort(), range(10));
assert.equal(db.things.aggregate([{ $unwind: "$tags" }, { $sortByCount: "$tags" }, { $limit: 1 }]).toArray()[0].count, 67);
assert.equal(db.things.updateMany({ n: 1 }, { $set: { one: true } }).modifiedCount, 21);
assert.equal(db.things.replaceOne({ _id: "b" }, { x: 1 }, { upsert: true }).insertedId, "b");
assert.equal(db.things.findOneAndUpdate({ _id: "b" }, { $inc: { x: 1 } }, { returnDocument: "after" }).x, 2);
assert.equal(db.things.findAndModify({ query: { _id: "b" }, update: { $set: { x: 5 } }, new: true }).x, 5);
assert.equal(db.things.deleteOne({ _id: "b" }).deletedCount, 1);
assert.equal(db.things.bulkWrite([{ insertOne: { document: { _id: "c" } } }, { deleteOne: { filter: { _id: "c" } } }]).deletedCount, 1);
const bulk = db.things.initializeUnorderedBulkOp();
bulk.find({ _id: 0 }).updateOne({ $set: { bulk: true } });
bulk.insert({ _id: "d" });
assert.equal(bulk.execute().insertedCount, 1);
refused(/E11000 duplicate key error/, () => db.things.insertOne({ _id: "d" }));

assert.equal(db.things.createIndex({ n: 1, _id: -1 }), "n_1__id_-1");
assert.deepEqual(db.things.createIndexes([{ tags: 1 }, { when: 1 }]), ["tags_1", "when_1"]);
assert.deepEqual(db.things.getIndexes().map((x) => [x.v, x.name, EJSON.stringify(x.key)]), [
  [2, "_id_", '{"_id":1}'], [2, "n_1__id_-1", '{"n":1,"_id":-1}'], [2, "tags_1", '{"tags":1}'], [2, "when_1", '{"when":1}']]);
assert.deepEqual(db.things.getIndexKeys().length, 4);
assert.equal(db.things.dropIndex("when_1").nIndexesWas, 4);
refused(/index not found/, () => db.things.dropIndex("when_1"));
db.things.hideIndex("tags_1");
assert.equal(db.things.getIndexes()[2].hidden, true);
db.things.unhideIndex("tags_1");

const stage = (plan) => (plan.inputStage ? stage(plan.inputStage) : plan.stage);
assert.equal(stage(db.things.find({ n: 4 }).explain().queryPlanner.winningPlan), "IXSCAN");
assert.equal(stage(db.things.explain().find({ tags: "t1" }).finish().queryPlanner.winningPlan), "IXSCAN");
const run = db.things.explain("executionStats").find({ when: 1 }).finish();
assert.equal(stage(run.queryPlanner.winningPlan), "COLLSCAN");
assert.equal(run.executionStats.totalDocsExamined, 202);
assert.equal(db.things.explain("executionStats").aggregate([{ $match: { n: 4 } }]).ok, 1);
assert.equal(db.things.explain().update({ n: 4 }, { $set: { z: 1 } }).ok, 1);
assert.equal(db.things.explain().count({ n: 4 }).ok, 1);

const stats = db.stats();
assert.deepEqual([stats.collections, stats.objects, stats.indexes].map(Number), [1, 202, 3]);
const own = db.things.stats();
assert.deepEqual([own.ns, Number(own.count), Number(own.nindexes), own.capped], [`${db.getName()}.things`, 202, 3, false]);
assert(db.things.totalSize() > 0 && db.things.dataSize() > 0 && db.things.totalIndexSize() >= 0);
assert.equal(db.things.validate().valid, true);
assert.equal(db.things.isCapped(), false);

db.createCollection("strict", { validator: { n: { $type: "int" } } });
refused(/Document failed validation/, () => db.strict.insertOne({ n: "x" }));
db.createView("few", "things", [{ $match: { n: { $lt: 2 } } }, { $project: { n: 1 } }]);
assert.equal(db.few.countDocuments(), 41);
assert.deepEqual(db.getCollectionNames().filter((name) => !name.startsWith("system.")).sort(), ["few", "strict", "things"]);
assert.equal(db.getCollectionInfos({ name: "few" })[0].type, "view");
assert.equal(db.strict.renameCollection("stricter").ok, 1);
assert.equal(db.stricter.drop(), true);
assert(db.adminCommand({ listDatabases: 1 }).databases.some((d) => d.name === db.getName()));
assert(db.getMongo().getDBNames().includes(db.getName()));

assert.equal(db.hello().setName, "globaldb");
assert.equal(rs.status().members[0].stateStr, "PRIMARY");
assert.equal(rs.conf().members.length, 1);
assert.match(db.version(), /^7\.0\./);
assert.equal(db.serverBuildInfo().ok, 1);
assert.equal(db.serverStatus().ok, 1);
assert.equal(db.hostInfo().ok, 1);
assert.equal(db.currentOp().ok, 1);
assert.equal(db.runCommand({ connectionStatus: 1 }).ok, 1);
assert.equal(db.adminCommand({ getParameter: 1, featureCompatibilityVersion: 1 }).featureCompatibilityVersion.version, "7.0");
refused(/no such command: 'noSuch'/, () => db.runCommand({ noSuch: 1 }));

const session = db.getMongo().startSession();
session.startTransaction();
session.getDatabase(db.getName()).things.insertOne({ _id: "in a transaction" });
assert.equal(db.things.countDocuments({ _id: "in a transaction" }), 0);
session.commitTransaction();
assert.equal(db.things.countDocuments({ _id: "in a transaction" }), 1);
session.endSession();

const stream = db.things.watch([], { maxAwaitTimeMS: 50 });
stream.tryNext();
db.things.deleteOne({ _id: "in a transaction" });
assert.equal(stream.next().operationType, "delete");
stream.close();

load(`${process.env.TESTED_SCRIPTS}/loaded.js`);
assert.equal(db.loaded.findOne().by, "load()");
assert.equal(db.dropDatabase().ok, 1);
print("helpers passed");
