import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RecognitionOptions, recognizeInstallation } from '#libs/postgres';
import type { ConfigError } from '#libs/service';
import { sendTask } from '../support/a2a.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { freshDataDir, startParley, startRefused } from '../support/parley.js';
import { freshDatabase, openDatabase, patientPool, type TestDatabase } from '../support/postgres.js';
import { Api, linear, ruled, unique } from '../support/workflow.js';

const MAIN = process.env.PARLEY_TEST_MAIN ?? '';
const run = promisify(execFile);
/** Queries that find something under way, and nothing. */
const [BUSY, IDLE] = [['SELECT FROM replica WHERE false', 'SELECT'], ['SELECT FROM replica WHERE false']];

describe('the start', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase();
  });

  afterAll(() => database?.drop());

  it('--help prints how it is set up, and starts nothing', async () => {
    const { stdout } = await run(process.execPath, [MAIN, '--help'], { env: { PATH: process.env.PATH } });
    expect(stdout).toContain('DATABASE_URL');
    expect(stdout).not.toContain('Parley is ready');
    await expect(run(process.execPath, [MAIN, '--prot', '1'])).rejects.toMatchObject({ code: 2 });
  });

  it('with AUTH_MODE=api-key and no key, given or stored, is refused with a sentence', async () => {
    const { code, logs } = await startRefused({
      databaseUrl: database.url,
      env: { AUTH_MODE: 'api-key' },
    });
    expect([code, logs]).toEqual([
      1,
      expect.stringContaining(
        'AUTH_API_KEYS: AUTH_MODE is api-key, but neither this variable nor the database has a key',
      ),
    ]);
    const seeding = await startParley({ databaseUrl: database.url, env: apiKeyEnv(testCaller('ann')) });
    await seeding.stop();
    const stored = await startParley({ databaseUrl: database.url, env: { AUTH_MODE: 'api-key' } });
    await stored.stop();
  });

  it('says what a person wants to know, and no routes', async () => {
    const parley = await startParley({
      databaseUrl: database.url,
      env: { LOG_LEVEL: 'info', ...apiKeyEnv(testCaller('b')) },
    });
    try {
      const lines = parley.stdout().split('\n');
      expect(lines[0]).toBe(`Parley is ready on ${parley.url}`);
      for (const word of [`${parley.url}/docs`, 'AUTH_MODE=api-key', 'PostgreSQL', 'echo', 'version'])
        expect(parley.stdout()).toContain(word);
      expect(parley.logs()).not.toContain(new URL(database.url).password || 'no password');
      expect(parley.logs()).not.toContain('Mapped {');
    } finally {
      await parley.stop();
    }
  });
});

