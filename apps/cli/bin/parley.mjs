#!/usr/bin/env node
// The file that npm links as `parley`. An older Node can read this file too, and reports which version is needed.
import * as modules from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 9)) {
  process.stderr.write(`parley needs Node 24.9 or newer, and this is ${process.version}.\n`);
  process.exit(1);
}
// Caches compiled code for later starts. The cache is within the package, where no other user writes.
process.env.NODE_COMPILE_CACHE ??= join(fileURLToPath(import.meta.url), '../../.compiled');
modules.enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import(new URL('../dist/apps/cli/src/main.js', import.meta.url).href);
