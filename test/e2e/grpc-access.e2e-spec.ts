import { status } from '@grpc/grpc-js';
import { sendParams } from '../support/a2a.js';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { GrpcWire } from '../support/grpc-wire.js';
import { useSharedStage } from '../support/shared-stage.js';
import { before, until } from '../support/until.js';
import type { Endpoints, Headers, OpenStream } from '../support/wire-binding.js';
import { Api, echo, script, unique } from '../support/workflow.js';

const stage = useSharedStage(KNOWS_CALLERS);
const endpoints: Endpoints = { url: '', grpc: '' };
const wire = new GrpcWire(() => endpoints);
let api: Api;
let workflow: string;

beforeAll(async () => {
  api = new Api(stage.parley.url, ANN.headers);
  workflow = unique('grpc');
  const slow = script('slow', { status: 'working' }, { sleep: 60_000 }, { complete: 'done' });
  await api.save({ name: workflow, nodes: [echo('echo'), slow], edges: [] });
  const card = (await (await fetch(`${stage.parley.url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  endpoints.grpc = card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')!.url;
});

const at = (node: string): string => `workflows/${workflow}/nodes/${node}`;

async function makeKey(scopes?: string[]): Promise<{ id: string; headers: Headers }> {
  const { body } = await api.call<{ id: string; key: string }>('POST', '/keys', { name: 'jane', scopes });
  return { id: body.id, headers: { authorization: `Bearer ${body.key}` } };
}

const OPERATIONS: [operation: string, params: object][] = [
  ['SendMessage', sendParams('x')],
  ['SendStreamingMessage', sendParams('x')],
  ['GetTask', { id: 'x' }],
  ['ListTasks', {}],
  ['CancelTask', { id: 'x' }],
  ['SubscribeToTask', { id: 'x' }],
  ['CreateTaskPushNotificationConfig', { taskId: 'x', url: 'https://example.com' }],
  ['GetTaskPushNotificationConfig', { taskId: 'x', id: 'c' }],
  ['ListTaskPushNotificationConfigs', { taskId: 'x' }],
  ['DeleteTaskPushNotificationConfig', { taskId: 'x', id: 'c' }],
];

describe.each(OPERATIONS)('gRPC %s', (operation, params) => {
  const refused = async (headers: Headers) =>
    (await wire.refusal(at('echo'), operation, params as never, headers)).code;

  it('is UNAUTHENTICATED without valid credentials', async () => {
    expect(await refused({})).toBe(status.UNAUTHENTICATED);
    expect(await refused({ authorization: 'Bearer no-key-of-anybody' })).toBe(status.UNAUTHENTICATED);
    expect(await refused({ 'x-api-key': 'no-key-of-anybody' })).toBe(status.UNAUTHENTICATED);
  });

  it('is PERMISSION_DENIED without the scope', async () => {
    const { headers } = await makeKey(['workflows']);
    expect(await refused(headers)).toBe(status.PERMISSION_DENIED);
  });
});

describe('gRPC', () => {
  it('takes a key as either metadata', async () => {
    for (const headers of [ANN.headers, { 'x-api-key': ANN.key }]) {
      expect(await wire.call(at('echo'), 'SendMessage', sendParams('hi'), headers)).toMatchObject({
        result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
      });
    }
  });

  it.each(['SendStreamingMessage', 'SubscribeToTask'])(
    '%s ends when the key is revoked, the work does not',
    async (operation) => {
      const jane = await makeKey();
      const begun = await wire.open(at('slow'), 'SendStreamingMessage', sendParams('go'), jane.headers);
      const { task } = (await begun.items[Symbol.asyncIterator]().next()).value as { task: { id: string } };
      const mine = await wire.open(at('slow'), 'SendStreamingMessage', sendParams('go'), ANN.headers);
      const stream =
        operation === 'SubscribeToTask' ? await wire.open('', operation, { id: task.id }, jane.headers) : begun;
      expect((await api.call('DELETE', `/keys/${jane.id}`)).status).toBe(204);
      const end = await before(ending(stream), { what: 'the stream to end' });
      expect(end).toMatchObject({ code: status.UNAUTHENTICATED });
      expect((await wire.refusal('', 'GetTask', { id: task.id }, jane.headers)).code).toBe(status.UNAUTHENTICATED);
      const row = 'SELECT FROM task WHERE task_id = $1 AND state = $2';
      // A stream may have begun before the work has.
      await until(async () => (await stage.database.query(row, [task.id, 'TASK_STATE_WORKING'])).length === 1, {
        what: 'the work to go on',
      });
      begun.leave();
      mine.leave();
    },
  );
});

/** How a stream ends. */
async function ending({ items }: OpenStream): Promise<unknown> {
  try {
    for await (const item of items) expect(item).toBeDefined();
    return 'orderly';
  } catch (error) {
    return error;
  }
}
