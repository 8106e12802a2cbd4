/** Checks the types, then compiles src, apps/agent, apps/chat and libs to dist/. */
import { spawnSync } from 'node:child_process';
import { ROOT, compile, ensureInstalled, pinnedNode, tool } from './prepare.mjs';

ensureInstalled();
const types = spawnSync(pinnedNode(), [tool('typescript7/bin/tsc'), '-p', '.'], { cwd: ROOT, stdio: 'inherit' });
if (types.status !== 0) process.exit(types.status ?? 1);
compile();
