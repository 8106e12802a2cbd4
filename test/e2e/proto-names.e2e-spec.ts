import { randomUUID } from 'node:crypto';
import type { JsonObject, Message, Task } from '#libs/protocol';
import { blamedFields, detail, message, rest, type RpcReply, rpc } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { echo, ruled, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
const OLD = { headers: { 'a2a-version': '0.3' } };
let echoing: string;
let asking: string;
let hook: WebhookReceiver;

beforeAll(async () => {
  const name = unique('names');
  const asks = ruled('asks', [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }]);
  const slow = script('slow', { status: 'working' }, { sleep: 60_000 }, { complete: 'done' });
  await stage.api.save({ name, nodes: [echo('echo'), asks, slow], edges: [] });
  echoing = stage.api.base(name, 'echo');
  asking = stage.api.base(name, 'asks');
  hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
});

/** A Message in the words of `a2a.proto`. */
function told(fields: JsonObject = {}): JsonObject {
  return { message_id: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }], ...fields };
}

interface Outcome {
  task?: Task;
  /** The reason of the error, and the fields that it names. */
  refused?: unknown[];
}

function outcome(result: { task?: Task } | undefined, details: JsonObject[] | undefined): Outcome {
  if (details) return { refused: [detail(details, 'ErrorInfo')?.reason, ...blamedFields(details)] };
  return { task: result?.task };
}

type Send = (base: string, params: JsonObject) => Promise<Outcome>;

const SENDERS: [string, Send][] = [
  [
    'JSON-RPC',
    async (base, params) => {
      const { body } = (await rpc(base, 'SendMessage', params)) as RpcReply<{ task: Task }>;
      return outcome(body.result, body.error?.data);
    },
  ],
  [
    'REST',
    async (base, params) => {
      const { body } = await rest<{ task?: Task }>(base, 'POST', '/message:send', { body: params });
      return outcome(body, body.error?.details);
    },
  ],
];

describe.each(SENDERS)('SendMessage of A2A 1.0 over %s, in the names of a2a.proto', (_name, send) => {
  it('is read like the names of JSON, and answered in those', async () => {
    const context = randomUUID();
    const sent = told({
      context_id: context,
      reference_task_ids: ['other'],
      parts: [{ text: 'hello', media_type: 'text/markdown' }],
    });
    const { task } = await send(echoing, { message: sent, configuration: { accepted_output_modes: ['text/plain'] } });
    expect(task?.contextId).toBe(context);
    expect(task?.history?.[0]).toEqual({
      messageId: sent.message_id,
      contextId: context,
      taskId: task?.id,
      role: 'ROLE_USER',
      parts: [{ text: 'hello', mediaType: 'text/markdown' }],
      referenceTaskIds: ['other'],
    });
    expect(JSON.stringify(task)).not.toMatch(/"[a-z]+_[a-z_]+":/);
  });

  it('cuts the history, answers at once, and goes on with a Task', async () => {
    const { task: asked } = await send(asking, { message: told(), configuration: { history_length: 0 } });
    expect(asked).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    expect(asked?.history).toBeUndefined();
    const { task: gone } = await send(asking, { message: told({ task_id: asked?.id ?? '' }) });
    expect(gone).toMatchObject({ id: asked?.id, status: { state: 'TASK_STATE_COMPLETED' } });
    const slow = asking.replace(/asks$/, 'slow');
    const { task: working } = await send(slow, { message: told(), configuration: { return_immediately: true } });
    expect(working?.status.state).toMatch(/SUBMITTED|WORKING/);
    await rpc(slow, 'CancelTask', { id: working?.id });
  });

  it('does not get past what the agent reads and writes', async () => {
    const picture = told({ parts: [{ text: 'x', media_type: 'image/png' }] });
    expect(await send(echoing, { message: picture })).toEqual({
      refused: ['CONTENT_TYPE_NOT_SUPPORTED', 'message.parts[0].mediaType'],
    });
    const configuration = { accepted_output_modes: ['image/png'] };
    expect(await send(echoing, { message: told(), configuration })).toEqual({
      refused: ['CONTENT_TYPE_NOT_SUPPORTED', 'configuration.acceptedOutputModes'],
    });
  });

  it('brings a webhook', async () => {
    const config = { url: hook.url, id: 'c' };
    const { task } = await send(asking, {
      message: told(),
      configuration: { task_push_notification_config: config },
    });
    const { body } = await rpc(asking, 'GetTaskPushNotificationConfig', { task_id: task?.id, id: 'c' });
    expect(body.result).toEqual({ ...config, taskId: task?.id });
  });

  it('is refused where both names have a value and the two differ', async () => {
    const both = told({ context_id: 'one', contextId: 'two' });
    expect(await send(echoing, { message: both })).toEqual({ refused: ['INVALID_PARAMS', 'message.contextId'] });
    const parts = [{ text: 'x', mediaType: 'text/plain', media_type: 'text/html' }];
    expect(await send(echoing, { message: told({ parts }) })).toEqual({
      refused: ['INVALID_PARAMS', 'message.parts[0].mediaType'],
    });
    const same = await send(echoing, { message: told({ context_id: 'one', contextId: 'one' }) });
    expect(same.task?.contextId).toBe('one');
  });

  it('leaves data and metadata as they are', async () => {
    const free = { task_id: 1, taskId: 2, deep: [{ media_type: 'x' }] };
    const sent = told({ parts: [{ data: free, metadata: free }], metadata: free });
    const { task } = await send(echoing, { message: sent, metadata: free });
    expect(task?.history?.[0]).toMatchObject({ parts: [{ data: free, metadata: free }], metadata: free });
  });
});

