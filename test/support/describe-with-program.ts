import { type DebianProgram, whyNone } from './debian-program.js';

/**
 * Describes tests that need a program, which is fetched where it is missing. Reports them as skipped, with the reason,
 * where it cannot be fetched.
 */
export function describeWithProgram(program: DebianProgram, name: string, tests: () => void): void {
  const reason = whyNone(program);
  if (reason === undefined) describe(name, tests);
  else describe['skip'](`${name} (skipped: ${reason})`, tests);
}
