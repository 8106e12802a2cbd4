import { SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import type { JsonObject, Task as WireTask } from '#libs/protocol';
import { message, outline } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { input, linear, output, ruled, script, unique } from '../support/workflow.js';

const stage = useSharedStage({ env: { GRPC_PORT: '0' } });
let workflow: string;

beforeAll(async () => {
  workflow = unique('sdk');
  await stage.api.save({
    ...linear(
      workflow,
      input('in'),
      script('work', { status: 'working' }, { artifact: { parts: [{ text: 'did {{text}}' }] } }, { complete: 'done' }),
      output('out'),
    ),
    description: 'Driven by the official client',
  });
  await stage.api.save({
    name: `${workflow}_more`,
    nodes: [
      ruled('asks', [
        { when: { turn: 1 }, steps: [{ ask: 'more?' }] },
        { when: { turn: 2 }, steps: [{ complete: 'thanks' }] },
      ]),
      ruled('repeats', [
        { when: { turn: 1 }, steps: [{ ask: '{{text}}' }] },
        { when: { turn: 2 }, steps: [{ complete: 'thanks' }] },
      ]),
      script('slow', { status: 'working' }, { sleep: 60_000 }),
    ],
    edges: [],
  });
});

function request(text: string, fields: JsonObject = {}, configuration: JsonObject = {}): SendMessageRequest {
  return SendMessageRequest.fromJSON({ message: { ...message(text), ...fields }, configuration });
}

function wire(result: unknown): WireTask {
  return Task.toJSON(result as Task) as WireTask;
}

async function outlines(events: AsyncIterable<StreamResponse>): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of events) seen.push(outline(StreamResponse.toJSON(event) as never));
  return seen;
}

function clientOver(transport: string, base: string): Promise<Client> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()],
    preferredTransports: [transport],
  });
  return new ClientFactory(options).createFromUrl(`${base}/`, '.well-known/agent-card.json');
}

// The SDK reads no event of a stream beyond 4 MiB (docs/INTEROP.md).
it.each(['JSONRPC', 'HTTP+JSON'])(
  "the official SDK's client over %s reads a follow-up to a large Task without its history",
  async (transport) => {
    const client = await clientOver(transport, stage.api.base(`${workflow}_more`, 'repeats'));
    const asked = wire(await client.sendMessage(request('x'.repeat(2.5 * 1024 ** 2))));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const followUp = request('go', { taskId: asked.id, contextId: asked.contextId }, { historyLength: 0 });
    expect((await outlines(client.sendMessageStream(followUp))).at(-1)).toBe('status TASK_STATE_COMPLETED');
  },
);

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'])("the official SDK's client over %s", (transport) => {
  const clientAt = (base: string): Promise<Client> => clientOver(transport, base);

  it('drives a workflow agent, blocking', async () => {
    const client = await clientAt(stage.api.base(workflow));
    const task = wire(await client.sendMessage(request('this')));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.map(({ parts }) => parts[0]?.text)).toEqual(['did this']);
    expect(await stage.api.run(task.id)).toMatchObject({ status: 'completed', workflow });
  });

  it('drives a workflow agent, streaming', async () => {
    const client = await clientAt(stage.api.base(workflow));
    const seen = await outlines(client.sendMessageStream(request('that')));
    expect(seen[0]).toBe('task TASK_STATE_SUBMITTED');
    expect(seen).toContain('artifact did that');
    expect(seen.at(-1)).toBe('status TASK_STATE_COMPLETED');
  });

  it('drives a node agent, blocking and streaming', async () => {
    const client = await clientAt(stage.api.base(workflow, 'work'));
    const task = wire(await client.sendMessage(request('a')));
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ text: 'did a' }] }],
    });
    expect(await outlines(client.sendMessageStream(request('b')))).toEqual([
      'task TASK_STATE_SUBMITTED',
      'status TASK_STATE_WORKING',
      'artifact did b',
      'status TASK_STATE_COMPLETED',
    ]);
  });

  it('drives the service, which runs the workflow that the Message names', async () => {
    const client = await clientAt(`${stage.parley.url}/a2a`);
    const task = wire(await client.sendMessage(request('c', { metadata: { skillId: workflow } })));
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('did c');
  });

  it('goes through several turns, reads, lists and cancels', async () => {
    const client = await clientAt(stage.api.base(`${workflow}_more`, 'asks'));
    const asked = wire(await client.sendMessage(request('hi')));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const other = wire(await client.sendMessage(request('hi')));
    const done = wire(await client.sendMessage(request('yes', { taskId: asked.id, contextId: asked.contextId })));
    expect(done).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(wire(await client.getTask({ tenant: '', id: asked.id, historyLength: 2 })).history).toHaveLength(2);
    const page = await client.listTasks({
      tenant: '',
      contextId: asked.contextId,
      status: 0,
      pageToken: '',
      pageSize: 10,
    } as Parameters<Client['listTasks']>[0]);
    expect(page.tasks.map(({ id }) => id)).toEqual([asked.id]);
    expect(wire(await client.cancelTask({ tenant: '', id: other.id, metadata: undefined })).status.state).toBe(
      'TASK_STATE_CANCELED',
    );
  });

  it('subscribes to a Task that works, and sees it canceled', async () => {
    const client = await clientAt(stage.api.base(`${workflow}_more`, 'slow'));
    const task = wire(await client.sendMessage(request('go', {}, { returnImmediately: true })));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of client.resubscribeTask({ tenant: '', id: task.id }))
        seen.push(outline(StreamResponse.toJSON(event) as never));
    })();
    await until(() => seen.length > 0, { what: 'the first event' });
    await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    await reading;
    expect(seen[0]).toMatch(/^task /);
    expect(seen.at(-1)).toBe('status TASK_STATE_CANCELED');
  });

  it('gets the errors of the protocol as its own', async () => {
    const client = await clientAt(stage.api.base(workflow, 'work'));
    await expect(client.getTask({ tenant: '', id: 'nope', historyLength: undefined })).rejects.toMatchObject({
      name: expect.stringContaining('TaskNotFoundError'),
    });
    const done = wire(await client.sendMessage(request('x')));
    await expect(client.cancelTask({ tenant: '', id: done.id, metadata: undefined })).rejects.toMatchObject({
      name: expect.stringContaining('TaskNotCancelableError'),
    });
  });
});
