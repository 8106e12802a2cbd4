/** Failed tests of a run of jest or of node:test, as the few lines that `.ci/run` prints last. */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ROOT } from './prepare.mjs';

/** Number of lines of a message that are listed; the first ones say what failed. */
const MESSAGE_LINES = 2;
/** Number of characters of a listed line. */
const LINE_CHARACTERS = 200;

/**
 * Returns the failed tests of a run of jest.
 * - A file that could not be loaded counts as one.
 * - A run that failed without naming a test counts as one, such as one that was killed before its report.
 * @param report what `jest --json` wrote, if anything
 * @param code exit code of jest, or `null` if a signal ended it
 */
export function failedTestsOf(report, code) {
  const failed = (report?.testResults ?? []).filter(({ status }) => status === 'failed').flatMap(failedTestsOfFile);
  if (failed.length > 0 || code === 0) return failed;
  return [{ file: 'jest', name: 'the run itself', message: `ended with ${code}, and names no failed test` }];
}

function failedTestsOfFile({ name: path, message, assertionResults }) {
  const file = relative(ROOT, path);
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return [{ file, name: 'the file itself', message }];
  return failed.map(({ fullName, failureMessages }) => ({ file, name: fullName, message: failureMessages.join('\n') }));
}

/** Returns the lines that list a failed test: `file › name`, then the first two lines of its message. */
export function linesOf({ file, name, message }) {
  const lines = stripVTControlCharacters(message).split('\n');
  const said = lines.filter((line) => line.trim() !== '').slice(0, MESSAGE_LINES);
  return [`${file} › ${name}`, ...said.map((line) => `    ${line.trim()}`)].map(shortened);
}

function shortened(line) {
  const characters = [...line];
  return characters.length > LINE_CHARACTERS ? `${characters.slice(0, LINE_CHARACTERS - 1).join('')}…` : line;
}

/** Appends failed tests to the file that `PARLEY_TEST_FAILURES` names, if it does. */
export function recordFailedTests(tests) {
  const file = process.env.PARLEY_TEST_FAILURES;
  if (file !== undefined)
    appendFileSync(
      file,
      tests
        .flatMap(linesOf)
        .map((line) => `${line}\n`)
        .join(''),
    );
}
