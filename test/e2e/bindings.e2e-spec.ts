import { A2A_ERRORS, type A2AErrorReason, type JsonObject, type StreamResponse, type Task } from '#libs/protocol';
import { status as grpcStatus } from '@grpc/grpc-js';
import { firstText, outline, sendParams } from '../support/a2a.js';
import { bindingsOf, type Endpoints, type OpenStream, type WireBinding, WireFailure } from '../support/bindings.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { echo, ruled, script, unique } from '../support/workflow.js';

const stage = useStage({ env: { GRPC_PORT: '0' } });
const endpoints: Endpoints = { url: '', grpc: '' };
let workflow: string;
let nodes: string;

interface Card {
  supportedInterfaces: { url: string; protocolBinding: string; protocolVersion: string; tenant?: string }[];
}

beforeAll(async () => {
  workflow = unique('bind');
  nodes = `workflows/${workflow}/nodes`;
  await stage.api.save({
    name: workflow,
    nodes: [
      echo('echo'),
      script('parts', { echo: true }, { complete: 'done' }),
      script('slow', { status: 'working', text: 'on it' }, { sleep: 60_000 }, { complete: 'done' }),
      script(
        'short',
        { status: 'working' },
        { sleep: 300 },
        { artifact: { parts: [{ text: 'late' }] } },
        { complete: 'done' },
      ),
      script('direct', { reply: [{ text: 'no task needed' }] }),
      script('fails', { fail: 'no luck' }),
      ruled('asks', [
        { when: { turn: 1 }, steps: [{ ask: 'more?' }] },
        { when: { turn: 2 }, steps: [{ complete: 'thanks' }] },
      ]),
    ],
    edges: [],
  });
  const card = (await (await fetch(`${stage.parley.url}/.well-known/agent-card.json`)).json()) as Card;
  endpoints.url = stage.parley.url;
  endpoints.grpc = card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
});

const at = (node: string): string => `${nodes}/${node}`;

async function send(binding: WireBinding, node: string, text: string, configuration?: JsonObject): Promise<Task> {
  const params = sendParams(text, { ...(configuration && { configuration }) });
  const { result, error } = await binding.call<{ task: Task }>(at(node), 'SendMessage', params);
  if (!result) throw new Error(`${binding.name}: ${JSON.stringify(error)}`);
  return result.task;
}

async function outlines({ items }: OpenStream): Promise<string[]> {
  const seen: string[] = [];
  for await (const item of items) seen.push(outline(item));
  return seen;
}

/** How a binding tells an error, by the table of section 5.4. */
function codeOf({ name }: WireBinding, reason: A2AErrorReason): number {
  const { code, status, grpc } = A2A_ERRORS[reason];
  return { JSONRPC: code, 'HTTP+JSON': status, GRPC: grpcStatus[grpc as keyof typeof grpcStatus] }[name];
}

