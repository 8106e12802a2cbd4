import { inspect } from 'node:util';
import { Database, isDatabaseAway, sqlState } from '#libs/postgres';
import pg from 'pg';
import { Column, Entity, PrimaryColumn, type Repository } from 'typeorm';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

@Entity('thing')
class Thing {
  @PrimaryColumn('text') name!: string;
  @Column('text') secret!: string;
}

let server: TestDatabase;
let database: Database;
let things: Repository<Thing>;
/** Writes whatever the others may. */
let admin: pg.Client;

const TERMINATE = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'parley:%' AND query LIKE $1`;

const either = [() => true, () => false] as const;

beforeAll(async () => {
  server = await freshDatabase({ empty: true });
  await server.query('CREATE TABLE thing (name text PRIMARY KEY, secret text NOT NULL)');
  database = await Database.connectAndMigrate({ url: server.url, migrations: [] });
  admin = new pg.Client({ connectionString: server.url, options: '-c default_transaction_read_only=off' });
  await admin.connect();
  things = database.dataSource.getRepository(Thing);
});

beforeEach(async () => {
  await server.query('DELETE FROM thing');
});

afterAll(async () => {
  await admin?.end();
  await database?.close();
  await server?.drop();
});

describe('a repository', () => {
  it('writes in a new session what one refused that only reads', async () => {
    const name = new URL(server.url).pathname.slice(1);
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await admin.query(TERMINATE, ['%']);
    // The first that only reads is replaced at once, and what comes in its place is not for a while.
    await until(() => database.ping().then(...either), { what: 'a session that only reads' });
    const { rows } = await database.pool.query('SHOW default_transaction_read_only');
    await admin.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    expect(rows).toEqual([{ default_transaction_read_only: 'on' }]);
    await things.insert({ name: 'late', secret: 'x' });
    expect(await things.findOneBy({ name: 'late' })).toEqual({ name: 'late', secret: 'x' });
  });

  it('fails as the database said, without the values of the statement', async () => {
    await things.insert({ name: 'one', secret: 'first' });
    const error = await things.insert({ name: 'one', secret: 'hidden' }).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(pg.DatabaseError);
    expect(sqlState(error)).toBe('23505');
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hidden');
  });

  it('says that the database is away where its session is ended', async () => {
    await admin.query('BEGIN; LOCK TABLE thing');
    const found = things.find().catch((error: unknown) => error);
    try {
      const terminate = () => server.query(TERMINATE, ['%FROM "thing"%']);
      await until(async () => (await terminate()).length === 1, { what: 'the read to wait' });
    } finally {
      await admin.query('ROLLBACK');
    }
    expect(isDatabaseAway(await found)).toBe(true);
    expect(await things.find()).toEqual([]);
  });

  it('begins no transaction, so that none is torn apart between the sessions of a pool', async () => {
    await expect(things.save({ name: 'one', secret: 'x' })).rejects.toThrow('Repositories have no transactions');
    expect(await things.find()).toEqual([]);
  });
});
