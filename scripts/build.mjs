/** Checks the types, then bundles src, apps/agent, apps/cli and libs into dist/, and builds apps/console there. */
import { spawnSync } from 'node:child_process';
import { ROOT, compile, ensureInstalled, pinnedNode, tool } from './prepare.mjs';

ensureInstalled();
for (const project of ['.', 'apps/console']) {
  const types = spawnSync(pinnedNode(), [tool('typescript7/bin/tsc'), '-p', project], { cwd: ROOT, stdio: 'inherit' });
  if (types.status !== 0) process.exit(types.status ?? 1);
}
compile();
