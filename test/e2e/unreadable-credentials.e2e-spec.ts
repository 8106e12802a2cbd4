import { randomBytes } from 'node:crypto';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { untilReady } from '../support/until-ready.js';
import { Api, unique } from '../support/workflow.js';

const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const WARNING = 'No key in CREDENTIALS_KEY decrypts 1 of the stored credentials: calls that need them fail';

let database: TestDatabase;
let parley: Parley | undefined;

beforeAll(async () => {
  database = await freshDatabase();
});

afterAll(async () => {
  await parley?.stop();
  await database?.drop();
});

/** Starts a service with these keys. @returns what it printed at the start, and its remark about credentials */
async function startWith(keys: string): Promise<{ banner: string; remark: unknown }> {
  parley = await startParley({ databaseUrl: database.url, env: { CREDENTIALS_KEY: keys, LOG_LEVEL: 'info' } });
  const { details } = (await untilReady(parley)) as { details: { credentials: unknown } };
  return { banner: parley.stdout(), remark: details.credentials };
}

async function stop(): Promise<void> {
  await parley?.stop();
  parley = undefined;
}

describe('credentials that no key decrypts', () => {
  it('show at the start and in /health/ready, and no longer once their key is back', async () => {
    const fine = await startWith(first);
    expect([fine.banner.includes('warning'), fine.remark]).toEqual([false, { status: 'up' }]);
    const body = { name: unique('key'), kind: 'bearer', token: 'a-secret-token' };
    const kept = await new Api(parley!.url).call('POST', '/credentials', body);
    expect(kept.status).toBe(201);
    await stop();

    const wrong = await startWith(second);
    expect(wrong.banner).toContain(`  warning   ${WARNING}`);
    expect(wrong.remark).toEqual({ status: 'up', degraded: true, message: WARNING });
    await stop();

    const both = await startWith(`${second},${first}`);
    expect([both.banner.includes('warning'), both.remark]).toEqual([false, { status: 'up' }]);
  });
});
