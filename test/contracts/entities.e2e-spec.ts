import { Database } from '#libs/postgres';
import '../../src/app.module.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';

/** A column as an entity or PostgreSQL has it. */
interface Shape {
  column: string;
  type: string;
  nullable: boolean;
  key: boolean;
}

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await freshDatabase();
  database = await Database.connectAndMigrate({ url: server.url, migrations: [] });
});

afterAll(async () => {
  await database?.close();
  await server?.drop();
});

describe('the entities', () => {
  it('are as the migrations made their tables: every column, its type, whether it may be null, and the key', async () => {
    const { entityMetadatas: entities } = database.dataSource;
    expect(entities.map((it) => it.tableName)).toEqual(expect.arrayContaining(['credential', 'task', 'task_event']));
    const declared = entities.map(({ tableName, columns }) => ({
      table: tableName,
      columns: columns
        .map((it): Shape => ({ column: it.databaseName, type: typeOf(it), nullable: it.isNullable, key: it.isPrimary }))
        .toSorted(byColumn),
    }));
    const migrated = await Promise.all(
      entities.map(async ({ tableName }) => ({ table: tableName, columns: await columnsOf(tableName) })),
    );
    expect(declared).toEqual(migrated);
  });

  it('of Tasks are read alone: whatever would write rejects, and nothing is written', async () => {
    const refusal = (name: string): string => `Repositories only read ${name}`;
    for (const name of ['task', 'task_event']) {
      const repository = database.dataSource.getRepository(name);
      const writes: (() => Promise<unknown>)[] = [
        () => repository.insert({ task_id: 'x' }),
        () => repository.upsert({ task_id: 'x' }, ['task_id']),
        () => repository.update({ task_id: 'x' }, { task_id: 'y' }),
        () => repository.delete({ task_id: 'x' }),
        () => repository.createQueryBuilder().delete().execute(),
        () => repository.clear(),
      ];
      for (const write of writes) await expect(write()).rejects.toThrow(refusal(name));
      await expect(repository.save({ task_id: 'x', sequence: 1 })).rejects.toThrow();
      await expect(repository.remove({ task_id: 'x', sequence: 1 } as never)).rejects.toThrow();
    }
  });
});

function typeOf({ type, isArray }: { type: unknown; isArray: boolean }): string {
  return `${String(type)}${isArray ? '[]' : ''}`;
}

/** As PostgreSQL has them, by short names where TypeORM's are. */
async function columnsOf(table: string): Promise<Shape[]> {
  const columns = await server.query<Shape>(
    `SELECT attname AS column, NOT attnotnull AS nullable, coalesce(attnum = ANY(indkey), false) AS key,
            replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz') AS type
     FROM pg_attribute LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
    [table],
  );
  return columns.toSorted(byColumn);
}

function byColumn(one: Shape, other: Shape): number {
  return one.column < other.column ? -1 : 1;
}
