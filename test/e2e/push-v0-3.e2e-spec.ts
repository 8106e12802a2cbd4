import type { Message, MessageSendParams, Task } from 'a2a-sdk-v0';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'a2a-sdk-v0/client';
import { randomUUID } from 'node:crypto';
import { notificationVerifier } from '../../docs/push/verify-notification.mjs';
import { rest, rpc, sendTask } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, ruled, unique } from '../support/workflow.js';

const V03 = { headers: { 'a2a-version': '0.3' } };

const stage = useSharedStage();
let hook: WebhookReceiver;
let base: string;

beforeAll(async () => {
  const name = unique('push_v03');
  const artifact = { artifact: { parts: [{ text: 'made' }] } };
  const turns = [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }];
  await stage.api.save(linear(name, ruled('asks', turns, [artifact, { complete: 'thanks' }])));
  base = stage.api.base(name, 'asks');
});

beforeEach(async () => {
  hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
});

function said(text: string, fields: Partial<Message> = {}): Message {
  return { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...fields };
}

/** What a receiver of 0.3 understands of each notification: the Task as it then stood. */
function story(): string[] {
  return hook.accepted.map(({ body }) => {
    const { kind, status, artifacts } = JSON.parse(body) as Task;
    const parts = artifacts?.flatMap((it) => it.parts.map((part) => (part.kind === 'text' ? part.text : part.kind)));
    return [kind, status.state, ...(parts ?? [])].join(' ');
  });
}

function clientOver(transport: string): Promise<Client> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
    preferredTransports: [transport],
  });
  return new ClientFactory(options).createFromUrl(`${base}/`, '.well-known/agent-card.json');
}

describe.each(['JSONRPC', 'HTTP+JSON'])("the official SDK's client of A2A 0.3 over %s", (transport) => {
  it('names a webhook in its Message, and is told in the words of 0.3', async () => {
    const client = await clientOver(transport);
    const pushNotificationConfig = { url: hook.url, token: 'order-66', id: 'inline' };
    const params: MessageSendParams = {
      message: said('go'),
      configuration: { blocking: true, pushNotificationConfig },
    };
    const { id: taskId, contextId } = (await client.sendMessage(params)) as Task;
    await until(() => hook.accepted.length === 2, { what: 'the first turn' });
    await client.sendMessage({ message: said('more', { taskId, contextId }) });
    await until(() => story().at(-1)?.startsWith('task completed'), { what: 'the end' });
    expect(story()).toEqual([
      'task submitted',
      'task input-required',
      'task working',
      'task working made',
      'task completed made',
    ]);
    const verify = notificationVerifier(stage.parley.url, hook.url);
    for (const { headers, body, id } of hook.accepted) {
      expect(headers).toMatchObject({ 'x-a2a-notification-token': 'order-66', 'content-type': 'application/json' });
      expect(JSON.parse(body)).toMatchObject({ kind: 'task', id: taskId, contextId });
      expect(await verify(headers, Buffer.from(body))).toBe(id);
    }
  });

  it('makes one without an id, which is the one that is read where none is named, as at its own server', async () => {
    const client = await clientOver(transport);
    const unnamed = { url: hook.url, token: 'tok' };
    const { id: taskId } = (await client.sendMessage({ message: said('go') })) as Task;
    const read = async (named = {}) =>
      (await rpc<object>(base, 'tasks/pushNotificationConfig/get', { id: taskId, ...named }, V03)).body;
    await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { id: 'c', url: hook.url } });
    expect((await read()).error).toMatchObject({ code: -32001 });
    await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { url: `${hook.url}?first` } });
    await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: unnamed });
    const kept = { taskId, pushNotificationConfig: { url: hook.url, id: taskId } };
    for (const named of [{}, { pushNotificationConfigId: '' }, { pushNotificationConfigId: taskId }]) {
      expect((await read(named)).result).toEqual(kept);
    }
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toHaveLength(2);
  });

  it('brings one without an id in its Message, which is read in the same way', async () => {
    const client = await clientOver(transport);
    const configuration = { pushNotificationConfig: { url: hook.url } };
    const { id } = (await client.sendMessage({ message: said('go'), configuration })) as Task;
    expect((await rpc<object>(base, 'tasks/pushNotificationConfig/get', { id }, V03)).body.result).toEqual({
      taskId: id,
      pushNotificationConfig: { id, url: hook.url },
    });
  });

  it('makes, reads, lists and deletes configs', async () => {
    const client = await clientOver(transport);
    const { id: taskId } = (await client.sendMessage({ message: said('go') })) as Task;
    const shown = { id: 'c', url: hook.url };
    const made = await client.setTaskPushNotificationConfig({
      taskId,
      pushNotificationConfig: { ...shown, token: 'tok' },
    });
    expect(made).toEqual({ taskId, pushNotificationConfig: shown });
    const named = { id: taskId, pushNotificationConfigId: 'c' };
    expect(await client.getTaskPushNotificationConfig(named)).toEqual({ taskId, pushNotificationConfig: shown });
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toHaveLength(1);
    await client.sendMessage({ message: said('more', { taskId }) });
    await until(() => story().at(-1)?.startsWith('task completed'), { what: 'the end' });
    expect(story()).toEqual(['task working', 'task working made', 'task completed made']);
    await client.deleteTaskPushNotificationConfig(named);
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([]);
  });
});

