import { globSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';

/** Runs the tests of all frameworks, or of those that are named, and tells how many passed and failed. */
const wanted = process.argv.slice(2);
const files = globSync('*.interop.ts', { cwd: import.meta.dirname })
  .filter((file) => wanted.length === 0 || wanted.some((name) => file.startsWith(name)))
  .map((file) => join(import.meta.dirname, file));

let passed = 0;
let failed = 0;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const tests = run({ files, isolation: 'none', concurrency: false });
tests.on('test:start', ({ name, nesting }) => {
  if (nesting === 0) say(`\n${name}`);
});
tests.on('test:pass', ({ name, details }) => {
  if (details.type === 'suite') return;
  passed += 1;
  say(`✓ ${name}`);
});
tests.on('test:fail', ({ name, details }) => {
  const { cause } = details.error;
  // A suite fails because of its tests, which are told already, or because of its hooks.
  if (details.type === 'suite' && /subtest/.test(details.error.message)) return;
  failed += 1;
  say(`✗ ${name}\n${cause instanceof Error ? cause.stack : String(cause ?? details.error)}`);
});
tests.on('end', () => {
  say(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
});
tests.resume();
