import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../../..');

/**
 * Builds another commit of this repository with the packages installed here, in a folder that is removed when this
 * process ends. Returns the main file of the service.
 * @throws Error if git does not know the revision, or the build fails
 */
export function builtVersion(revision: string, say: (line: string) => void): string {
  const commit = run('git', ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`]).trim();
  say(`Building ${revision} (${commit.slice(0, 12)}), to run beside this version …`);
  const folder = mkdtempSync(join(tmpdir(), 'parley-version-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  run('git', ['archive', '--output', join(folder, 'source.tar'), commit]);
  run('tar', ['-xf', 'source.tar'], folder);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  const prepare = pathToFileURL(join(folder, 'scripts/prepare.mjs')).href;
  run(process.execPath, ['--input-type=module', '-e', `(await import('${prepare}')).compile()`], folder);
  return join(folder, 'dist/src/main.js');
}

/** Returns the commit of the tested sources, with a mark if they differ from it. */
export function commitHere(): string {
  try {
    const changed = run('git', ['status', '--porcelain', '--untracked-files=no']) !== '';
    return `${run('git', ['rev-parse', '--short=12', 'HEAD']).trim()}${changed ? ', changed' : ''}`;
  } catch {
    return 'unknown: this is no git repository';
  }
}

function run(program: string, args: string[], cwd = ROOT): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? (stderr || stdout || 'nothing found')}`);
}
