// Starts the binary under test and moves its clock.
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { CosmosClient } from "@azure/cosmos";

/** The account key that every emulator shares and publishes. */
export const key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/** Runs TESTED_BIN with its API for NoSQL on a free port; resolves when it is ready. Several processes have no plain http. */
export async function start(...flags) {
  const [nosql, admin] = await freePorts(2);
  const mayfly = await launch(admin, "--nosql", `127.0.0.1:${nosql}`, "--mongo", "", ...flags);
  const https = `https://127.0.0.1:${nosql}`;
  return { ...mayfly, http: several ? https : `http://127.0.0.1:${nosql}`, https };
}

/** The same with its API for MongoDB, as a replica set of one; uri() is a connection string. */
export async function startMongo(...flags) {
  const [mongo, second, admin] = await freePorts(3);
  const seeds = several && process.env.TESTED_MONGO === "seeds";
  const hosts = `127.0.0.1:${mongo}` + (seeds ? `,127.0.0.1:${second}` : "");
  const mayfly = await launch(admin, "--nosql", "", "--mongo", hosts, ...flags);
  const query = seeds ? "" : several ? "loadBalanced=true" : "replicaSet=globaldb";
  return { ...mayfly, uri: (database = "") => `mongodb://${hosts}/${database}?${query}` };
}

/** Whether TESTED_BIN is several processes that share a cluster; ../several/several.go. */
export const several = Boolean(process.env.TESTED_SEVERAL);

/** Why a test is skipped that needs a capability which several processes lack; false if it is not skipped. */
export function lack(capability) {
  const why = capabilities[capability];
  if (!why) throw new Error(`capabilities.json has no ${capability}`);
  return several && `${capability}: ${why}`;
}

const capabilities = JSON.parse(readFileSync(new URL("../several/capabilities.json", import.meta.url), "utf8"));

async function launch(admin, ...flags) {
  const child = spawn(process.env.TESTED_BIN, ["--admin", `127.0.0.1:${admin}`, ...flags]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const exit = once(child, "exit");
  const mayfly = {
    admin: `http://127.0.0.1:${admin}`,
    async advance(seconds) {
      const answer = await fetch(`http://127.0.0.1:${admin}/clock/advance`, {
        method: "POST",
        body: JSON.stringify({ duration: `${seconds}s` }),
      });
      if (!answer.ok) throw new Error(`advance: ${answer.status} ${await answer.text()}`);
    },
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
  };
  for (let i = 0; i < 1000 && child.exitCode === null; i++) {
    const ready = await fetch(`http://127.0.0.1:${admin}/readyz`).catch(() => undefined);
    if (ready?.ok) return mayfly;
    await pause(10);
  }
  child.kill("SIGKILL");
  throw new Error(`mayfly did not get ready\n${output}`);
}

/** n different ports that nothing listens on and no other test takes (../loopback says why). */
async function freePorts(n) {
  const ports = [];
  while (ports.length < n) {
    const port = 10240 + Math.floor(Math.random() * 22528);
    const mark = createSocket("udp4").bind({ port, address: "127.0.0.1" });
    if (!(await listens(mark))) {
      mark.close();
      continue;
    }
    mark.unref();
    const server = createServer().listen(port, "127.0.0.1");
    if (!(await listens(server))) {
      mark.close();
      continue;
    }
    server.close();
    await once(server, "close");
    ports.push(port);
  }
  return ports;
}

/** Whether a socket got the port it asked for. */
const listens = (socket) => once(socket, "listening").then(() => true, () => false);

let made = 0;

/** An SDK client with the account key. */
export function connect(endpoint) {
  return new CosmosClient({ endpoint, key });
}

/** A database with a name of its own. */
export async function newDatabase(client) {
  const { database } = await client.databases.create({ id: `js-${process.pid}-${++made}` });
  return database;
}

/** A container partitioned by /pk in a database of its own. */
export async function newContainer(client, definition = {}) {
  const database = await newDatabase(client);
  const { container } = await database.containers.create({ id: "things", partitionKey: "/pk", ...definition });
  return container;
}

/** Runs f and returns the error it must throw; checks its code. */
export async function refused(code, f) {
  try {
    await f();
  } catch (error) {
    if (error.code !== code) throw new Error(`refused with ${error.code}, want ${code}: ${error.message}`, { cause: error });
    return error;
  }
  throw new Error(`succeeded, want ${code}`);
}

/** The status of a point read; the SDK does not throw for 404. */
export async function status(container, id, pk = "p") {
  const { statusCode, resource } = await container.item(id, pk).read();
  if ((statusCode === 404) !== (resource === undefined)) throw new Error(`${statusCode} with ${JSON.stringify(resource)}`);
  return statusCode;
}
