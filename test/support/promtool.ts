import { spawnSync } from 'node:child_process';
import { placeOf } from './debian-program.js';
import { describeWithProgram } from './describe-with-program.js';

const PROMTOOL = { package: 'prometheus', path: '/usr/bin/promtool' };

/** A group of tests with Prometheus's `promtool`; where it cannot be had they are reported as skipped, with the reason. */
export function describeWithPromtool(name: string, tests: () => void): void {
  describeWithProgram(PROMTOOL, name, tests);
}

/** @returns what it said; throws that where it found something wrong */
export function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(placeOf(PROMTOOL), args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}
