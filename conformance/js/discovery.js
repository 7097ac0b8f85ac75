// Connects with the string of TESTED_URI and uses what a stand-alone server does not have. TestDiscovery of
// ../mongo runs it on machines of its own.
import { MongoClient } from "mongodb";

async function visit(uri) {
  const client = new MongoClient(uri, { monitorCommands: true, serverSelectionTimeoutMS: process.env.TESTED_HASTE ? 1000 : 20000 });
  try {
    let retryable = 0;
    client.on("commandStarted", ({ commandName, command }) => {
      if (commandName === "insert" && command.txnNumber !== undefined && command.autocommit === undefined) retryable++;
    });
    const c = client.db("visits").collection("by");
    await c.insertOne({});
    if ((retryable === 1) === uri.includes("retrywrites=false")) throw new Error(`${retryable} retryable writes`);
    const stream = c.watch();
    const next = stream.next();
    next.catch(() => {}); // it is waited for below
    await new Promise((resolve) => stream.cursor.once("init", resolve));
    await client.withSession((session) => session.withTransaction(() => c.insertOne({}, { session })));
    await next;
    await stream.close();
  } finally {
    await client.close();
  }
}

visit(process.env.TESTED_URI).catch((err) => {
  console.error(err);
  process.exitCode = 1;
});
