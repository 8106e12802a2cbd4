import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { EmbeddedPostgres } from '#libs/postgres';
import pg from 'pg';
import { describeOnLinux } from '../support/on-linux.js';
import { freshDataDir, postmasters } from '../support/parley.js';
import { ParleyCommand } from '../support/parley-command.js';

/** Stands for PostgreSQL's own, which npm does not bring: writes down what the database that it is given has. */
const PG_DUMP = `#!${process.execPath}
const flags = process.argv.slice(2);
if (flags[0] === '--version') {
  console.log('pg_dump (PostgreSQL) ${EmbeddedPostgres.majorVersion()}.0');
} else {
  const { Client } = require('${createRequire(import.meta.url).resolve('pg')}');
  const client = new Client({ connectionString: flags[flags.indexOf('--dbname') + 1] });
  const file = flags.find((it) => it.startsWith('--file=')).slice('--file='.length);
  client
    .connect()
    .then(() => client.query('SELECT n FROM task'))
    .then(({ rows }) => require('node:fs').writeFileSync(file, JSON.stringify({ rows, flags })))
    .then(() => client.end());
}
`;

describeOnLinux('parley backup of the database under DATA_DIR', () => {
  const dataDir = freshDataDir();
  let command: ParleyCommand;

  beforeAll(() => {
    const programs = join(dataDir.path, '..', 'programs');
    mkdirSync(programs);
    writeFileSync(join(programs, 'pg_dump'), PG_DUMP);
    chmodSync(join(programs, 'pg_dump'), 0o755);
    const PATH = [programs, process.env.PATH].join(delimiter);
    command = new ParleyCommand({ PATH, DATA_DIR: dataDir.path });
  });

  afterAll(async () => {
    command.end();
    await dataDir.remove();
  });

  it('makes none where there is none', async () => {
    const refused = await command.run('backup', 'none.dump');
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain(`There is no service's database under ${dataDir.path}`);
    expect(existsSync(dataDir.path)).toBe(false);
  });

  it('works beside the service that uses it, and starts it for as long as it takes where none does', async () => {
    const server = await EmbeddedPostgres.start({ dataDir: dataDir.path });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query('CREATE TABLE task AS SELECT 7 AS n');
    expect(await command.run('backup', 'beside.dump')).toMatchObject({ code: 0 });
    expect(await client.query('SELECT n FROM task')).toMatchObject({ rows: [{ n: 7 }] });
    await client.end();
    await server.stop();
    expect(postmasters(dataDir.path)).toEqual([]);
    expect(await command.run('backup', 'alone.dump')).toMatchObject({ code: 0 });
    expect(postmasters(dataDir.path)).toEqual([]);
    for (const name of ['beside.dump', 'alone.dump']) {
      const text = readFileSync(join(command.folder, name), 'utf8');
      expect(JSON.parse(text)).toMatchObject({ rows: [{ n: 7 }] });
      expect(text).not.toContain(new URL(server.url).password);
    }
  });
});
