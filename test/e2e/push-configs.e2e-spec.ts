import type { JsonObject, Task } from '#libs/protocol';
import { rest, rpc, sendTask } from '../support/a2a.js';
import { startParley } from '../support/parley.js';
import { useSharedStage } from '../support/shared-stage.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, script, unique } from '../support/workflow.js';

const NOWHERE = 'no-such-task';
const stage = useSharedStage();
let hook: WebhookReceiver;
let base: string;
let task: Task;

interface Config {
  id: string;
  taskId: string;
  url: string;
  token?: string;
  authentication?: { scheme: string; credentials?: string };
}

beforeAll(async () => {
  hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  const name = unique('configs');
  await stage.api.save(linear(name, script('s', { ask: 'more?' })));
  base = `${stage.parley.url}/a2a/workflows/${name}/nodes/s`;
});

beforeEach(async () => {
  task = await sendTask(base, 'go');
});

describe('the operations on configs', () => {
  it('are the same over JSON-RPC and REST', async () => {
    const given = { url: hook.url, token: 'tok', authentication: { scheme: 'Basic', credentials: 'user:pass' } };
    const shown = { url: hook.url, authentication: { scheme: 'Basic' }, taskId: task.id };
    const one = await rpc<Config>(base, 'CreateTaskPushNotificationConfig', { ...given, taskId: task.id, id: 'c1' });
    expect(one.body.result).toEqual({ ...shown, id: 'c1' });
    const two = await rest<Config>(base, 'POST', path(), { body: given });
    expect([two.status, two.body]).toEqual([200, { ...shown, id: expect.any(String) }]);
    const both = [one.body.result, two.body];
    expect((await list()).configs).toEqual(both);
    expect((await rest(base, 'GET', path())).body).toEqual({ configs: both, nextPageToken: '' });
    expect((await rest(base, 'GET', path('/c1'))).body).toEqual(one.body.result);
    const got = await rpc(base, 'GetTaskPushNotificationConfig', { taskId: task.id, id: two.body.id });
    expect(got.body.result).toEqual(two.body);
    const gone = await rpc(base, 'DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'c1' });
    expect(gone.body.result).toEqual({});
    expect((await rest(base, 'DELETE', path('/c1'))).status).toBe(200);
    expect((await list()).configs).toEqual([two.body]);
    const missing = await rest(base, 'GET', path('/c1'));
    expect([missing.status, missing.body.error?.status]).toEqual([404, 'NOT_FOUND']);
  });

  it('list pages', async () => {
    const ids = ['a', 'b', 'c'];
    for (const id of ids) await create({ id });
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await list({ pageSize: 2, pageToken });
      seen.push(...page.configs.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual(ids);
  });

  it('put a config in the place of one with its id', async () => {
    await create({ id: 'same', token: 'old' });
    await create({ id: 'same' });
    expect((await list()).configs).toEqual([{ id: 'same', taskId: task.id, url: hook.url }]);
  });

  it('stay as they are where the Message that brought one comes again under its key', async () => {
    const other = await WebhookReceiver.start();
    stage.defer(() => other.stop());
    const config = { id: 'brought', url: other.url };
    const options = {
      fields: { taskId: task.id, messageId: 'm' },
      configuration: { taskPushNotificationConfig: { ...config, token: 'old' } },
      headers: { 'idempotency-key': unique('key') },
    };
    const first = await sendTask(base, 'more', options);
    await create({ ...config, url: `${other.url}?new` });
    expect(await sendTask(base, 'more', options)).toEqual(first);
    expect((await list()).configs).toEqual([{ ...config, taskId: task.id, url: `${other.url}?new` }]);
    await rpc(base, 'DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'brought' });
    expect(await sendTask(base, 'more', options)).toEqual(first);
    expect((await list()).configs).toEqual([]);
  });

  it('allow ten configs, and room is made by a delete', async () => {
    for (let count = 0; count < 10; count += 1) await create({ id: `c${count}` });
    const eleventh = await rpc(base, 'CreateTaskPushNotificationConfig', { taskId: task.id, url: hook.url });
    expect(eleventh.body.error).toMatchObject({ code: -32602 });
    const more = { message: text('more', task.id), configuration: { taskPushNotificationConfig: { url: hook.url } } };
    expect((await rpc(base, 'SendMessage', more)).body.error).toMatchObject({ code: -32602 });
    await rest(base, 'DELETE', path('/c3'));
    await create({ id: 'c10' });
    expect((await list()).configs).toHaveLength(10);
  });

  it('find no Task of another agent, as they find none that does not exist', async () => {
    const other = unique('other');
    await stage.api.save(linear(other, script('s', { complete: true })));
    const elsewhere = `${stage.parley.url}/a2a/workflows/${other}`;
    await create({ id: 'mine' });
    for (const method of ['Create', 'Get', 'Delete', 'List']) {
      const operation = `${method}TaskPushNotificationConfig${method === 'List' ? 's' : ''}`;
      const answers = [task.id, 'no-such-task'].map(async (taskId) => {
        const { body } = await rpc(elsewhere, operation, { taskId, id: 'mine', url: hook.url });
        return JSON.stringify(body).replaceAll(taskId, '');
      });
      const [foreign, unknown] = await Promise.all(answers);
      expect(foreign).toContain('-32001');
      expect(foreign).toBe(unknown);
    }
    expect((await list()).configs).toHaveLength(1);
  });

  it('find no Task of another owner, nor its deliveries', async () => {
    await create({ id: 'theirs' });
    await stage.database.query(`UPDATE task SET owner = 'somebody' WHERE task_id = $1`, [task.id]);
    const calls = [
      ['POST', path(), { url: hook.url }],
      ['GET', path(), undefined],
      ['GET', path('/theirs'), undefined],
      ['DELETE', path('/theirs'), undefined],
    ] as const;
    for (const [method, url, body] of calls) {
      const [foreign, unknown] = [
        await rest(base, method, url, { body }),
        await rest(base, method, nowhere(url), { body }),
      ];
      expect(foreign.status).toBe(404);
      expect(JSON.stringify(foreign.body).replaceAll(task.id, '')).toBe(
        JSON.stringify(unknown.body).replaceAll(NOWHERE, ''),
      );
    }
    const more = { message: text('more', task.id), configuration: { taskPushNotificationConfig: { url: hook.url } } };
    expect((await rpc(base, 'SendMessage', more)).body.error).toMatchObject({ code: -32001 });
    const [kept] = await stage.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM push_config WHERE task_id = $1 AND deleted_at IS NULL',
      [task.id],
    );
    expect(kept?.count).toBe(1);
  });

  it('are offered by the card', async () => {
    const response = await fetch(`${base}/.well-known/agent-card.json`);
    const card = (await response.json()) as { capabilities: JsonObject };
    expect(card.capabilities.pushNotifications).toBe(true);
  });
});

describe('a config that is not valid', () => {
  it.each([
    ['url', { url: 'no url' }],
    ['url', { url: 'ftp://127.0.0.1/x' }],
    ['url', { url: 'http://user:pass@127.0.0.1/x' }],
    ['url', { url: `http://127.0.0.1/${'x'.repeat(2048)}` }],
    ['url', { url: 'http://10.0.0.1/x' }],
    ['url', { url: 'http://169.254.169.254/latest/meta-data' }],
    ['url', { url: 'http://0x0a000001/' }],
    ['url', { url: 'http://[::ffff:10.0.0.1]/' }],
    ['token', { url: 'http://127.0.0.1/', token: 'a\r\nb' }],
    ['token', { url: 'http://127.0.0.1/', token: 'x'.repeat(1025) }],
    ['authentication.scheme', { url: 'http://127.0.0.1/', authentication: { scheme: 'no scheme' } }],
    [
      'authentication.credentials',
      { url: 'http://127.0.0.1/', authentication: { scheme: 'Bearer', credentials: 'ä' } },
    ],
  ] as [string, JsonObject][])('is refused for its %s (%#), and nothing is kept', async (field, config) => {
    const created = await rpc(base, 'CreateTaskPushNotificationConfig', { taskId: task.id, ...config });
    expect(JSON.stringify(created.body.error)).toContain(`"field":"${field}"`);
    const before = await tasks();
    const params = { message: text('x'), configuration: { taskPushNotificationConfig: config } };
    const sent = await rpc(base, 'SendMessage', params);
    expect(JSON.stringify(sent.body.error)).toContain(`"field":"configuration.taskPushNotificationConfig.${field}"`);
    expect(await tasks()).toBe(before);
    expect((await list()).configs).toEqual([]);
  });
});

describe('addresses of this machine', () => {
  it('are refused while the service is open to others', async () => {
    const env = { HOST: '0.0.0.0', AUTH_MODE: 'none', AUTH_ALLOW_ANONYMOUS: 'true' };
    const open = await startParley({ databaseUrl: stage.database.url, env });
    stage.defer(() => open.stop());
    const url = `http://127.0.0.1:${new URL(open.url).port}${new URL(base).pathname}`;
    for (const target of [hook.url, 'http://localhost/x', 'http://[::1]/x', 'http://2130706433/']) {
      const { body } = await rpc(url, 'CreateTaskPushNotificationConfig', { taskId: task.id, url: target });
      expect(body.error).toMatchObject({ code: -32602 });
    }
    expect(hook.received).toEqual([]);
  });
});

async function create(fields: Partial<Config> = {}): Promise<Config> {
  const params = { taskId: task.id, url: hook.url, ...fields };
  const { body } = await rpc<Config>(base, 'CreateTaskPushNotificationConfig', params);
  if (!body.result) throw new Error(JSON.stringify(body));
  return body.result;
}

async function list(fields: JsonObject = {}): Promise<{ configs: Config[]; nextPageToken: string }> {
  const reply = await rpc<{ configs: Config[]; nextPageToken: string }>(base, 'ListTaskPushNotificationConfigs', {
    taskId: task.id,
    ...fields,
  });
  if (!reply.body.result) throw new Error(JSON.stringify(reply.body));
  return reply.body.result;
}

async function tasks(): Promise<number> {
  const { body } = await rpc<{ totalSize: number }>(base, 'ListTasks', {});
  return body.result?.totalSize ?? -1;
}

function nowhere(url: string): string {
  return url.replace(task.id, NOWHERE);
}

function path(rest = ''): string {
  return `/tasks/${task.id}/pushNotificationConfigs${rest}`;
}

function text(content: string, taskId?: string): JsonObject {
  return { messageId: unique('m'), role: 'ROLE_USER', parts: [{ text: content }], ...(taskId && { taskId }) };
}
