import { randomBytes } from 'node:crypto';
import type { JsonObject } from '#libs/protocol';
import { rpc, sendTask } from '../support/a2a.js';
import { keepCredential, newSecret } from '../support/credentials.js';
import { databaseText } from '../support/database-text.js';
import { FakeAgent } from '../support/fake-agent.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Api, external, linear, type Run, script, unique } from '../support/workflow.js';

const newKey = (): string => randomBytes(32).toString('base64');

let database: TestDatabase;
let agent: FakeAgent;
let hook: WebhookReceiver;
let running: Parley[] = [];

beforeAll(async () => {
  agent = await FakeAgent.start();
  hook = await WebhookReceiver.start();
});

beforeEach(async () => {
  database = await freshDatabase();
});

afterEach(async () => {
  await stopAll();
  await database.drop();
});

afterAll(async () => {
  await agent.stop();
  await hook.stop();
});

async function start(credentialsKey?: string): Promise<Api> {
  const env: Record<string, string> = credentialsKey === undefined ? {} : { CREDENTIALS_KEY: credentialsKey };
  const parley = await startParley({ databaseUrl: database.url, env: { LOG_LEVEL: 'trace', ...env } });
  running.push(parley);
  return new Api(parley.url);
}

async function stopAll(): Promise<string> {
  const stopped = running;
  running = [];
  await Promise.all(stopped.map((it) => it.stop()));
  return stopped.map((it) => it.logs()).join('\n');
}

async function restart(credentialsKey?: string): Promise<Api> {
  await stopAll();
  return start(credentialsKey);
}

/** A run of one node that calls the agent; it has the key that the agent is looked at for. */
function call(api: Api, auth: string): Promise<Run> {
  return api.finish(linear(unique('w'), external('e', agent.url, { auth })));
}

const lastKey = (): unknown => agent.sends.at(-1)?.headers['x-api-key'];

/** Which keys sealed what is in the database. */
async function sealingKeys(): Promise<string[]> {
  const rows = await database.query<{ sealed: string }>(`
    SELECT secret AS sealed FROM credential UNION ALL SELECT secrets FROM push_config WHERE secrets IS NOT NULL
    UNION ALL SELECT sealed_private_key FROM signing_key WHERE signs`);
  return [...new Set(rows.map(({ sealed }) => sealed.split('.')[1] ?? ''))];
}

/** A Task that waits, with a webhook that has a token and credentials. */
async function waitingTask(api: Api, secrets: { token: string; credentials: string }) {
  const steps: JsonObject = { when: { text: 'more' }, steps: [{ complete: 'done' }] };
  const node = { id: 's', type: 'script', config: { script: { rules: [steps], otherwise: [{ ask: 'more?' }] } } };
  const { name } = await api.save(linear(unique('w'), node));
  const authentication = { scheme: 'Bearer', credentials: secrets.credentials };
  const config = { url: hook.url, token: secrets.token, authentication };
  const task = await sendTask(api.base(name, 's'), 'go', { configuration: { taskPushNotificationConfig: config } });
  return { path: (it: Api) => it.base(name, 's'), taskId: task.id };
}

it('keeps secrets sealed, and the replicas of one database open them all', async () => {
  const [one, other] = [await start(), await start()];
  const [value, later, token, credentials] = [newSecret(), newSecret(), newSecret(), newSecret()];
  const auth = await keepCredential(one, { kind: 'api-key', value });
  expect((await call(other, auth)).status).toBe('completed');
  expect(lastKey()).toBe(value);
  expect((await other.call('PUT', `/credentials/${auth}`, { kind: 'api-key', value: later })).status).toBe(200);
  await call(one, auth);
  expect(lastKey()).toBe(later);

  const { path, taskId } = await waitingTask(one, { token, credentials });
  const shown = await rpc<{ configs: object[] }>(path(other), 'ListTaskPushNotificationConfigs', { taskId });
  expect(shown.body.result?.configs).toHaveLength(1);
  for (const secret of [token, credentials]) expect(JSON.stringify(shown.body)).not.toContain(secret);
  await until(() => hook.received.length > 0);
  expect(hook.received[0]?.headers).toMatchObject({
    authorization: `Bearer ${credentials}`,
    'x-a2a-notification-token': token,
  });
  const keys = await database.query<{ private_key: unknown; sealed_private_key: string | null }>(
    'SELECT private_key, sealed_private_key FROM signing_key',
  );
  expect(keys).toEqual([{ private_key: null, sealed_private_key: expect.any(String) }]);
  const places = [await databaseText(database), await stopAll()].join('\n');
  expect([value, later, token, credentials].filter((it) => places.includes(it))).toEqual([]);
});

