import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { EmbeddedPostgres, PostgresRefusal } from '#libs/platform';
import pg from 'pg';
import { EmbeddedUserProcess } from './embedded-user-process.js';

jest.setTimeout(30_000);

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
  it('starts, keeps its data, its port and its password over a restart, and leaves no process behind', async () => {
    const first = await started();
    const url = first.url;
    await query(url, 'CREATE TABLE kept (n int)');
    await query(url, 'INSERT INTO kept VALUES (7)');
    await first.stop();
    await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');

    const second = await started();
    expect(second.url).toBe(url);
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  it('keeps the password from other users and the server from the network', async () => {
    const server = await started();
    expect(statSync(join(dataDir, 'postgres', 'password')).mode & 0o077).toBe(0);
    expect(statSync(join(dataDir, 'postgres', 'cluster')).mode & 0o077).toBe(0);
    expect(await query(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    const withoutPassword = server.url.replace(/:[^:@]*@/, ':wrong@');
    await expect(query(withoutPassword, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('is adopted after its starter was killed', async () => {
    const starter = await EmbeddedUserProcess.start(dataDir);
    const pid = serverPid();
    await starter.kill();
    const adopter = await started();
    expect(adopter.url).toBe(starter.url);
    expect(serverPid()).toBe(pid);
  });

  it('is shared by processes that start at once for the first time, and stops with the last of them', async () => {
    const fresh = newDirectory();
    cleanups.push(() => rmSync(fresh, { recursive: true, force: true }));
    const [one, two] = await Promise.all([EmbeddedUserProcess.start(fresh), EmbeddedUserProcess.start(fresh)]);
    expect(one.url).toBe(two.url);
    await one.stop();
    expect(await query(two.url, 'SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
    await two.stop();
    await expect(query(two.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('is started again on its port when it dies in use', async () => {
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

  it('moves to another port, and keeps that one, when its own is taken', async () => {
    const first = await started();
    const taken = Number(new URL(first.url).port);
    await first.stop();
    const squatter = await listenOn(taken);
    const second = await started();
    const moved = new URL(second.url).port;
    expect(moved).not.toBe(String(taken));
    await second.stop();
    squatter.close();
    expect(new URL((await started()).url).port).toBe(moved);
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

async function started(): Promise<EmbeddedPostgres> {
  const server = await EmbeddedPostgres.start({ dataDir });
  // Idempotent, so tests may stop it themselves.
  cleanups.push(() => server.stop());
  return server;
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

async function listenOn(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
