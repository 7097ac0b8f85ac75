// internal/explorer/vendor and dist are what `make explorer` gives from the pinned versions and from src.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

const explorer = new URL('../../internal/explorer', import.meta.url).pathname;
const scratch = mkdtempSync(join(tmpdir(), 'mayfly-explorer-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

test('the page is what its sources give', () => {
  for (const name of ['package.json', 'package-lock.json', 'build.mjs', 'src']) {
    cpSync(join(explorer, name), join(scratch, name), { recursive: true });
  }
  for (const folder of ['vendor', 'dist']) mkdirSync(join(scratch, folder));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: scratch, stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync('node', ['build.mjs'], { cwd: scratch, stdio: 'inherit' });
  for (const folder of ['vendor', 'dist']) {
    const names = readdirSync(join(scratch, folder)).sort();
    assert.deepEqual(readdirSync(join(explorer, folder)).sort(), names);
    for (const name of names) {
      const built = readFileSync(join(scratch, folder, name));
      assert.ok(built.equals(readFileSync(join(explorer, folder, name))), `${folder}/${name} is not what \`make explorer\` builds`);
    }
  }
});
