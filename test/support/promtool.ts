import { spawnSync } from 'node:child_process';
import { placeOf } from './debian-program.js';
import { describeWithProgram } from './describe-with-program.js';

const PROMTOOL = { package: 'prometheus', path: '/usr/bin/promtool' };

/**
 * Describes tests that need Prometheus's `promtool`. If it cannot be provided, they are reported as skipped, with the
 * reason.
 */
export function describeWithPromtool(name: string, tests: () => void): void {
  describeWithProgram(PROMTOOL, name, tests);
}

/** Runs promtool. @returns its output. @throws Error with the output if it reports a problem */
export function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(placeOf(PROMTOOL), args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}
