/** Checks that need no running service, those first whose mistakes are cheapest to find. */
import { join } from 'node:path';
import { ROOT, pinnedNode, tool } from './prepare.mjs';

const CRUISED = ['libs', 'src', 'apps/agent', 'apps/cli', 'apps/console', 'test'];

export const CHECKS = {
  format: () => [pinnedNode(), tool('oxfmt/bin/oxfmt'), '--check', '.'],
  lint: () => [pinnedNode(), tool('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings', '--disable-nested-config'],
  types: () => types('.'),
  'console types': () => types('apps/console'),
  boundaries: () => [
    pinnedNode(),
    tool('dependency-cruiser/bin/dependency-cruiser.mjs'),
    ...CRUISED,
    '--config',
    '.dependency-cruiser.cjs',
  ],
  lock: () => [pinnedNode(), join(ROOT, 'scripts', 'lock-check.mjs')],
  exports: () => [pinnedNode(), tool('knip/bin/knip.js'), '--no-progress'],
  'house rules': () => [pinnedNode(), join(ROOT, 'scripts', 'house-rules.mjs')],
  words: () => [pinnedNode(), join(ROOT, 'scripts', 'words-check.mjs')],
  names: () => [pinnedNode(), join(ROOT, 'scripts', 'names-check.mjs')],
  docstrings: () => [pinnedNode(), join(ROOT, 'scripts', 'docstrings-check.mjs')],
  commits: () => [pinnedNode(), join(ROOT, 'scripts', 'commits-check.mjs')],
  diagrams: () => [pinnedNode(), join(ROOT, 'scripts', 'diagrams-check.mjs')],
  'unit tests': () => jest(['--selectProjects', 'unit']),
};

/**
 * Returns the command that checks the types of a project, in one process: several would each compute most of the types.
 */
function types(project) {
  return [pinnedNode(), tool('typescript7/bin/tsc'), '-p', project, '--checkers', '1'];
}

/** Returns the command that runs jest. */
export function jest(args) {
  return [pinnedNode(), '--no-warnings', tool('jest/bin/jest.js'), ...args];
}
