/** Regenerates docs/reference from the descriptions by the service and the command. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ServiceProcess } from './demo/service-process.mjs';
import { ROOT, compile, ensureInstalled, pinnedNode, say } from './prepare.mjs';
import { commandPage, nodesPage } from './reference-pages.mjs';

ensureInstalled();
compile();
const folder = mkdtempSync(join(tmpdir(), 'parley-reference-'));
const env = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(folder, 'data'), AUTH_MODE: 'none' };
const service = new ServiceProcess('parley', 'src/main', { env, logFile: join(folder, 'log') });
try {
  const url = await service.ready();
  write('docs/reference/nodes.md', nodesPage(await (await fetch(`${url}/schemas/workflow.json`)).json()));
  write('docs/reference/command.md', await commandPage(help));
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}

function help(...args) {
  const main = join(ROOT, 'dist/apps/cli/src/main.js');
  return execFileSync(pinnedNode(), [main, ...args, '--help'], { encoding: 'utf8', env: { NO_COLOR: '1' } });
}

function write(page, text) {
  const path = join(ROOT, page);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  say(`Wrote ${page}`);
}
