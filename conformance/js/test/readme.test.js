// What the README shows: its program with @azure/cosmos and its lines for a shell,
// against a mayfly that is started as the README says.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { lack, start, startMongo } from "../mayfly.js";

const here = fileURLToPath(new URL("..", import.meta.url)); // where the packages are
const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
const fences = [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));

/** The block of the README in a language that contains such a text. */
function block(language, text) {
  const found = fences.filter((f) => f.language === language && f.text.includes(text));
  assert.equal(found.length, 1, `blocks of ${language} with ${text} in the README`);
  return found[0].text;
}

const flags = block("sh", "--memory").trim().split(/\s+/).slice(1);

let scratch;
before(() => {
  scratch = mkdtempSync(join(tmpdir(), "mayfly-readme-"));
});
after(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs a program with this input, and gives what it printed. */
async function run(command, args, input, env = {}) {
  const child = spawn(command, args, { cwd: here, env: { PATH: process.env.PATH, HOME: scratch, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  child.stdin.end(input);
  const code = await new Promise((done) => child.on("close", done));
  assert.equal(code, 0, output);
  return output;
}

test("the program in JavaScript", { timeout: 60_000, skip: lack("virtual clock") }, async () => {
  const mayfly = await start(...flags);
  try {
    const program = block("js", "@azure/cosmos").replace("http://localhost:8081", mayfly.http).replace("http://localhost:8080", mayfly.admin);
    assert.equal(await run(process.execPath, ["--input-type=module"], program), "404\n");
  } finally {
    await mayfly.stop();
  }
});

test("the lines with mongosh", { timeout: 150_000, skip: lack("virtual clock") }, async () => {
  const mayfly = await startMongo(...flags);
  try {
    const programs = {
      mongosh: `exec ${process.execPath} ${join(here, "node_modules/mongosh/bin/mongosh.js")} --norc "$@"`,
      mayfly: `exec ${process.env.TESTED_BIN} "$@" --admin ${new URL(mayfly.admin).host}`,
    };
    for (const [name, line] of Object.entries(programs)) writeFileSync(join(scratch, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    const { host } = new URL(mayfly.uri());
    const output = await run("sh", ["-eu"], block("sh", "mongosh").replaceAll("localhost:27017", host), {
      PATH: `${scratch}:${process.env.PATH}`,
    });
    const [before, moved, after] = output.trim().split("\n");
    assert.deepEqual([before, after], ["1", "0"], output);
    assert.match(moved, /^\d{4}-\d\d-\d\dT/);
  } finally {
    await mayfly.stop();
  }
});
