import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Copies the built service aside, so that a build during the run changes nothing of what is tested.
 * Gives the copy's main file, or `undefined` where nothing is built. The copy goes when this process ends.
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