describe('HTTP+JSON of A2A 0.3', () => {
  it.each([
    ['?configId=k', (config: object) => ({ name: 'x', pushNotificationConfig: config })],
    ['', (config: object) => ({ configId: 'k', config: { pushNotificationConfig: config } })],
    ['', (config: object) => ({ config_id: 'k', config: { push_notification_config: { ...config, id: 'k' } } })],
  ])('makes a config under the id that is named beside it (%s)', async (query, body) => {
    const { id } = await sendTask(base, 'go');
    const configs = `/v1/tasks/${id}/pushNotificationConfigs`;
    const made = await rest(base, 'POST', `${configs}${query}`, { ...V03, body: body({ url: hook.url }) });
    expect(made.body).toEqual({
      name: `tasks/${id}/pushNotificationConfigs/k`,
      pushNotificationConfig: { id: 'k', url: hook.url },
    });
    expect((await rest(base, 'GET', `${configs}/k`, V03)).body).toEqual(made.body);
  });

  it('makes none under two ids', async () => {
    const { id } = await sendTask(base, 'go');
    const configs = `/v1/tasks/${id}/pushNotificationConfigs`;
    const body = { pushNotificationConfig: { id: 'j', url: hook.url } };
    const refused = await rest(base, 'POST', `${configs}?configId=k`, { ...V03, body });
    expect([refused.status, refused.body]).toMatchObject([400, { message: expect.stringMatching(/^configId: /) }]);
    expect((await rest(base, 'GET', configs, V03)).body).toMatchObject({ configs: [] });
  });
});

describe('webhooks of both versions on one Task', () => {
  it('are each told in their own words, also when a notification is sent again', async () => {
    const current = await WebhookReceiver.start();
    stage.defer(() => current.stop());
    const { id: taskId } = await sendTask(base, 'go');
    await rpc(base, 'CreateTaskPushNotificationConfig', { taskId, id: 'new', url: current.url });
    const old = { taskId, pushNotificationConfig: { id: 'old', url: hook.url } };
    await rpc(base, 'tasks/pushNotificationConfig/set', old, { headers: { 'a2a-version': '0.3' } });
    hook.statuses = [503];
    await sendTask(base, 'more', { fields: { taskId } });
    await current.ended();
    await until(() => story().at(-1)?.startsWith('task completed'), { what: 'the end' });
    expect(current.story).toEqual(['TASK_STATE_WORKING', 'artifact', 'TASK_STATE_COMPLETED']);
    expect(current.accepted[0]?.headers['content-type']).toBe('application/a2a+json');
    expect(story()).toEqual(['task working', 'task working made', 'task completed made']);
    const [refused, again] = hook.received;
    expect([again?.id, again?.body]).toEqual([refused?.id, refused?.body]);
  });
});
