import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EmbeddedPostgres, PostgresRefusal } from '#libs/postgres';
import pg from 'pg';
import { describeAsRootOnLinux } from '../../support/as-root-on-linux.js';
import { postmasters } from '../../support/parley.js';
import { postmasterIn } from '../../support/postmaster.js';
import { until } from '../../support/until.js';
import { EmbeddedUserProcess } from './embedded-user-process.js';

let dataDir: string;
const cleanups: (() => unknown)[] = [];

beforeAll(() => {
  dataDir = newDirectory();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

describe('EmbeddedPostgres', () => {
  it('starts, keeps its data, its address and its password over a restart, and leaves no process behind', async () => {
    const first = await started();
    const url = first.url;
    await query(url, 'CREATE TABLE kept (n int)');
    await query(url, 'INSERT INTO kept VALUES (7)');
    await first.stop();
    await expect(query(url, 'SELECT 1')).rejects.toThrow(/ENOENT|ECONNREFUSED/);

    const second = await started();
    expect(second.url).toBe(url);
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  it('keeps the password from other users and the server from the network', async () => {
    const server = await started();
    expect(statSync(join(dataDir, 'postgres', 'password')).mode & 0o077).toBe(0);
    expect(statSync(join(dataDir, 'postgres', 'cluster')).mode & 0o077).toBe(0);
    expect(await query(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    expect(statSync(socketFolder(server.url)).mode & 0o777).toBe(0o700);
    await expect(query(wrongPassword(server.url), 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('stops after its last user was killed, and keeps data and address for the next start', async () => {
    const starter = await EmbeddedUserProcess.start(dataDir);
    const other = await EmbeddedUserProcess.start(dataDir);
    const pid = serverPid();
    await query(starter.url, 'CREATE TABLE IF NOT EXISTS survivors (n int)');
    await starter.kill();
    // The first guard has looked by the time that the second one has stopped the server.
    expect(await query(other.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
    expect(serverPid()).toBe(pid);
    await other.kill();
    await until(() => postmasters(dataDir).length === 0, { what: 'the server of two killed processes to stop' });
    const next = await started();
    expect(next.url).toBe(starter.url);
    expect(await query(next.url, 'SELECT n FROM survivors')).toEqual([]);
  });

  it('is used by a start that comes at once after the death of its user', async () => {
    const starter = await EmbeddedUserProcess.start(dataDir);
    await starter.kill();
    const next = await started();
    expect(next.url).toBe(starter.url);
    // Either the guard found this use, or this start waited for the guard to stop the server.
    for (let asked = 0; asked < 20; asked += 1)
      expect(await query(next.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
  });

  it('is shared by processes that start at once for the first time, and stops with the last of them', async () => {
    const fresh = newDirectory();
    cleanups.push(() => rmSync(fresh, { recursive: true, force: true }));
    const [one, two] = await Promise.all([EmbeddedUserProcess.start(fresh), EmbeddedUserProcess.start(fresh)]);
    expect(one.url).toBe(two.url);
    await one.stop();
    expect(await query(two.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
    await two.stop();
    await expect(query(two.url, 'SELECT 1')).rejects.toThrow(/ENOENT|ECONNREFUSED/);
  });

  it('stops with its last user although sessions of this process are left that nobody can close', async () => {
    const [first, last] = [await started(), await started()];
    const left = new pg.Client({ connectionString: first.url, application_name: `parley:${process.pid}:replica` });
    left.on('error', () => undefined);
    await left.connect();
    const ended = new Promise<void>((resolve) => left.once('end', resolve));
    await first.stop();
    expect(await query(last.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await last.stop();
    await ended;
    await expect(query(last.url, 'SELECT 1')).rejects.toThrow(/ENOENT|ECONNREFUSED/);
  });

  it('is started again at its address when it dies in use', async () => {
    const server = await started();
    const url = server.url;
    const pid = serverPid();
    process.kill(pid, 'SIGKILL');
    await untilAnswers(url);
    expect(serverPid()).not.toBe(pid);
    expect(server.url).toBe(url);
  });

  it('starts although a killed server left its claim to a process number that someone else has now', async () => {
    const first = await started();
    await first.stop();
    writeFileSync(
      join(dataDir, 'postgres', 'cluster', 'postmaster.pid'),
      [process.pid, 'x', 0, 1, '', '127.0.0.1', '', ''].join('\n'),
    );
    expect(await query((await started()).url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
  });

  it('works below a directory that only its owner may pass, and does not open that one to others', async () => {
    const closed = newDirectory();
    const inside = join(closed, 'data');
    cleanups.push(() => removeWithLocation(inside, closed));
    const server = await EmbeddedPostgres.start({ dataDir: inside });
    cleanups.push(() => server.stop());
    expect(await query(server.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
    expect(statSync(closed).mode & 0o777).toBe(0o700);
  });

  it('makes the data directory private, and new ones above it as usual', async () => {
    const above = newDirectory();
    chmodSync(above, 0o755);
    cleanups.push(() => rmSync(above, { recursive: true, force: true }));
    const inside = join(above, 'new', 'data');
    await started('socket', inside);
    expect(statSync(inside).mode & 0o066).toBe(0);
    expect(statSync(dirname(inside)).mode & 0o777).toBe(0o777 & ~process.umask());
    expect(existsSync(join(inside, 'postgres', 'cluster'))).toBe(true);
  });

  it('refuses a data directory of another major version and leaves it alone', async () => {
    await (await started()).stop();
    const version = join(dataDir, 'postgres', 'cluster', 'PG_VERSION');
    const ours = readFileSync(version);
    writeFileSync(version, '15\n');
    cleanups.push(() => writeFileSync(version, ours));
    await expect(EmbeddedPostgres.start({ dataDir })).rejects.toThrow(PostgresRefusal);
    await expect(EmbeddedPostgres.start({ dataDir })).rejects.toThrow(
      /PostgreSQL 15, this version of Parley brings PostgreSQL \d+/,
    );
    expect(readFileSync(version, 'utf8')).toBe('15\n');
  });
});

describe('EmbeddedPostgres on loopback, where a system has no Unix sockets', () => {
  it('listens on no other address, and keeps its port', async () => {
    const first = await started('loopback');
    expect(await query(first.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    expect(await query(first.url, 'SHOW unix_socket_directories')).toEqual([{ unix_socket_directories: '' }]);
    await first.stop();
    expect((await started('loopback')).url).toBe(first.url);
  });

  it('moves to another port, and keeps that one, when its own is taken', async () => {
    const first = await started('loopback');
    const taken = Number(new URL(first.url).port);
    await first.stop();
    const squatter = await listenOn(taken);
    const second = await started('loopback');
    const moved = new URL(second.url).port;
    expect(moved).not.toBe(String(taken));
    await second.stop();
    squatter.close();
    expect(new URL((await started('loopback')).url).port).toBe(moved);
  });
});

describe('EmbeddedPostgres and what an earlier version left', () => {
  it('moves a server that was left on a port to the socket, with its data', async () => {
    const old = await EmbeddedUserProcess.start(dataDir, 'loopback');
    const pid = serverPid();
    await query(old.url, 'CREATE TABLE older (n int)');
    await old.kill();
    const server = await started();
    expect(await query(server.url, 'SELECT count(*)::int AS n FROM older')).toEqual([{ n: 0 }]);
    expect(new URL(server.url).hostname).toMatch(/^%2F/);
    expect(serverPid()).not.toBe(pid);
    await expect(query(old.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('leaves the server on its port while another process uses it', async () => {
    const old = await EmbeddedUserProcess.start(dataDir, 'loopback');
    const server = await started();
    expect(server.url).toBe(old.url);
    await old.stop();
    expect(await query(server.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
  });

  it('replaces rules that let anybody in, also those of a server that runs', async () => {
    const rules = join(dataDir, 'postgres', 'cluster', 'pg_hba.conf');
    writeFileSync(rules, 'local all all trust\nhost all all 127.0.0.1/32 trust\n');
    const first = await started();
    await expect(query(wrongPassword(first.url), 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    writeFileSync(rules, 'local all all trust\nhost all all 127.0.0.1/32 trust\n');
    await query(first.url, 'SELECT pg_reload_conf()');
    await untilAnswers(wrongPassword(first.url));
    await started();
    await untilRefused(wrongPassword(first.url));
  });

  it('closes what was open to others', async () => {
    await (await started()).stop();
    const home = join(dataDir, 'postgres');
    const files = ['port', 'lock.sqlite', 'server.log'].map((name) => join(home, name));
    for (const file of files) writeFileSync(file, '', { flag: 'a' });
    for (const file of files) chmodSync(file, 0o644);
    chmodSync(home, 0o755);
    await started();
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    expect(statSync(home).mode & 0o067).toBe(0);
  });
});

describeAsRootOnLinux('EmbeddedPostgres as root (which lends it an account)', () => {
  it('leaves data to the account that owns it, and says when that is one that many share', async () => {
    const directory = newDirectory();
    cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
    await (await started('socket', directory)).stop();
    const nobody = Number(/^nobody:[^:]*:(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[1]);
    chown(join(directory, 'postgres', 'cluster'), nobody);
    rmSync(join(directory, 'postgres', 'socket'), { recursive: true });

    const warnings: string[] = [];
    const server = await EmbeddedPostgres.start({ dataDir: directory, onWarning: (it) => warnings.push(it) });
    cleanups.push(() => server.stop());
    expect(await query(server.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
    expect(postmasterIn(directory).uid).toBe(nobody);
    expect(warnings).toEqual([expect.stringContaining('nobody')]);
  });
});

describe('EmbeddedPostgres where the path of DATA_DIR is too long for a socket', () => {
  it('has its socket in a short folder of its own, and not in one that somebody else put there', async () => {
    const long = join(newDirectory(), 'd'.repeat(90));
    chmodSync(dirname(long), 0o755);
    cleanups.push(() => rmSync(dirname(long), { recursive: true, force: true }));
    const first = await started('socket', long);
    const folder = socketFolder(first.url);
    expect(folder.length).toBeLessThan(60);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    // Of root's service it lies in one of root's that only the server's group passes: nobody else of its account.
    const short = process.getuid?.() === 0 ? dirname(folder) : folder;
    if (short !== folder) {
      const { uid, gid, mode } = statSync(short);
      expect([uid, mode & 0o777, gid]).toEqual([0, 0o710, statSync(folder).gid]);
    }
    const again = await started('socket', long);
    expect(again.url).toBe(first.url);
    await again.stop();
    await first.stop();
    expect(existsSync(short)).toBe(false);

    mkdirSync(folder, { mode: 0o777, recursive: true });
    chmodSync(short, 0o777);
    cleanups.push(() => rmSync(short, { recursive: true, force: true }));
    const third = await started('socket', long);
    expect(socketFolder(third.url)).not.toBe(folder);
    expect(await query(third.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
  });
});

async function started(listening?: 'socket' | 'loopback', directory = dataDir): Promise<EmbeddedPostgres> {
  const server = await EmbeddedPostgres.start({ dataDir: directory, ...(listening && { listening }) });
  // Idempotent, so tests may stop it themselves.
  cleanups.push(() => server.stop());
  return server;
}

function chown(path: string, uid: number): void {
  lchownSync(path, uid, uid);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) chown(join(path, name), uid);
}

function socketFolder(url: string): string {
  return decodeURIComponent(new URL(url).hostname);
}

function wrongPassword(url: string): string {
  return url.replace(/:[^:@]*@/, ':wrong@');
}

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'parley-embedded-'));
}

/** Started by root, the files lie where `LOCATION` says. */
function removeWithLocation(inside: string, closed: string): void {
  const location = join(inside, 'postgres', 'LOCATION');
  if (existsSync(location)) rmSync(readFileSync(location, 'utf8').trim(), { recursive: true });
  rmSync(closed, { recursive: true, force: true });
}

function serverPid(): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function untilAnswers(url: string): Promise<void> {
  for (;;) {
    try {
      await query(url, 'SELECT 1');
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function untilRefused(url: string): Promise<void> {
  for (;;) {
    const refused = await query(url, 'SELECT 1').then(
      () => false,
      (error: { code?: string }) => error.code === '28P01',
    );
    if (refused) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function listenOn(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