it('opens what other keys sealed, and seals it anew with the first one', async () => {
  const [first, second] = [newKey(), newKey()];
  const value = newSecret();
  const plain = { token: newSecret(), credentials: newSecret() };
  let api = await start();
  const auth = await keepCredential(api, { kind: 'api-key', value });
  const { path, taskId } = await waitingTask(api, plain);
  await until(async () => (await sealingKeys()).length === 1 && (await jwks(api)).length === 1);
  let [previous] = await sealingKeys();
  // As it was before secrets were sealed.
  await stopAll();
  const open = [plain.token, plain.credentials];
  await database.query('UPDATE push_config SET token = $1, credentials = $2, secrets = NULL', open);

  for (const keys of [first, `${second},${first}`, second]) {
    api = await restart(keys);
    await call(api, auth);
    expect(lastKey()).toBe(value);
    // The last start has nothing to seal anew.
    if (keys === second) continue;
    [previous] = await until(async () => {
      const found = await sealingKeys();
      return found.length === 1 && found[0] !== previous && found;
    });
  }
  expect(await jwks(api)).toHaveLength(1);
  hook.received.length = 0;
  await sendTask(path(api), 'more', { fields: { taskId } });
  await hook.ended();
  expect(hook.received[0]?.headers.authorization).toBe(`Bearer ${plain.credentials}`);
  expect(await databaseText(database)).not.toContain(plain.token);
});

it('says so, and sends nothing, where no key opens a secret', async () => {
  const value = newSecret();
  let api = await start(newKey());
  const auth = await keepCredential(api, { kind: 'api-key', value });
  const { taskId, path } = await waitingTask(api, { token: newSecret(), credentials: newSecret() });
  await until(async () => (await jwks(api)).length === 1);
  await until(() => hook.story.length > 0);
  api = await restart(newKey());
  const sends = agent.sends.length;
  const run = await call(api, auth);
  expect(run.nodes.e?.error).toContain(`credential "${auth}": it cannot be decrypted`);
  expect(agent.sends).toHaveLength(sends);
  expect((await api.call('GET', `/credentials/${auth}`)).status).toBe(200);
  expect((await api.call('PUT', `/credentials/${auth}`, { kind: 'api-key', value })).status).toBe(200);
  await call(api, auth);
  expect(lastKey()).toBe(value);

  await sendTask(path(api), 'more', { fields: { taskId } });
  const delivery = await until(async () => {
    const { body } = await api.call<{ deliveries: JsonObject[] }>('GET', `/deliveries?taskId=${taskId}&status=failed`);
    return body.deliveries[0];
  });
  expect(delivery.disabledReason).toBe('The token and credentials can no longer be decrypted');
  // What was signed before can still be verified, and something signs from now on.
  const { name } = await api.save(linear(unique('w'), script('s', { complete: 'x' })));
  const configuration = { taskPushNotificationConfig: { url: hook.url } };
  hook.received.length = 0;
  await sendTask(api.base(name, 's'), 'go', { configuration });
  await hook.ended();
  expect(await jwks(api)).toHaveLength(2);
});

async function jwks(api: Api): Promise<unknown[]> {
  const response = await fetch(`${api.url}/.well-known/jwks.json`);
  return ((await response.json()) as { keys: unknown[] }).keys;
}
