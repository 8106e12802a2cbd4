import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { startParley, startRefused } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';

const MAIN = process.env.PARLEY_TEST_MAIN ?? '';
const run = promisify(execFile);

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
      expect.stringContaining('AUTH_API_KEYS: AUTH_MODE is api-key, but there is no key'),
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