describe('the other operations of A2A 1.0, in the names of a2a.proto', () => {
  it('read them over JSON-RPC', async () => {
    const contextId = randomUUID();
    for (const text of ['one', 'two']) {
      await rpc(echoing, 'SendMessage', { message: message(text, { contextId }) });
    }
    await rpc(echoing, 'SendMessage', { message: message('three') });
    const query = { context_id: contextId, page_size: 1, include_artifacts: true, history_length: 1 };
    const { result } = (
      await rpc<{ tasks: Task[]; totalSize: number; nextPageToken: string }>(echoing, 'ListTasks', query)
    ).body;
    expect(result).toMatchObject({ totalSize: 2, pageSize: 1, tasks: [{ contextId, artifacts: [{}] }] });
    expect(result?.tasks[0]?.history).toHaveLength(1);
    const next = await rpc(echoing, 'ListTasks', { ...query, page_token: result?.nextPageToken });
    expect(next.body.result).toMatchObject({ tasks: [{ contextId }], nextPageToken: '' });
    const id = result?.tasks[0]?.id ?? '';
    const one = await rpc<Task>(echoing, 'GetTask', { id, history_length: 0 });
    expect(one.body.result).not.toHaveProperty('history');
  });

  it('read them in the body of a REST call, where the path wins', async () => {
    const { body } = await rest<{ task: Task }>(asking, 'POST', '/message:send', { body: { message: told() } });
    const path = `/tasks/${body.task.id}/pushNotificationConfigs`;
    const given = { url: hook.url, id: 'c', task_id: 'another' };
    const made = await rest(asking, 'POST', path, { body: given });
    expect([made.status, made.body]).toEqual([200, { url: hook.url, id: 'c', taskId: body.task.id }]);
  });

  it('read them at /send-message', async () => {
    const { body } = await rest<{ task: Task }>(echoing, 'POST', '/send-message', {
      body: { message: { message_id: 'mine', parts: [{ text: 'x' }] }, context_id: 'here' },
    });
    expect(body.task.history?.[0]).toMatchObject({ messageId: 'mine', contextId: 'here' });
  });
});

describe('A2A 0.3 in the names of its schema', () => {
  it('is read over JSON-RPC', async () => {
    const sent = { message_id: 'm', context_id: 'old', role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
    const configuration = {
      history_length: 1,
      push_notification_config: { url: hook.url, id: 'c', authentication: {} },
    };
    const { body } = await rpc<Task>(asking, 'message/send', { message: sent, configuration }, OLD);
    const { id, contextId, history } = body.result as Task;
    expect([contextId, history?.length]).toEqual(['old', 1]);
    const got = await rpc(asking, 'tasks/pushNotificationConfig/get', { id, push_notification_config_id: 'c' }, OLD);
    expect(got.body.result).toEqual({ taskId: id, pushNotificationConfig: { id: 'c', url: hook.url } });
    const given = { task_id: id, push_notification_config: { id: 'd', url: hook.url } };
    const made = await rpc(asking, 'tasks/pushNotificationConfig/set', given, OLD);
    expect(made.body.result).toMatchObject({ taskId: id, pushNotificationConfig: { id: 'd' } });
    const task = await rpc<Task>(asking, 'tasks/get', { id, history_length: 0 }, OLD);
    expect(task.body.result?.history).toBeUndefined();
    const twice = { ...sent, contextId: 'new' };
    const refused = await rpc(asking, 'message/send', { message: twice }, OLD);
    const { code, data } = refused.body.error as unknown as { code: number; data: { details: JsonObject[] } };
    expect([code, blamedFields(data.details)]).toEqual([-32602, ['message.contextId']]);
  });

  it('is read over REST', async () => {
    const sent = { message_id: 'm', context_id: 'old', role: 'ROLE_USER', content: [{ text: 'hello' }] };
    const configuration = { history_length: 1, blocking: true };
    const { body } = await rest<{ task: Task & { history: Message[] } }>(asking, 'POST', '/v1/message:send', {
      ...OLD,
      body: { request: sent, configuration },
    });
    const { id, contextId, history } = body.task;
    expect([contextId, history.length]).toEqual(['old', 1]);
    const config = { push_notification_config: { id: 'c', url: hook.url, authentication: {} } };
    const made = await rest(asking, 'POST', `/v1/tasks/${id}/pushNotificationConfigs`, { ...OLD, body: { config } });
    expect([made.status, made.body]).toMatchObject([200, { pushNotificationConfig: { id: 'c', url: hook.url } }]);
    const twice = { ...sent, contextId: 'new' };
    const refused = await rest(asking, 'POST', '/v1/message:send', { ...OLD, body: { message: twice } });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('message.contextId')]);
  });
});
