import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Copies the built service, so that a build during the tests does not change what is tested. Returns the copy's main
 * file; `undefined` if nothing is built. The copy is removed when this process ends.
 */
export function copyBuiltService() {
  if (!existsSync(join(ROOT, 'dist/src/main.js'))) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'parley-built-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return join(folder, 'dist/src/main.js');
}
