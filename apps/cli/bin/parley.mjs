#!/usr/bin/env node
// What npm links as `parley`. An older Node can read this file too, and says which one is needed.
import * as modules from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 9)) {
  process.stderr.write(`parley needs Node 24.9 or newer, and this is ${process.version}.\n`);
  process.exit(1);
}
// What one start compiles, no other compiles again; within the package, where nobody else writes.
process.env.NODE_COMPILE_CACHE ??= join(fileURLToPath(import.meta.url), '../../.compiled');
modules.enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import(new URL('../dist/apps/cli/src/main.js', import.meta.url).href);
