/**
 * Steps that every npm script needs before its own work: the dependencies, the pinned Node and the compiled code.
 * npm starts these scripts with the machine's own Node, so they use only features of Node 18 and no dependency.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeEnvironment, nodeFlags } from './node-settings.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

const NEEDED_NODE = [24, 9];
const MODULES = join(ROOT, 'node_modules');
const INSTALL_STAMP = join(MODULES, '.parley-stamp');
const DIST = join(ROOT, 'dist');
const BUILD_STAMP = join(DIST, '.stamp');
const COMPILED = ['src', 'apps/agent', 'apps/cli', 'libs'];
const CONSOLE = 'apps/console';
const BUNDLERS = ['bundle', 'bundle-loader', 'bundle-packages', 'bundle-scripts'].map((name) => `scripts/${name}.mjs`);

/** Makes node_modules match package-lock.json. Prints one line on standard error if there is something to do. */
export function ensureInstalled() {
  if (readText(INSTALL_STAMP) === installFingerprint()) return;
  if (!installedMatchesLock()) {
    say('Installing dependencies (only the first time; about a minute) …');
    installDependencies();
  }
  writeFileSync(INSTALL_STAMP, installFingerprint());
}

/** Flags of the Node that runs Parley. The Dockerfile sets the same, but for the number of V8's helper threads. */
export const NODE_FLAGS = nodeFlags();

/** Environment of every process that runs Parley. The Dockerfile sets the same. */
export const NODE_ENVIRONMENT = nodeEnvironment();

/**
 * Returns the path of the Node that runs Parley: the one from npm, else a recent enough one that runs now or is on the
 * PATH.
 */
export function pinnedNode() {
  const candidates = [
    join(MODULES, `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`, 'bin', nodeFile()),
    process.execPath,
    'node',
  ];
  const found = candidates.find((path) => isRecentEnough(versionOf(path)));
  if (found) return found;
  say(
    `Parley needs Node ${NEEDED_NODE.join('.')} or newer here (${process.platform} ${process.arch}), and this is ${process.version}: ` +
      'install it, or put it first on the PATH.',
  );
  process.exit(1);
}

/** Compiles the sources to dist/ if they changed since the last time. Prints one line on standard error then. */
export function ensureBuilt() {
  if (readText(BUILD_STAMP) === sourceFingerprint()) return;
  say('Building …');
  compile();
}

/** Bundles the sources to dist/, and the console into it; the old dist/ is replaced only by a complete new one. */
export function compile() {
  const fingerprint = sourceFingerprint();
  const fresh = join(ROOT, `dist-${process.pid}`);
  try {
    for (const command of [bundleCommand(fresh), viteCommand(join(fresh, CONSOLE))]) {
      // Whatever the shell says: with another value React comes as for developers, half as large again.
      const env = { ...process.env, NODE_ENV: 'production' };
      const outcome = spawnSync(pinnedNode(), command, { cwd: ROOT, env, encoding: 'utf8' });
      if (outcome.status !== 0) fail(`The build failed.\n${outcome.stdout}${outcome.stderr}`);
    }
    writeFileSync(join(fresh, '.stamp'), fingerprint);
    rmSync(DIST, { recursive: true, force: true });
    renameSync(fresh, DIST);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Returns the script file of a development tool, to run with `pinnedNode()`. */
export function tool(path) {
  return join(MODULES, path);
}

/**
 * Runs npm to its end: the npm that started this script, else the one on the PATH. @returns the result of `spawnSync`
 */
export function runNpm(args, cwd, timeout) {
  const npm = process.env.npm_execpath;
  const options = { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout };
  return npm?.endsWith('.js')
    ? spawnSync(process.env.npm_node_execpath ?? process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}

/** Writes a line for the person who waits to standard error, so that the output of the command itself stays clean. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

function fail(message) {
  say(message.trimEnd());
  process.exit(1);
}

function installDependencies() {
  mkdirSync(MODULES, { recursive: true });
  // `ci` installs what package-lock.json says, to the letter, and refuses one that package.json says otherwise than.
  // The tools of the build, too, where NODE_ENV says production.
  const outcome = runNpm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], ROOT);
  if (outcome.error) fail(`npm could not be started: ${outcome.error.message}`);
  if (outcome.status !== 0) fail(`Installing the dependencies failed.\n${outcome.stdout}${outcome.stderr}`);
}

function installFingerprint() {
  const lock = readText(join(ROOT, 'package-lock.json'));
  const manifest = readText(join(ROOT, 'package.json'));
  const { dependencies, devDependencies, optionalDependencies, overrides } = JSON.parse(manifest);
  const wanted = JSON.stringify([dependencies, devDependencies, optionalDependencies, overrides]);
  return hash([lock, wanted, process.platform, process.arch]);
}

function installedMatchesLock() {
  const wanted = readJson(join(ROOT, 'package-lock.json'))?.packages;
  const present = readJson(join(MODULES, '.package-lock.json'))?.packages;
  if (!wanted || !present) return false;
  const { '': root, ...packages } = wanted;
  return declaresTheSame(root) && Object.entries(packages).every(([path, entry]) => isInstalled(entry, present[path]));
}

function isInstalled(entry, installed) {
  return installed ? installed.version === entry.version : Boolean(entry.optional || entry.devOptional || entry.peer);
}

function declaresTheSame(root) {
  const manifest = readJson(join(ROOT, 'package.json'));
  return ['dependencies', 'devDependencies', 'optionalDependencies'].every(
    (kind) => JSON.stringify(sorted(manifest[kind])) === JSON.stringify(sorted(root[kind])),
  );
}

function sorted(versions = {}) {
  return Object.entries(versions).sort(([a], [b]) => (a < b ? -1 : 1));
}

function nodeFile() {
  return process.platform === 'win32' ? 'node.exe' : 'node';
}

function versionOf(path) {
  if (path === process.execPath) return process.version;
  if (path !== 'node' && !existsSync(path)) return undefined;
  const outcome = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return outcome.status === 0 ? outcome.stdout.trim() : undefined;
}

function isRecentEnough(version) {
  const [major, minor] = (version ?? 'v0.0').slice(1).split('.').map(Number);
  return major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1]);
}

function bundleCommand(outDir) {
  return [join(ROOT, 'scripts', 'bundle.mjs'), outDir];
}

function viteCommand(outDir) {
  return [tool('vite/bin/vite.js'), 'build', CONSOLE, '--outDir', outDir, '--logLevel', 'error'];
}

function sourceFingerprint() {
  const settings = ['.swcrc', 'package.json', 'package-lock.json', ...BUNDLERS].map((file) =>
    readText(join(ROOT, file)),
  );
  // The console contains the templates and the pages of the documentation.
  const files = [...COMPILED, CONSOLE, 'docs', 'examples'].flatMap((folder) => filesUnder(join(ROOT, folder)));
  const facts = files.map((file) => `${relative(ROOT, file)} ${statSync(file).size} ${statSync(file).mtimeMs}`);
  return hash([...settings, ...facts.sort()]);
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

function hash(parts) {
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function readJson(path) {
  try {
    return JSON.parse(readText(path));
  } catch {
    return undefined;
  }
}