describe.each(bindingsOf(() => endpoints).map((it) => [it.name, it] as const))('A2A 1.0 over %s', (_name, binding) => {
  const refusal = (reason: A2AErrorReason, fields: string[] = []) => ({
    code: codeOf(binding, reason),
    message: expect.stringMatching(/./),
    reason,
    domain: 'a2a-protocol.org',
    fields,
  });

  describe('does every operation', () => {
    it('SendMessage waits for the end and gives the Task whole', async () => {
      const task = await send(binding, 'short', 'go');
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(firstText(task)).toBe('late');
      expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(task.history?.map(({ role }) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT']);
    });

    it('SendMessage waits no longer than until input is wanted, and goes on with the next Message', async () => {
      const asked = await send(binding, 'asks', 'hi');
      expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      const params = sendParams('yes', { fields: { taskId: asked.id } });
      const { result } = await binding.call<{ task: Task }>(at('asks'), 'SendMessage', params);
      expect(result?.task).toMatchObject({
        id: asked.id,
        contextId: asked.contextId,
        status: { state: 'TASK_STATE_COMPLETED' },
      });
    });

    it('SendMessage with returnImmediately answers while the Task works', async () => {
      const task = await send(binding, 'short', 'go', { returnImmediately: true });
      expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(task.status.state);
      await until(async () => {
        const { result } = await binding.call<Task>(at('short'), 'GetTask', { id: task.id });
        return result?.status.state === 'TASK_STATE_COMPLETED';
      });
    });

    it('SendMessage may be answered with a Message', async () => {
      const { result } = await binding.call(at('direct'), 'SendMessage', sendParams('go'));
      expect(result).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'no task needed' }] } });
      expect(result).not.toHaveProperty('task');
    });

    it('every kind of Part goes there and back', async () => {
      const parts = [
        { text: 'a', metadata: { k: [1, null, 'x'] } },
        { data: { deep: [{ n: 1.5 }] }, mediaType: 'application/json' },
        { data: null },
        { data: [1, 'two', false] },
        { raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' },
        { url: 'https://example.com/a', mediaType: 'text/plain' },
      ];
      const { result } = await binding.call<{ task: Task }>(at('parts'), 'SendMessage', sendParams(parts));
      expect(result?.task.artifacts?.[0]?.parts).toEqual(parts);
    });

    it('SendStreamingMessage begins with the Task and ends with it', async () => {
      expect(await outlines(await binding.open(at('short'), 'SendStreamingMessage', sendParams('go')))).toEqual([
        'task TASK_STATE_SUBMITTED',
        'status TASK_STATE_WORKING',
        'artifact late',
        'status TASK_STATE_COMPLETED',
      ]);
    });

    it('SendStreamingMessage closes where input is wanted, and a Message is the only item of its stream', async () => {
      const asked = await outlines(await binding.open(at('asks'), 'SendStreamingMessage', sendParams('hi')));
      expect(asked.at(-1)).toBe('status TASK_STATE_INPUT_REQUIRED');
      expect(await outlines(await binding.open(at('direct'), 'SendStreamingMessage', sendParams('hi')))).toEqual([
        'message',
      ]);
    });

    it('GetTask cuts the history as it is asked to', async () => {
      const { id } = await send(binding, 'echo', 'hello');
      const lengths = await Promise.all(
        ([{}, { historyLength: 0 }, { historyLength: 1 }, { historyLength: 9 }] as JsonObject[]).map(async (fields) => {
          const { result } = await binding.call<Task>(at('echo'), 'GetTask', { id, ...fields });
          return result?.history?.length;
        }),
      );
      expect(lengths).toEqual([2, undefined, 1, 2]);
    });

    it('ListTasks filters, pages and leaves artifacts out unless asked', async () => {
      const first = await send(binding, 'echo', 'one');
      const { contextId } = first;
      const params = sendParams('two', { fields: { contextId } });
      const { result: second } = await binding.call<{ task: Task }>(at('echo'), 'SendMessage', params);
      const list = async (fields: JsonObject) => {
        const { result } = await binding.call<{ tasks?: Task[]; nextPageToken?: string; totalSize: number }>(
          at('echo'),
          'ListTasks',
          { contextId, ...fields },
        );
        return result;
      };
      const page = await list({ pageSize: 1 });
      expect(page).toMatchObject({ tasks: [{ id: second?.task.id }], totalSize: 2, pageSize: 1 });
      expect(page?.tasks?.[0]).not.toHaveProperty('artifacts');
      const next = await list({ pageSize: 1, pageToken: String(page?.nextPageToken), includeArtifacts: true });
      expect(next?.tasks).toMatchObject([{ id: first.id, artifacts: [{}] }]);
      expect(next?.nextPageToken ?? '').toBe('');
      expect((await list({ status: 'TASK_STATE_WORKING' }))?.tasks ?? []).toEqual([]);
      expect((await list({ statusTimestampAfter: '2999-01-01T00:00:00Z' }))?.tasks ?? []).toEqual([]);
    });

    it('SubscribeToTask begins with the Task as it stands; every reader sees the same, and CancelTask ends it', async () => {
      const task = await send(binding, 'slow', 'go', { returnImmediately: true });
      const readers = await Promise.all(
        [1, 2, 3].map(() => binding.open(at('slow'), 'SubscribeToTask', { id: task.id })),
      );
      const [left, ...staying] = readers;
      left?.leave();
      const { result } = await binding.call<Task>(at('slow'), 'CancelTask', { id: task.id });
      expect(result).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_CANCELED' } });
      for (const reader of staying) {
        const seen = await outlines(reader);
        expect(seen[0]).toMatch(/^task TASK_STATE_(SUBMITTED|WORKING)$/);
        expect(seen.at(-1)).toBe('status TASK_STATE_CANCELED');
      }
    });

    it('a reader that leaves ends nothing', async () => {
      const stream = await binding.open(at('short'), 'SendStreamingMessage', sendParams('go'));
      const [first] = (await take(stream, 1)) as [{ task: Task }];
      stream.leave();
      await until(async () => {
        const { result } = await binding.call<Task>(at('short'), 'GetTask', { id: first.task.id });
        return result?.status.state === 'TASK_STATE_COMPLETED';
      });
    });

    it('tells which extensions are active', async () => {
      const uri = 'urn:parley:extension:idempotency:v1';
      const headers = { 'a2a-extensions': `urn:unknown, ${uri}` };
      const { extensions, result } = await binding.call(at('echo'), 'SendMessage', sendParams('x'), headers);
      expect(result).toBeDefined();
      expect(extensions).toBe(uri);
    });

    it('takes an Idempotency-Key: the same request is one Task, another one is refused', async () => {
      const headers = { 'idempotency-key': unique('key') };
      const params = sendParams('once');
      const ids = [];
      for (let index = 0; index < 2; index++) {
        const { result } = await binding.call<{ task: Task }>(at('echo'), 'SendMessage', params, headers);
        ids.push(result?.task.id);
      }
      expect(ids[1]).toBe(ids[0]);
      const { error } = await binding.call(at('echo'), 'SendMessage', sendParams('other'), headers);
      expect(error).toMatchObject({ reason: 'IDEMPOTENCY_CONFLICT', domain: 'parley' });
    });

    it('the service runs the workflow that the tenant or the Message names', async () => {
      const byTenant = await binding.call<{ task: Task }>('', 'SendMessage', { ...sendParams('x'), tenant: workflow });
      expect(byTenant.error).toBeUndefined();
      expect(await stage.api.run(String(byTenant.result?.task.id))).toMatchObject({ workflow });
      const named = sendParams('x', { fields: { metadata: { skillId: workflow } } });
      const bySkill = await binding.call<{ task: Task }>('', 'SendMessage', named);
      expect(await stage.api.run(String(bySkill.result?.task.id))).toMatchObject({ workflow });
      const read = await binding.call<Task>('', 'GetTask', { id: String(bySkill.result?.task.id) });
      expect(read.result?.id).toBe(bySkill.result?.task.id);
    });
  });

  describe('tells every error', () => {
    it.each(['GetTask', 'CancelTask'])('%s of an unknown Task is TaskNotFound', async (operation) => {
      const { error } = await binding.call(at('echo'), operation, { id: 'nope' });
      expect(error).toEqual(refusal('TASK_NOT_FOUND'));
    });

    it('a Task of another agent is TaskNotFound, and is found at the service', async () => {
      const { id } = await send(binding, 'echo', 'x');
      expect((await binding.call(at('short'), 'GetTask', { id })).error).toEqual(refusal('TASK_NOT_FOUND'));
      expect((await binding.call('', 'GetTask', { id })).result).toMatchObject({ id });
    });

    it('a Message to an unknown Task is TaskNotFound', async () => {
      const params = sendParams('x', { fields: { taskId: 'nope' } });
      expect((await binding.call(at('echo'), 'SendMessage', params)).error).toEqual(refusal('TASK_NOT_FOUND'));
      await expect(binding.open(at('echo'), 'SendStreamingMessage', params)).rejects.toMatchObject({
        error: refusal('TASK_NOT_FOUND'),
      });
    });

    it('an agent that does not exist is not found, and says which', async () => {
      const { error } = await binding.call('workflows/nope', 'GetTask', { id: 'x' });
      expect(error).toMatchObject({ code: codeOf(binding, 'TASK_NOT_FOUND'), reason: 'AGENT_NOT_FOUND' });
    });

    it('canceling an ended Task is TaskNotCancelable', async () => {
      const { id } = await send(binding, 'echo', 'x');
      const { error } = await binding.call(at('echo'), 'CancelTask', { id });
      expect(error).toEqual(refusal('TASK_NOT_CANCELABLE'));
    });

    it('an ended Task takes no Message and no subscription', async () => {
      const { id } = await send(binding, 'fails', 'x');
      const params = sendParams('x', { fields: { taskId: id } });
      expect((await binding.call(at('fails'), 'SendMessage', params)).error).toEqual(refusal('UNSUPPORTED_OPERATION'));
      await expect(binding.open(at('fails'), 'SubscribeToTask', { id })).rejects.toMatchObject({
        error: refusal('UNSUPPORTED_OPERATION'),
      });
    });

    it.each<[string, JsonObject]>([
      ['CreateTaskPushNotificationConfig', { taskId: 't', url: 'https://example.com/hook' }],
      ['GetTaskPushNotificationConfig', { taskId: 't', id: 'c' }],
      ['ListTaskPushNotificationConfigs', { taskId: 't' }],
      ['DeleteTaskPushNotificationConfig', { taskId: 't', id: 'c' }],
    ])('%s is PushNotificationNotSupported while the card says so', async (operation, params) => {
      const card = (await (await fetch(`${endpoints.url}/a2a/${at('echo')}/.well-known/agent-card.json`)).json()) as {
        capabilities: { pushNotifications?: boolean };
      };
      const supported = card.capabilities.pushNotifications === true;
      const { error } = await binding.call(at('echo'), operation, params);
      expect(error).toEqual(refusal(supported ? 'TASK_NOT_FOUND' : 'PUSH_NOTIFICATION_NOT_SUPPORTED'));
    });

    it('GetExtendedAgentCard is UnsupportedOperation', async () => {
      const { error } = await binding.call(at('echo'), 'GetExtendedAgentCard', {});
      expect(error).toEqual(refusal('UNSUPPORTED_OPERATION'));
    });

    it.each<[string, JsonObject, string[]]>([
      ['no message', {}, ['message']],
      ['no role', { message: { messageId: 'm', parts: [{ text: 'x' }] } }, ['message.role']],
      ['no parts', { message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }, ['message.parts']],
      [
        'an empty Part and no messageId',
        { message: { role: 'ROLE_USER', parts: [{ mediaType: 'text/plain' }] } },
        ['message.messageId', 'message.parts[0]'],
      ],
      [
        'a historyLength below zero',
        { ...sendParams('x'), configuration: { historyLength: -1 } },
        ['configuration.historyLength'],
      ],
    ])('SendMessage with %s names the fields', async (_what, params, fields) => {
      const { error } = await binding.call(at('echo'), 'SendMessage', params);
      // The official SDK's encoder makes an empty list of what is absent.
      const blamed = error?.fields.filter((it) => fields.includes(it) || it !== 'message.parts');
      expect({ ...error, fields: blamed }).toEqual(refusal('INVALID_PARAMS', fields));
    });

    it('ListTasks with a bad page size or token names it', async () => {
      const size = await binding.call(at('echo'), 'ListTasks', { pageSize: 101 });
      expect(size.error).toEqual(refusal('INVALID_PARAMS', ['pageSize']));
      const token = await binding.call(at('echo'), 'ListTasks', { pageToken: 'nonsense' });
      expect(token.error).toEqual(refusal('INVALID_PARAMS', ['pageToken']));
    });

    it('a contextId that is not the Task’s is refused', async () => {
      const asked = await send(binding, 'asks', 'hi');
      const params = sendParams('x', { fields: { taskId: asked.id, contextId: 'another' } });
      const { error } = await binding.call(at('asks'), 'SendMessage', params);
      expect(error).toEqual(refusal('INVALID_PARAMS', ['message.contextId']));
    });

    it('output modes that the agent does not have are ContentTypeNotSupported', async () => {
      const params = sendParams('x', { configuration: { acceptedOutputModes: ['video/mp4'] } });
      const { error } = await binding.call(at('echo'), 'SendMessage', params);
      expect(error).toEqual(refusal('CONTENT_TYPE_NOT_SUPPORTED', ['configuration.acceptedOutputModes']));
    });

    it.each(['', '0.3', '0.5', '1.1', '2.0', 'latest'])(
      'version %p of an operation of 1.0 is refused',
      async (version) => {
        const headers = { 'a2a-version': version };
        const { error } = await binding.call(at('echo'), 'SendMessage', sendParams('x'), headers);
        expect(error).toEqual(refusal('VERSION_NOT_SUPPORTED'));
        await expect(binding.open(at('echo'), 'SendStreamingMessage', sendParams('x'), headers)).rejects.toBeInstanceOf(
          WireFailure,
        );
      },
    );

    it('an Idempotency-Key that is none is refused', async () => {
      const { error } = await binding.call(at('echo'), 'SendMessage', sendParams('x'), {
        'idempotency-key': 'x'.repeat(256),
      });
      expect(error).toMatchObject({ code: codeOf(binding, 'INVALID_PARAMS'), reason: 'INVALID_PARAMS' });
    });
  });
});

async function take({ items }: OpenStream, count: number): Promise<StreamResponse[]> {
  const seen: StreamResponse[] = [];
  const iterator = items[Symbol.asyncIterator]();
  while (seen.length < count) {
    const item = await iterator.next();
    if (item.done) break;
    seen.push(item.value);
  }
  return seen;
}
