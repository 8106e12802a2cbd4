/**
 * Whether `npm ci` takes package-lock.json on every platform, without asking the network: npm drops the optional packages
 * of other platforms from a lock where it finds only its own installed, and `npm ci` refuses such a lock everywhere.
 * Prints one line per breach and exits 1 when there is one.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runNpm } from './prepare.mjs';

const packages = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
const breaches = [...missing(), ...addressed()];
if (breaches.length === 0) breaches.push(...refusal());
if (breaches.length > 0) {
  breaches.push(
    'Make the lock anew where no node_modules is: copy package.json, package-lock.json and .npmrc to an empty folder,',
    'run `npm install --package-lock-only` there, and copy package-lock.json back. A package of another platform that the',
    'registry does not have is added by hand: its version, os, cpu and libc.',
  );
}
for (const breach of breaches) console.log(breach);
process.exit(breaches.length > 0 ? 1 : 0);

/** Optional packages that something in the lock names, and that the lock does not hold. */
function missing() {
  const held = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !held.has(name))
      .map((name) => `package-lock.json lacks ${name}, an optional package of ${path || 'this project'}`),
  );
}

/** The lock is the same for every registry that has the packages: it names none. */
function addressed() {
  return Object.entries(packages)
    .filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''))
    .map(([path, { resolved }]) => `package-lock.json names an address for ${path}: ${resolved}`);
}

/** What `npm ci` says against the lock, in a folder of its own: beside node_modules it would look at what is there. */
function refusal() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-lock-'));
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(join(ROOT, file), join(folder, file));
    const outcome = runNpm(['ci', '--dry-run', '--offline', '--ignore-scripts'], folder);
    return outcome.status === 0 ? [] : [`npm ci refuses it: ${outcome.error?.message ?? outcome.stderr}`.trimEnd()];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
