import { type DebianProgram, whyNone } from './debian-program.js';

/**
 * Describes tests that need a program, which is downloaded if it is missing. If that fails, the tests are reported as
 * skipped, with the reason.
 */
export function describeWithProgram(program: DebianProgram, name: string, tests: () => void): void {
  const reason = whyNone(program);
  if (reason === undefined) describe(name, tests);
  else describe['skip'](`${name} (skipped: ${reason})`, tests);
}
