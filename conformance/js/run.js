// Runs the tests against shared mayflies, in memory and on the real clock: one for
// each kind of client.
// NODE_EXTRA_CA_CERTS is read when node starts: hence a process for the tests.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { several, start, startMongo } from "./mayfly.js";

const scratch = mkdtempSync(join(tmpdir(), "mayfly-js-"));
let code = 1;
try {
  if (!process.env.TESTED_BIN) {
    process.env.TESTED_BIN = join(scratch, "mayfly");
    const built = spawnSync("go", ["build", "-o", process.env.TESTED_BIN, "./cmd/mayfly"], {
      cwd: new URL("../..", import.meta.url),
      stdio: "inherit",
    });
    if (built.status !== 0) throw new Error("building mayfly failed");
  }
  const [mayfly, mongo] = await Promise.all([start("--memory"), startMongo("--memory")]);
  const authority = several ? process.env.TESTED_AUTHORITY : join(scratch, "ca.pem");
  if (!several) writeFileSync(authority, await (await fetch(`${mayfly.http}/_mayfly/ca.pem`)).text());
  const tests = spawn(process.execPath, ["--test", "--test-timeout=180000", "--test-reporter=spec", ...process.argv.slice(2)], {
    cwd: new URL(".", import.meta.url),
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: authority,
      TESTED_ADMIN: mayfly.admin,
      TESTED_HTTP: mayfly.http,
      TESTED_HTTPS: mayfly.https,
      TESTED_MONGO_URI: mongo.uri(),
    },
    stdio: "inherit",
  });
  [code] = await once(tests, "exit");
  await Promise.all([mayfly.stop(), mongo.stop()]);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = code ?? 1;
