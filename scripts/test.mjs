/**
 * `npm test`: installs and builds what is missing, runs the tests, and ends with one line `N passed, N failed` (and
 * `, N skipped` when there are any). Arguments go to jest, and then choose among all tests.
 * - Without arguments it leaves out the files of test/long.mjs.
 * - `--long` runs those, and `--all` both.
 * If `PARLEY_TEST_FAILURES` names a file, the failed tests are appended to it.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from './checks.mjs';
import { ensureChromium } from './chromium.mjs';
import { onEnding } from './ending.mjs';
import { failedTestsOf, recordFailedTests } from './failed-tests.mjs';
import { LONG } from '../test/long.mjs';
import { ROOT, ensureBuilt, ensureInstalled } from './prepare.mjs';

const options = jestOptions(process.argv.slice(2));
ensureInstalled();
ensureBuilt();
if (mayDriveBrowser(options)) {
  const { path, reason } = ensureChromium();
  if (path) process.env.PARLEY_TEST_BROWSER = path;
  else process.env.PARLEY_TEST_NO_BROWSER = reason;
}
const folder = mkdtempSync(join(tmpdir(), 'parley-test-'));
const report = join(folder, 'report.json');
// Where test/support/free-port.mjs notes the ports that this run has used.
process.env.PARLEY_TEST_PORTS = join(folder, 'ports');
mkdirSync(process.env.PARLEY_TEST_PORTS);
const [command, ...args] = jest(['--json', `--outputFile=${report}`, ...projectsLast(options)]);
// With --json jest keeps standard output for the report, which goes to the file instead; but for the table of coverage.
const output = process.argv.includes('--coverage') ? 'inherit' : 'ignore';
const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', output, 'inherit'] });
onEnding((signal) => child.kill(signal));
child.on('exit', (code) => {
  const summary = readReport();
  const counts = countsOf(summary);
  rmSync(folder, { recursive: true, force: true });
  const failed = code === 0 ? counts.failed : Math.max(counts.failed, 1);
  recordFailedTests(failedTestsOf(summary, code));
  for (const name of skippedTests(summary)) console.log(`skipped: ${name}`);
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  console.log(`${counts.passed} passed, ${failed} failed${skipped}`);
  process.exit(failed > 0 ? 1 : 0);
});

/**
 * Returns the options of jest for the given arguments. If there are any, they choose among all tests, including those
 * of test/long.mjs.
 */
function jestOptions(given) {
  const long = LONG.map((path) => `/${path.replaceAll('.', '\\.')}`);
  if (given.length === 0) return long.flatMap((path) => ['--testPathIgnorePatterns', path]);
  if (given.includes('--long'))
    return [...given.filter((it) => it !== '--long'), ...long.flatMap((path) => ['--testPathPatterns', path])];
  return given.filter((it) => it !== '--all');
}

/**
 * Moves `--selectProjects` to the end: jest takes everything after it, even the path of a test, for names of projects.
 */
function projectsLast(args) {
  const at = args.indexOf('--selectProjects');
  return at === -1 ? args : [...args.slice(0, at), ...args.slice(at + 2), ...args.slice(at, at + 2)];
}

/** True if the tests to run may need a browser: those of the project `browser`, or of no chosen project. */
function mayDriveBrowser(args) {
  return !args.includes('--selectProjects') || args.includes('browser');
}

function readReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Returns the numbers of passed, failed and skipped tests. A file that could not be loaded counts as one failed test.
 */
function countsOf(summary) {
  return {
    passed: summary?.numPassedTests ?? 0,
    failed: (summary?.numFailedTests ?? 0) + (summary?.numRuntimeErrorTestSuites ?? 0),
    skipped: (summary?.numPendingTests ?? 0) + (summary?.numTodoTests ?? 0),
  };
}

/** Returns the full names of the skipped tests. The name of a test that may be skipped contains the reason. */
function skippedTests(summary) {
  const tests = (summary?.testResults ?? []).flatMap((suite) => suite.assertionResults);
  return tests.filter((test) => test.status === 'pending' || test.status === 'todo').map((test) => test.fullName);
}
