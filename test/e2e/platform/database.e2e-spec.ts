import { once } from 'node:events';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Database, inTransaction, type MigrationClass, POSTGRES_MIGRATIONS, PostgresWire } from '#libs/postgres';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { before, until } from '../../support/until.js';

class CreateThing1800000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE thing (id int PRIMARY KEY)');
    await runner.query('INSERT INTO thing VALUES (1)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE thing');
  }
}

class Broken1900000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE half (id int)');
    await runner.query('CREATE TABLE half (id int)');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

class GrowThing1800000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE thing ADD COLUMN size int');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

class TakeItsTime1800000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('SELECT pg_sleep(1)');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

class IndexThing1800000000003 implements MigrationInterface {
  readonly name = 'IndexThing1800000000003';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX CONCURRENTLY thing_size ON thing (id)');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

/** What replicas of every version lock first; the earliest wait for it in a statement. */
const MIGRATION_LOCK = '123563833845113';

const MIGRATIONS = [...POSTGRES_MIGRATIONS, CreateThing1800000000000];

let server: TestDatabase;
let url: string;
const databases: Database[] = [];

beforeEach(async () => {
  server = await freshDatabase({ empty: true });
  url = server.url;
});

afterEach(async () => {
  await Promise.all(databases.splice(0).map((database) => database.close()));
  await server.drop();
});

describe('Database', () => {
  it('migrates once, however many replicas boot at once', async () => {
    const opened = await Promise.all(Array.from({ length: 6 }, () => open(MIGRATIONS)));
    const { rows } = await opened[0]!.pool.query('SELECT count(*)::int AS things FROM thing');
    expect(rows).toEqual([{ things: 1 }]);
    const done = await opened[1]!.dataSource.query('SELECT name FROM schema_migration ORDER BY id');
    expect(done).toEqual(MIGRATIONS.map((Migration) => ({ name: Migration.name })));
  });

  it('opens what is up to date while somebody else migrates', async () => {
    const { pool } = await open(MIGRATIONS);
    const other = await pool.connect();
    try {
      await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await before(open(MIGRATIONS), { what: 'a database with nothing to migrate' });
    } finally {
      other.release(true);
    }
  });

  it('leaves nothing of a migration that failed, and lets the next one in', async () => {
    await expect(open([...MIGRATIONS, Broken1900000000000])).rejects.toThrow('already exists');
    const { pool } = await open(MIGRATIONS);
    const { rows } = await pool.query(`SELECT to_regclass('half') AS half, to_regclass('thing')::text AS thing`);
    expect(rows).toEqual([{ half: null, thing: 'thing' }]);
  });

  it('makes an index concurrently while a replica of an earlier version waits to migrate', async () => {
    const watcher = await open(MIGRATIONS);
    const earlier = new pg.Client({ connectionString: url });
    await earlier.connect();
    let waiting: Promise<unknown> | undefined;
    class MeetEarlier1800000000002 implements MigrationInterface {
      async up(): Promise<void> {
        waiting = earlier.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
        await until(() => isWaiting(watcher.pool, 'advisory'), { what: 'the earlier version to wait' });
      }

      down(): Promise<void> {
        return Promise.resolve();
      }
    }
    try {
      const { pool } = await open([...MIGRATIONS, MeetEarlier1800000000002, IndexThing1800000000003]);
      const { rows } = await pool.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'thing_size'::regclass`);
      expect(rows).toEqual([{ indisvalid: true }]);
      await waiting;
    } finally {
      await earlier.end();
    }
  });

  it('lets others by while a table is kept from it, and goes on when it is not', async () => {
    const { pool } = await open(MIGRATIONS);
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const dump = new pg.Client({ connectionString: url });
    await dump.connect();
    let migrated: Promise<Database>;
    try {
      await dump.query('BEGIN; LOCK TABLE thing IN ACCESS SHARE MODE');
      migrated = open([...MIGRATIONS, GrowThing1800000000001]);
      await until(() => isWaiting(pool, 'relation'), { what: 'the migration to wait' });
      await pool.query('SELECT FROM thing');
      await until(() => warned.mock.calls.length > 0, { what: 'the migration to step back' });
    } finally {
      await dump.end();
    }
    const { rows } = await (await migrated).pool.query('SELECT size FROM thing');
    expect(rows).toEqual([{ size: null }]);
    expect(warned).toHaveBeenCalledTimes(1);
    warned.mockRestore();
  });

  it('migrates without the limits that the role or the database has for statements, and leaves them to others', async () => {
    await open(MIGRATIONS);
    await settings(`statement_timeout = '500ms'`);
    const { dataSource } = await open([...MIGRATIONS, TakeItsTime1800000000002]);
    expect(await dataSource.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '500ms' }]);
  });

  it('keeps its sessions and its transactions whatever limits the role or the database has for those', async () => {
    const limits = ['idle_session_timeout', 'transaction_timeout'];
    await settings(...limits.map((name) => `${name} = '300ms'`));
    const database = await open([...MIGRATIONS, TakeItsTime1800000000002]);
    const tuned = database.tunedPool('tuned', 1, { jit: 'off' });
    const wire = new PostgresWire(database);
    const ended = jest.fn();
    const heard = await wire.openSession({ notified: () => undefined, ended });
    try {
      const pids = await Promise.all([database.pool, tuned].map(pidOf));
      await tuned.query('SELECT pg_sleep(1)');
      expect(await Promise.all([database.pool, tuned].map(pidOf))).toEqual(pids);
      expect(ended).not.toHaveBeenCalled();
    } finally {
      await heard.endSession();
    }
  });

  it('reads times, and sees what others committed, whatever the role or the database says of that', async () => {
    await settings(`DateStyle = 'German'`, `default_transaction_isolation = 'serializable'`);
    const database = await open(MIGRATIONS);
    const tuned = database.tunedPool('tuned', 1, { jit: 'off' });
    const time = new Date('2026-02-03T04:05:06.789Z');
    for (const pool of [database.pool, tuned]) {
      expect((await pool.query('SELECT $1::timestamptz AS time', [time])).rows).toEqual([{ time }]);
      expect((await pool.query('SHOW transaction_isolation')).rows).toEqual([
        { transaction_isolation: 'read committed' },
      ]);
    }
  });

  it('has the server end the sessions of a host that is gone in seconds, whatever they are for', async () => {
    const database = await open(MIGRATIONS);
    const names = ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout'];
    const limits = `SELECT array_agg(setting::int ORDER BY array_position($1, name)) AS limits FROM pg_settings WHERE name = ANY($1)`;
    for (const sessions of [database.pool, database.tunedPool('test', 1, {})]) {
      const { rows } = await sessions.query<{ limits: number[] }>(limits, [names]);
      expect(rows[0]!.limits).toEqual([4, 2, 3, 10_000]);
    }
  });

  it('says of a session that broke nothing but why', async () => {
    const told: Error[] = [];
    const database = await Database.connectAndMigrate({
      url,
      migrations: MIGRATIONS,
      onError: (error) => told.push(error),
    });
    databases.push(database);
    await database.ping();
    await terminateSessions(database);
    await until(() => told.length > 0, { what: 'the idle session to break' });
    for (const error of told) expect(Object.keys(error)).not.toContain('client');
  });

  it('survives the loss of every session, idle, borrowed and of TypeORM', async () => {
    const database = await open(MIGRATIONS);
    const borrowed = await database.pool.connect();
    const lost = new Promise((resolve) => borrowed.once('end', resolve));
    await database.dataSource.query('SELECT 1');
    await terminateSessions(database);
    await lost;
    borrowed.release(true);
    await expect(database.ping()).resolves.toBeUndefined();
    expect(await database.dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.each(['tells of its end', 'is asked on before that is heard'])(
    'does a transaction again whose session ended as nothing was said in it for too long, where it %s',
    async (how) => {
      const database = await open(MIGRATIONS);
      let times = 0;
      await inTransaction(database, async (client) => {
        times += 1;
        await client.query('UPDATE thing SET id = id + 1');
        if (times > 1) return;
        await client.query(`SET LOCAL idle_in_transaction_session_timeout = '1ms'`);
        if (how === 'tells of its end') await once(client, 'error');
        for (;;) {
          standStill(50);
          await client.query('SELECT 1');
        }
      });
      expect(times).toBe(2);
      expect(await database.dataSource.query('SELECT id FROM thing')).toEqual([{ id: 2 }]);
    },
  );
});

/** Whether some session waits for a lock of that kind. */
async function isWaiting(sessions: Pick<pg.Pool, 'query'>, locktype: string): Promise<boolean> {
  const { rowCount } = await sessions.query(
    `SELECT FROM pg_locks WHERE NOT granted AND locktype = $1
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [locktype],
  );
  return rowCount !== 0;
}

/** Of the database, for sessions that begin from now on. */
async function settings(...said: readonly string[]): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  for (const setting of said) await server.query(`ALTER DATABASE ${name} SET ${setting}`);
}

async function pidOf(pool: pg.Pool): Promise<unknown> {
  return (await pool.query('SELECT pg_backend_pid() AS pid')).rows;
}

async function open(migrations: readonly MigrationClass[]): Promise<Database> {
  const database = await Database.connectAndMigrate({ url, migrations });
  databases.push(database);
  return database;
}

async function terminateSessions(database: Database, purpose = ''): Promise<void> {
  const killer = database.createSession('killer');
  await killer.connect();
  await killer.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE '%' || $1::text`,
    [purpose],
  );
  await killer.end();
}

/** As a process does that gets no processor. */
function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
