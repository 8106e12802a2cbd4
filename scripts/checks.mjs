/** The checks that need no running service, in the order in which a mistake is cheapest to learn. */
import { join } from 'node:path';
import { ROOT, pinnedNode, tool } from './prepare.mjs';

const CRUISED = ['libs', 'src', 'apps/agent', 'apps/cli', 'apps/console', 'test'];

export const CHECKS = {
  format: () => [pinnedNode(), tool('oxfmt/bin/oxfmt'), '--check', '.'],
  lint: () => [pinnedNode(), tool('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings', '--disable-nested-config'],
  types: () => [pinnedNode(), tool('typescript7/bin/tsc'), '-p', '.'],
  'console types': () => [pinnedNode(), tool('typescript7/bin/tsc'), '-p', 'apps/console'],
  boundaries: () => [
    pinnedNode(),
    tool('dependency-cruiser/bin/dependency-cruiser.mjs'),
    ...CRUISED,
    '--config',
    '.dependency-cruiser.cjs',
  ],
  lock: () => [pinnedNode(), join(ROOT, 'scripts', 'lock-check.mjs')],
  exports: () => [pinnedNode(), join(ROOT, 'scripts', 'unused-exports.mjs')],
  'house rules': () => [pinnedNode(), join(ROOT, 'scripts', 'house-rules.mjs')],
  words: () => [pinnedNode(), join(ROOT, 'scripts', 'words-check.mjs')],
  'unit tests': () => jest(['--selectProjects', 'unit']),
};

/** The command that runs jest. */
export function jest(args) {
  return [pinnedNode(), '--no-warnings', tool('jest/bin/jest.js'), ...args];
}