describe('the start on a copy of a database', () => {
  const made: { drop(): Promise<void> }[] = [];

  afterEach(async () => {
    for (const it of made.splice(0)) await it.drop();
  });

  const fresh = async (): Promise<TestDatabase> => {
    const database = await freshDatabase();
    made.push(database);
    return database;
  };

  const folder = (): string => {
    const dataDir = freshDataDir();
    made.push({ drop: () => dataDir.remove() });
    mkdirSync(dataDir.path);
    return dataDir.path;
  };

  const administer = async (...statements: string[]): Promise<void> => {
    const { query, end } = openDatabase(process.env.PARLEY_TEST_POSTGRES ?? '');
    for (const statement of statements) await query(statement);
    await end();
  };

  const nameOf = (url: string): string => new URL(url).pathname.slice(1);

  const copyOf = async (url: string): Promise<string> => {
    const name = `${nameOf(url)}_copy`;
    await administer(`CREATE DATABASE ${name} TEMPLATE ${nameOf(url)}`);
    made.push({ drop: () => administer(`DROP DATABASE ${name} WITH (FORCE)`) });
    return Object.assign(new URL(url), { pathname: `/${name}` }).href;
  };

  /** Looks at a database as the start does; gives what is told and what refuses the start. */
  const recognized = async (databaseUrl: string, options: Partial<RecognitionOptions> = {}): Promise<string> => {
    const pool = patientPool({ connectionString: databaseUrl });
    let told = '';
    const onMoved = (sentence: string): void => void (told = sentence);
    try {
      await recognizeInstallation(pool, { databaseUrl, dataDir: '/nowhere', underWay: BUSY, onMoved, ...options });
      return told;
    } catch (error) {
      return `refused: ${(error as ConfigError).lines.join()}`;
    } finally {
      await pool.end();
    }
  };

  const codeIn = (sentence: string): string => / ADOPT_DATABASE=([0-9a-f]{12})$/.exec(sentence)?.[1] ?? sentence;

  it('is refused with one sentence while a Task waits for an answer, and the sentence says how to adopt it', async () => {
    const original = await fresh();
    const parley = await startParley({ databaseUrl: original.url });
    const node = ruled('node', [{ when: {}, steps: [{ ask: '?' }] }]);
    const { name } = await new Api(parley.url).save(linear(unique('copied'), node));
    await sendTask(new Api(parley.url).base(name, 'node'), 'x');
    await parley.stop();
    await original.end();
    const copy = await copyOf(original.url);
    const { code, logs } = await startRefused({ databaseUrl: copy });
    expect({ code, lines: logs.trim().split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^DATABASE_URL: the database is not the one .*ADOPT_DATABASE=[0-9a-f]{12}$/)],
    });
    const env = { ADOPT_DATABASE: codeIn(logs.trim()), LOG_LEVEL: 'warn' };
    const adopted = await startParley({ databaseUrl: copy, env });
    await adopted.stop();
    expect(adopted.logs()).toContain('ADOPT_DATABASE says so');
  });

  it('is refused until that copy is adopted, and each copy has a code of its own', async () => {
    const { url, end } = await fresh();
    expect(await recognized(url)).toBe('');
    await end();
    const copy = await copyOf(url);
    const refusal = await recognized(copy);
    expect(refusal).toMatch(/^refused: DATABASE_URL: the database is not the one/);
    expect(await recognized(copy, { adopted: '0123456789ab' })).toBe(refusal);
    expect(await recognized(url)).toBe('');
    const adopted = { adopted: codeIn(refusal) };
    expect(await recognized(copy, adopted)).toContain('ADOPT_DATABASE says so');
    expect([await recognized(copy), await recognized(copy, adopted)]).toEqual(['', '']);
    const second = await recognized(await copyOf(copy), adopted);
    expect(second).toMatch(/^refused: /);
    expect(codeIn(second)).not.toBe(adopted.adopted);
  });

  it('is only told of where nothing is under way', async () => {
    const { url, end } = await fresh();
    await recognized(url);
    await end();
    const copy = await copyOf(url);
    expect(await recognized(copy, { underWay: IDLE })).toContain('nothing is under way');
    expect(await recognized(copy)).toBe('');
  });

  it('is no difference where the server does not tell its identity', async () => {
    const { url, query } = await fresh();
    await recognized(url);
    await query('UPDATE installation SET server = NULL');
    expect(await recognized(url)).toBe('');
    const [row] = await query<{ server: string }>('SELECT server FROM installation');
    expect(row?.server).toMatch(/^\d+$/);
    await query(`UPDATE installation SET server = '1'`);
    expect(await recognized(url)).toMatch(/^refused: /);
  });

  it('is refused where DATA_DIR knew another installation at this address; an empty one learns, none is made', async () => {
    const [known, empty] = [{ dataDir: folder() }, { dataDir: folder() }];
    const none = { dataDir: join(empty.dataDir, 'none') };
    const [first, second] = [await fresh(), await fresh()];
    expect([await recognized(first.url, known), await recognized(second.url, known)]).toEqual(['', '']);
    await Promise.all([first.end(), second.end()]);
    const kept = `${nameOf(first.url)}_kept`;
    await administer(
      `ALTER DATABASE ${nameOf(first.url)} RENAME TO ${kept}`,
      `ALTER DATABASE ${nameOf(second.url)} RENAME TO ${nameOf(first.url)}`,
    );
    made.push({ drop: () => administer(`DROP DATABASE ${kept} WITH (FORCE)`) });
    const refusal = await recognized(first.url, known);
    expect(refusal).toMatch(/^refused: DATABASE_URL: .* another installation .* DATA_DIR /);
    for (const other of [empty, empty, none]) expect(await recognized(first.url, other)).toBe('');
    expect(existsSync(none.dataDir)).toBe(false);
    expect(await recognized(first.url, { ...known, adopted: codeIn(refusal) })).toContain('ADOPT_DATABASE says so');
    expect(await recognized(first.url, known)).toBe('');
  });

  it('of many replicas at once finds one installation', async () => {
    const { url, query } = await fresh();
    expect(await Promise.all(Array.from({ length: 20 }, () => recognized(url)))).toEqual(Array(20).fill(''));
    expect(await query('SELECT FROM installation')).toHaveLength(1);
  });
});
