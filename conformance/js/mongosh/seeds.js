// The samples of "Expire data with Azure Cosmos DB's API for MongoDB", as the page has them.
const assert = require("assert");

/** Moves the server's clock. A script cannot await what is not mongosh's own; sleep() is. */
function advance(seconds) {
  let moved;
  fetch(`${process.env.TESTED_ADMIN}/clock/advance`, { method: "POST", body: JSON.stringify({ duration: `${seconds}s` }) }).then(
    (answer) => { moved = answer.ok; },
    () => { moved = false; },
  );
  while (moved === undefined) sleep(5);
  assert(moved, "the clock did not move");
}

const created = db.runCommand({ createIndexes: "coll", indexes: [{ key: { _ts: 1 }, name: "_ts_1", expireAfterSeconds: 10 }] });
delete created.$clusterTime;
delete created.operationTime;
assert.deepEqual(created, { _t: "CreateIndexesResponse", ok: 1, createdCollectionAutomatically: true, numIndexesBefore: 1, numIndexesAfter: 2 });
db.coll.drop();
assert.equal(db.coll.createIndex({"_ts":1}, {expireAfterSeconds: 10}), "_ts_1");

db.coll.insert({id:1, location: "Paris", ttl: 20.0})
db.coll.insert({id:1, location: "Paris", ttl: NumberInt(20)})
db.coll.insert({id:1, location: "Paris", ttl: NumberLong(20)})
db.coll.insert({id:1, location: "Paris", ttl: 20.5}) //TTL value contains non-zero decimal part.
db.coll.insert({id:1, location: "Paris", ttl: NumberLong(2147483649)}) //TTL value is greater than Int32.MaxValue (2,147,483,648).
db.coll.insert({id:1, location: "Paris"})
db.coll.insert({id:1, location: "Paris", ttl: Double(20)}) // what the first sample is in a driver that keeps 20.0 a double

const ttls = () => db.coll.find({ location: "Paris" }).toArray().map((d) => String(d.ttl)).sort();
const all = ["20", "20", "20", "20", "20.5", "2147483649", "undefined"];
assert.deepEqual(ttls(), all);
assert(db.coll.find().toArray().every((d) => !("_ts" in d)));
advance(9);
assert.deepEqual(ttls(), all);
advance(1);
assert.deepEqual(ttls(), ["20", "20", "20", "20"]);
advance(9);
assert.equal(db.coll.countDocuments(), 4);
advance(1);
assert.equal(db.coll.countDocuments(), 0);
assert.equal(db.coll.find().itcount(), 0);

// The same page's "not modified in the last 10 seconds".
db.coll.insertOne({ _id: "kept" });
for (let i = 0; i < 5; i++) {
  advance(9);
  assert.equal(db.coll.updateOne({ _id: "kept" }, { $inc: { n: 1 } }).matchedCount, 1);
}
advance(10);
assert.equal(db.coll.findOne({ _id: "kept" }), null);

// A server that knows both kinds of lifetime.
assert.equal(db.sessions.createIndex({ at: 1 }, { expireAfterSeconds: 30 }), "at_1");
db.sessions.insertMany([{ at: db.hello().localTime }, { at: "never" }]);
advance(29);
assert.equal(db.sessions.countDocuments(), 2);
advance(2);
assert.equal(db.sessions.countDocuments(), 1);
print("seeds passed");
