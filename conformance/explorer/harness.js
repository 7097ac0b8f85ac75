// What every test of the explorer needs: a mayfly in memory, a Chromium, pages that fail on an error in the console, on a
// request to another host and on a violation of the content security policy.
//
// EXPLORER_FILES=../../internal/explorer serves the page's files from that folder instead of from the binary, so that an
// edited file shows without a build. Screenshots go to EXPLORER_SHOTS, by default ./shots.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const bin = process.env.TESTED_BIN ?? new URL('../.bin/mayfly', import.meta.url).pathname;
const files = process.env.EXPLORER_FILES;
const shots = process.env.EXPLORER_SHOTS ?? new URL('shots', import.meta.url).pathname;

export const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } };
const types = { '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html', '.json': 'application/json', '.svg': 'image/svg+xml' };

// chromiumPath is the browser that is there: Debian's, or the one that CHROMIUM names.
export function chromiumPath() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const paths = process.env.PATH.split(':').flatMap((folder) => names.map((name) => join(folder, name)));
  const found = [process.env.CHROMIUM, ...paths].find((p) => p && existsSync(p));
  if (!found) throw new Error('no Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM');
  return found;
}

// startMayfly starts a server with an admin address on a free port, in memory; flags are added to the command line.
export async function startMayfly(...flags) {
  const process_ = spawn(bin, ['--memory', '--nosql=127.0.0.1:0', '--mongo=127.0.0.1:0', '--admin=127.0.0.1:0', ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  let err = '';
  process_.stderr.on('data', (d) => { err += d; });
  const addresses = {};
  for await (const line of createInterface(process_.stdout)) {
    const found = /^\s*(NoSQL|MongoDB|Admin)\s+(\S+)/.exec(line);
    if (found) addresses[found[1]] = found[2];
    if (addresses.Admin) break;
  }
  if (!addresses.Admin) throw new Error(`mayfly did not start: ${err}`);
  const admin = addresses.Admin.replace(/\/$/, '');
  process_.stdout.resume();
  const api = async (method, path, body, headers = {}) => {
    const answer = await fetch(`${admin}/_mayfly/v1${path}`, {
      method, headers: { 'Content-Type': 'application/json', ...headers }, body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
  return {
    admin, addresses, api, process: process_,
    async stop() {
      if (process_.exitCode !== null || process_.signalCode) return;
      process_.kill('SIGTERM');
      await once(process_, 'exit');
    },
  };
}

// startBrowser returns a browser with open(), which makes a page, and stop().
export async function startBrowser() {
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  return {
    browser,
    // open shows a server's page. Afterwards page.check() asserts that nothing went wrong in it; page.expected(pattern)
    // excuses console errors, such as those of answers 404 that a test provokes.
    async open(server, { size = 'wide', dark = false, language = 'en-GB', at = '/', storage } = {}) {
      const context = await browser.newContext({
        viewport: sizes[size], colorScheme: dark ? 'dark' : 'light', locale: language, timezoneId: 'UTC', reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'], serviceWorkers: 'block',
      });
      const page = await context.newPage();
      page.setDefaultTimeout(10000);
      const wrong = [];
      const excused = [];
      page.on('console', (m) => { if (m.type() === 'error') wrong.push(`console: ${m.text()} ${m.location().url}`); });
      page.on('pageerror', (e) => wrong.push(`error: ${e.stack}`));
      page.on('request', (r) => {
        const url = new URL(r.url());
        if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== server.admin) wrong.push(`request to ${r.url()}`);
      });
      await page.addInitScript((stored) => {
        addEventListener('securitypolicyviolation', (e) => console.error(`CSP: ${e.violatedDirective} ${e.blockedURI}`));
        for (const [key, value] of Object.entries(stored ?? {})) localStorage.setItem(`mayfly.${key}`, JSON.stringify(value));
      }, storage);
      if (files) {
        await page.route('**/_explorer/**', (route) => {
          const path = join(files, new URL(route.request().url()).pathname.slice('/_explorer/'.length));
          if (!existsSync(path)) return route.fulfill({ status: 404 });
          return route.fulfill({ body: readFileSync(path), contentType: types[/\.\w+$/.exec(path)?.[0]] });
        });
        await page.route((u) => u.pathname === '/', async (route) => {
          const answer = await route.fetch();
          return route.fulfill({ response: answer, body: readFileSync(join(files, 'src/index.html')) });
        });
      }
      page.expected = (pattern) => excused.push(pattern);
      page.check = () => assert.deepEqual(wrong.filter((w) => !excused.some((p) => p.test(w))), []);
      page.shot = async (name, options) => {
        mkdirSync(shots, { recursive: true });
        await page.screenshot({ path: join(shots, `${name}.png`), ...options });
      };
      // fits asserts that the page does not scroll sideways.
      page.fits = async () => {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
      };
      // accessible asserts that axe finds nothing serious.
      page.accessible = async () => {
        await page.evaluate(readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8'));
        const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
        const serious = violations.filter((v) => ['serious', 'critical'].includes(v.impact));
        assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 200)).join(' | ')}`), []);
      };
      page.done = async () => {
        page.check();
        await context.close();
      };
      await page.goto(server.admin + at);
      return page;
    },
    stop: () => browser.close(),
  };
}

// everyLook runs a test at both sizes, light and dark.
export async function everyLook(t, run) {
  for (const size of Object.keys(sizes)) {
    for (const dark of [false, true]) {
      await t.test(`${size} ${dark ? 'dark' : 'light'}`, () => run({ size, dark, name: `${size}-${dark ? 'dark' : 'light'}` }));
    }
  }
}
