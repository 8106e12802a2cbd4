/**
 * Runs every check (`npm run check`), two at a time, and prints the time of each and the output of those that fail.
 * Exits with 1 if one fails.
 * - With names as arguments (`node scripts/check.mjs lint types`), it runs only these checks.
 * - With `--without-tests`, it omits the unit tests, for people who also run `npm test`.
 */
import { spawn } from 'node:child_process';
import { ROOT, ensureInstalled } from './prepare.mjs';
import { CHECKS } from './checks.mjs';

const withoutTests = process.argv.includes('--without-tests');
const chosen = process.argv.slice(2).filter((argument) => argument !== '--without-tests');
const names = (chosen.length > 0 ? chosen : Object.keys(CHECKS)).filter(
  (name) => !withoutTests || name !== 'unit tests',
);
const unknown = names.filter((name) => !(name in CHECKS));
if (unknown.length > 0) {
  console.error(`Unknown check: ${unknown.join(', ')}. There are: ${Object.keys(CHECKS).join(', ')}.`);
  process.exit(2);
}

ensureInstalled();
const waiting = [...names];
const passed = new Set();
await Promise.all([work(), work()]);
const failed = names.filter((name) => !passed.has(name));
console.log(failed.length > 0 ? `\nFailed: ${failed.join(', ')}` : '\nAll checks passed');
process.exit(failed.length > 0 ? 1 : 0);

/**
 * Runs waiting checks one after the other. Two of these workers run concurrently, since most checks use only one
 * processor.
 */
async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) if (await passes(name)) passed.add(name);
}

async function passes(name) {
  const started = Date.now();
  const { code, said } = await run(...CHECKS[name]());
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? '✓' : '✗'} ${name.padEnd(14)} ${seconds.padStart(5)} s`);
  if (code !== 0 || said.startsWith('Skipped')) console.log(said.trimEnd());
  return code === 0;
}

/** Runs a command to its end. @returns its output, or the reason why it could not start */
function run(command, ...args) {
  // Those that know the types are written in Go, which collects what they will need until they end.
  const env = { GOGC: '400', ...process.env };
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ said: error.message }));
    child.on('close', (code) => resolve({ code, said }));
  });
}
