import { Database, encodingProblem, POSTGRES_MIGRATIONS, probeDatabase } from '#libs/postgres';
import { ConfigError } from '#libs/service';
import pg from 'pg';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';

let server: TestDatabase;

beforeAll(async () => {
  server = await freshDatabase({ empty: true });
});

afterAll(async () => {
  await server.drop();
});

it.each(['LATIN1', 'SQL_ASCII'])(
  'a database of the encoding %s is refused in one sentence, and nothing is made there',
  async (encoding) => {
    await withDatabase(`ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C'`, async (url) => {
      const refusal = new ConfigError([encodingProblem(encoding)!]);
      expect(refusal.message).toContain(`the database has the encoding ${encoding}`);
      await expect(probeDatabase(url)).rejects.toThrow(refusal.message);
      await expect(Database.connectAndMigrate({ url, migrations: POSTGRES_MIGRATIONS })).rejects.toThrow(
        refusal.message,
      );
      const session = new pg.Client({ connectionString: url });
      await session.connect();
      const { rows } = await session.query(
        `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`,
      );
      await session.end();
      expect(rows).toEqual([]);
    });
  },
);

it.each([`LC_COLLATE 'C' LC_CTYPE 'C'`, `LOCALE_PROVIDER icu ICU_LOCALE 'de' LOCALE 'C'`])(
  'a database of UTF8 is accepted whatever its collation: %s',
  async (locale) => {
    await withDatabase(`ENCODING 'UTF8' ${locale}`, async (url) => {
      await probeDatabase(url);
      const database = await Database.connectAndMigrate({ url, migrations: POSTGRES_MIGRATIONS });
      await database.close();
    });
  },
);

async function withDatabase(options: string, work: (url: string) => Promise<void>): Promise<void> {
  const url = new URL(server.url);
  url.pathname = `${url.pathname}_other`;
  const name = url.pathname.slice(1);
  await server.query(`CREATE DATABASE ${name} ${options} TEMPLATE template0`);
  try {
    await work(url.href);
  } finally {
    await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}
