// Every helper by which an operator looks at a server, in a database of its own.
const assert = require("assert");

/** Requires that f fails with a message; assert.throws would not wait for it. */
function refused(message, f) {
  try {
    f();
  } catch (error) {
    assert.match(error.message, message);
    return;
  }
  assert.fail(`succeeded, want ${message}`);
}

const ok = (answer) => { assert.equal(answer.ok, 1); return answer; };
const number = (value) => Number(value.toString());

db.c.insertMany(Array.from({ length: 30 }, (_, i) => ({ _id: i, n: i % 3, text: "漢".repeat(200) })));
db.c.createIndex({ n: 1 });

// The server.
assert.match(db.version(), /^7\.0\./);
ok(db.serverBuildInfo());
ok(db.hostInfo());
ok(db.serverCmdLineOpts());
ok(db.hello());
ok(db.isMaster());
assert.equal(db.listCommands().value.ping.adminOnly, false);
assert.match(db.commandHelp("ping"), /Answers that the server is alive/);
const status = ok(db.serverStatus());
for (const section of ["asserts", "connections", "globalLock", "mem", "metrics", "network", "opcounters", "repl", "storageEngine", "transactions"]) {
  assert.equal(typeof status[section], "object", section);
}
const inFirst = number(status.network.bytesIn);
assert(inFirst > 18_000 && number(status.network.bytesOut) > 0 && number(status.network.numRequests) > 5);
assert(number(db.serverStatus().network.bytesIn) > inFirst);
assert.equal(db.serverStatus({ repl: 0 }).repl, undefined);
assert.equal(typeof db.getLogComponents().verbosity, "number");
ok(db.setLogLevel(0));
assert(Array.isArray(ok(db.adminCommand({ getLog: "global" })).log));
assert.deepEqual(ok(db.adminCommand({ getLog: "*" })).names, ["global", "startupWarnings"]);
refused(/No log named 'other'/, () => db.adminCommand({ getLog: "other" }));

// Sizes and times.
assert.equal(number(ok(db.stats()).objects), 30);
assert.equal(number(db.c.stats().count), 30);
assert.equal(number(db.c.stats({ indexDetails: true, scale: 1024 }).nindexes), 2);
assert(db.c.dataSize() > 18_000 && db.c.storageSize() > 0 && db.c.totalIndexSize() > 0 && db.c.totalSize() > 0);
assert.deepEqual(db.c.getIndexes().map((x) => x.name), ["_id_", "n_1"]);
assert.equal(db.c.latencyStats()[0].ns, `${db.getName()}.c`);
refused(/the option histograms of \$collStats is not supported by mayfly/, () => db.c.latencyStats({ histograms: true }));
assert.equal(db.c.aggregate([{ $indexStats: {} }]).toArray().length, 2);
assert.equal(db.c.validate().valid, true);
ok(db.c.getPlanCache().clear());
refused(/\$planCacheStats is not supported by mayfly/, () => db.c.getPlanCache().list());
assert(db.printCollectionStats().value.c.ns.endsWith(".c"));

// The replica set of one.
assert.equal(ok(rs.status()).myState, 1);
assert.equal(rs.conf().members.length, 1);
assert.equal(ok(rs.hello()).setName, "globaldb");
assert.deepEqual(rs.printSecondaryReplicationInfo().value, {});
assert.deepEqual(db.printSecondaryReplicationInfo().value, {});
refused(/already initialized/, () => rs.initiate());
refused(/no such command: 'replSetReconfig'/, () => rs.add("other:27017"));
refused(/no such command: 'replSetStepDown'/, () => rs.stepDown());
// They ask for the replication log, and mayfly says that it has none.
for (const f of [() => rs.printReplicationInfo(), () => db.printReplicationInfo(), () => db.getReplicationInfo()]) {
  refused(/local\.oplog\.rs is not supported by mayfly.*change stream/, f);
}

// Shards: mongosh itself says that there are none.
refused(/does not have sharding enabled/, () => sh.status());
refused(/is not sharded/, () => db.c.getShardDistribution());

// Running operations.
assert(ok(db.currentOp()).inprog.length > 0);
assert(ok(db.currentOp({ $all: true })).inprog.length > 0);
assert.deepEqual(ok(db.currentOp({ ns: "none" })).inprog, []);
ok(db.killOp(1_000_000));
const session = db.getMongo().startSession();
session.startTransaction();
session.getDatabase(db.getName()).c.insertOne({ _id: "open" });
const idle = db.getSiblingDB("admin").aggregate([{ $currentOp: {} }, { $match: { type: "idleSession" } }]).toArray();
assert(idle.some((x) => x.active === false && x.lsid.id && x.transaction.parameters.txnNumber), EJSON.stringify(idle));
session.abortTransaction();
session.endSession();

// The profiler.
assert.equal(ok(db.getProfilingStatus()).was, 0);
ok(db.setProfilingLevel(2));
db.c.find({ n: 1, text: "漢".repeat(30_000) }).comment("long").toArray();
db.c.explain().update({ n: 2 }, { $set: { text: "hidden" } });
assert.equal(ok(db.setProfilingLevel(1, { slowms: 20, sampleRate: 0.5, filter: { millis: { $gt: 5 } } })).was, 2);
refused(/takes at most 16384/, () => db.setProfilingLevel(1, { filter: { ns: "x".repeat(17_000) } }));
assert.equal(ok(db.setProfilingLevel(0)).was, 1);
const long = db.system.profile.findOne({ op: "query" });
assert.equal(long.planSummary, "IXSCAN { n: 1 }");
assert.equal(long.command.comment, "long");
assert.match(long.command.$truncated, /^\{ find: "c".*\.\.\.$/);
const explained = EJSON.stringify(db.system.profile.findOne({ "command.explain.update": "c" }));
assert.match(explained, /\{\$set: \{text: \?\}\}/);
assert.doesNotMatch(explained, /hidden/);
print("monitoring passed");
