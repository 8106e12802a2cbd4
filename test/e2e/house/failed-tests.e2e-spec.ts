import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../../..');
const MODULE = pathToFileURL(join(ROOT, 'scripts/failed-tests.mjs')).href;

interface FailedTest {
  file: string;
  name: string;
  message: string;
}

const { failedTestsOf, linesOf, recordFailedTests } = (await import(MODULE)) as {
  failedTestsOf: (report: object | undefined, code: number | null) => FailedTest[];
  linesOf: (test: FailedTest) => string[];
  recordFailedTests: (tests: FailedTest[]) => void;
};

const CAUSES = pathToFileURL(join(ROOT, 'test/error-causes.mjs')).href;
const { addCauses } = (await import(CAUSES)) as { addCauses: (error: unknown) => void };

const folder = mkdtempSync(join(tmpdir(), 'parley-failed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function reportOf(assertionResults: object[], message = ''): object {
  return { testResults: [{ name: join(ROOT, 'libs/a.spec.ts'), status: 'failed', message, assertionResults }] };
}

describe('the failed tests of a run', () => {
  it('are those of the report of jest', () => {
    const report = reportOf([
      { status: 'passed', fullName: 'a works', failureMessages: [] },
      { status: 'failed', fullName: 'a breaks', failureMessages: ['Error: one', 'Error: two'] },
    ]);
    expect(failedTestsOf(report, 1)).toEqual([
      { file: 'libs/a.spec.ts', name: 'a breaks', message: 'Error: one\nError: two' },
    ]);
  });

  it('contain a file that could not be loaded', () => {
    const [failed] = failedTestsOf(reportOf([], 'SyntaxError: no'), 1);
    expect(failed).toEqual({ file: 'libs/a.spec.ts', name: 'the file itself', message: 'SyntaxError: no' });
  });

  it('contain a run that ended without a report', () => {
    expect(failedTestsOf(undefined, null).map(({ file, name }) => [file, name])).toEqual([['jest', 'the run itself']]);
    expect(failedTestsOf({ testResults: [] }, 0)).toEqual([]);
  });

  it('are listed with the first two lines of the message, plain and short', () => {
    const message = `\u001B[31mError: a\u001B[39m\n\n  Expected: ${'😀'.repeat(300)}\nReceived: b`;
    const [head, first, second, ...rest] = linesOf({ file: 'a.spec.ts', name: 'breaks', message });
    expect([head, first, rest]).toEqual(['a.spec.ts › breaks', '    Error: a', []]);
    expect([...second!]).toHaveLength(200);
    expect(second).toMatch(/^ {4}Expected: 😀+…$/u);
  });
});

describe('the message of a failed test', () => {
  it('ends with the causes of its error', () => {
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    const error = new TypeError('fetch failed', { cause: new Error('other side closed', { cause: reset }) });
    const frames = error.stack!.split('\n').slice(1);
    addCauses(error);
    const [head, ...rest] = error.stack!.split('\n');
    expect(head).toBe('TypeError: fetch failed (cause: other side closed; ECONNRESET: read ECONNRESET)');
    expect(rest).toEqual(frames);
  });

  it('stays as it is where there is no cause, or where causes have each other', () => {
    const error = new Error('alone');
    const { stack } = error;
    addCauses(error);
    expect(error.stack).toBe(stack);
    error.cause = error;
    addCauses(error);
    expect(error.stack).toBe(stack);
    expect(() => addCauses('a text')).not.toThrow();
  });
});

/**
 * Runs a copy of `.ci/run` whose `npm` is a script of this test: the tests print `summary`, and record failed tests.
 * @param edit changes the copy
 * @param interop command of the shell in place of `npm run interop`
 */
function runCi(
  summary: string,
  failed: FailedTest[] = [],
  { edit = (text: string): string => text, interop = 'true' } = {},
): { code: number | null; lines: string[] } {
  const [failures, bin] = [join(folder, 'failures'), join(folder, 'bin')];
  rmSync(failures, { force: true });
  for (const name of ['.ci', 'bin']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, '.ci/run'), edit(readFileSync(join(ROOT, '.ci/run'), 'utf8')));
  process.env['PARLEY_TEST_FAILURES'] = failures;
  recordFailedTests(failed);
  const npm = `#!/bin/sh
case "$*" in
  'test -- --all') cat '${failures}' >> "$PARLEY_TEST_FAILURES"; echo '${summary}' ;;
  'run interop') ${interop} ;;
esac
`;
  writeFileSync(join(bin, 'npm'), npm, { mode: 0o755 });
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
  const { status, stdout } = spawnSync('bash', [join(folder, '.ci/run')], { env, encoding: 'utf8' });
  return { code: status, lines: stdout.trimEnd().split('\n') };
}

describe('.ci/run', () => {
  it('lists the failed tests right before its last line', () => {
    const { lines } = runCi('3 passed, 2 failed', [
      { file: 'a.spec.ts', name: 'breaks', message: 'Error: one\ntwo\nthree' },
      { file: 'b.spec.ts', name: 'stops', message: 'Error: late' },
    ]);
    expect(lines.slice(-7)).toEqual([
      'Failed tests:',
      'a.spec.ts › breaks',
      '    Error: one',
      '    two',
      'b.spec.ts › stops',
      '    Error: late',
      '3 passed, 2 failed',
    ]);
  });

  it('lists at most 40 lines', () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ file: `${at}.spec.ts`, name: 'breaks', message: 'no\nway' }));
    const { lines } = runCi('0 passed, 30 failed', many);
    const list = lines.slice(lines.indexOf('Failed tests:'), -1);
    expect(list).toHaveLength(40);
    expect(list.at(-1)).toBe('... and 52 more lines');
  });

  it('lists nothing where all tests pass', () => {
    const { code, lines } = runCi('3 passed, 0 failed');
    expect(code).toBe(0);
    expect(lines).not.toContain('Failed tests:');
    expect(lines.at(-1)).toBe('3 passed, 0 failed');
  });

  it('stops agents of other frameworks in time, which is no failure, and fails if they fail before', () => {
    const edit = (text: string): string => text.replace('latest_end=1680', 'latest_end=1');
    const stopped = runCi('3 passed, 0 failed', [], { edit, interop: 'exec sleep 600' });
    expect(stopped.lines).toContainEqual(expect.stringMatching(/^npm run interop is stopped: \d+ seconds have passed/));
    expect([stopped.code, stopped.lines.at(-1)]).toEqual([0, '3 passed, 0 failed']);
    expect(runCi('3 passed, 0 failed', [], { interop: 'exit 1' }).code).toBe(1);
  });

  it('ends with the counts alone where tests were skipped, and with a failure where there are no counts', () => {
    expect(runCi('3 passed, 0 failed, 2 skipped').lines.at(-1)).toBe('3 passed, 0 failed');
    expect(runCi('Killed').lines.at(-1)).toBe('0 passed, 1 failed');
  });
});
