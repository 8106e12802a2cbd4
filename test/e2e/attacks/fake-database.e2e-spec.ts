import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Database, EmbeddedPostgres, ScramClient } from '#libs/postgres';
import type pg from 'pg';
import { ProofRelay } from '../../support/proof-relay.js';
import { FAKE_ANSWERS, type FakeAnswer, FakePostgres } from '../../support/fake-postgres.js';
import { until } from '../../support/until.js';

/** One of each kind. */
const SESSIONS = 4;

describe('somebody who takes the port of a database server that died (a system without Unix sockets)', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-fake-'));
  let server: EmbeddedPostgres;
  let database: Database;
  let tuned: pg.Pool;

  beforeAll(async () => {
    server = await EmbeddedPostgres.start({ dataDir, listening: 'loopback' });
    database = await Database.connectAndMigrate({ url: server.url, migrations: [] });
    tuned = database.tunedPool('victims', 1, { statement_timeout: '60s' });
  });

  afterAll(async () => {
    await database?.close();
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it.each(Object.keys(FAKE_ANSWERS) as FakeAnswer[])('learns nothing from any session: he %s', async (answer) => {
    const { port, password } = new URL(server.url);
    const fake = await insteadOfTheServer(answer, Number(port));
    try {
      // Sessions that were idle when the server died may end a moment later: then the next one is a new one.
      await until(async () => !(await triedEverywhere()).includes('fulfilled') && fake.clients >= SESSIONS, {
        what: 'every kind of session to meet him, and none to be begun',
      });
      expect(fake.told).not.toContain(password);
      // The first message of SCRAM, where he asked for it: a random number, from which nothing follows.
      expect(fake.told.replace(/^(?:p\0\0\0.SCRAM-SHA-256\0\0\0\0.n,,n=\*,r=[\w+/=]{24})*$/s, '')).toBe('');
    } finally {
      await fake.stop();
    }
    await until(
      () =>
        database.ping().then(
          () => true,
          () => false,
        ),
      { what: 'the server to be back' },
    );
  });

  it('learns nothing either where he passes the proof of the real server on, and asks then', async () => {
    const { port, password } = new URL(server.url);
    const relay = await ProofRelay.before(Number(port));
    try {
      const url = new URL(server.url);
      url.port = String(relay.port);
      const session = new ScramClient(url.href);
      session.on('error', () => undefined);
      await expect(session.connect()).rejects.toThrow('does not prove with SCRAM-SHA-256');
      expect(relay.asked).toBe(true);
      expect(relay.toldAfterwards).not.toContain(password);
      expect(relay.toldAfterwards).toBe('');
    } finally {
      await relay.stop();
    }
  });

  async function triedEverywhere(): Promise<string[]> {
    const tried = await Promise.allSettled([
      database.pool.query('SELECT 1'),
      tuned.query('SELECT 1'),
      database.dataSource.query('SELECT 1'),
      database.createSession('victim').connect(),
    ]);
    return tried.map(({ status }) => status);
  }

  /** Kills the server, and takes its port while nobody may start it again. */
  async function insteadOfTheServer(answer: FakeAnswer, port: number): Promise<FakePostgres> {
    const lock = new DatabaseSync(join(dataDir, 'postgres', 'lock.sqlite'));
    try {
      await until(() => locked(lock), { what: 'the lock of the start' });
      const pidFile = join(dataDir, 'postgres', 'cluster', 'postmaster.pid');
      process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGKILL');
      return await until(() => FakePostgres.listen(answer, port).catch(() => undefined), {
        what: 'the port to be free',
      });
    } finally {
      lock.close();
    }
  }
});

function locked(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN IMMEDIATE');
    return true;
  } catch {
    return false;
  }
}
