/**
 * Runs `npm run fuzz -- --cases N [--seed S]`: installs and builds what is missing, then sends N broken requests to
 * separate services, one for each AUTH_MODE (test/fuzz). Exits with 0 only if no answer was an internal error, no
 * answer was missing, and no service stalled.
 *
 * - `npm run fuzz -- api` runs schemathesis on the OpenAPI document instead.
 * - `npm run fuzz -- clients` validates the document, and calls the service with clients that are generated from it.
 * - `npm run fuzz -- codecs` compares the codec of A2A with the official ones in Python and Go.
 *
 * These need Python 3.10 or Go, and skip what is missing.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onEnding } from './ending.mjs';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode } from './prepare.mjs';

/** Programs that are named by the first argument. */
const OTHER_PROGRAMS = { api: 'api/fuzz-api.ts', clients: 'clients/fuzz-clients.ts', codecs: 'codecs/fuzz-codecs.ts' };

ensureInstalled();
ensureBuilt();
const hooks = join(ROOT, 'test', 'support', 'typescript-hooks.mjs');
const [first = '', ...others] = process.argv.slice(2);
const main = OTHER_PROGRAMS[first] ?? 'fuzz.ts';
const args = [join(ROOT, 'test', 'fuzz', main), ...(first in OTHER_PROGRAMS ? others : process.argv.slice(2))];
// In a group of its own, the child gets each signal once: from here, not from the terminal as well.
const child = spawn(pinnedNode(), ['--import', hooks, ...args], {
  cwd: ROOT,
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: process.platform !== 'win32',
});
onEnding((signal) => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
