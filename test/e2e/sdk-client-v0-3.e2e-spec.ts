import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'a2a-sdk-v0/client';
import type { Message, Task } from 'a2a-sdk-v0';
import { randomUUID } from 'node:crypto';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { input, linear, output, ruled, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
let workflow: string;

beforeAll(async () => {
  workflow = unique('v03');
  await stage.api.save(
    linear(
      workflow,
      input('in'),
      script('work', { status: 'working' }, { artifact: { parts: [{ text: 'did {{text}}' }] } }, { complete: 'done' }),
      output('out'),
    ),
  );
  await stage.api.save({
    name: `${workflow}_more`,
    nodes: [
      ruled('asks', [
        { when: { turn: 1 }, steps: [{ ask: 'more?' }] },
        { when: { turn: 2 }, steps: [{ complete: 'thanks' }] },
      ]),
      script('slow', { status: 'working' }, { sleep: 60_000 }),
      script('echo', { echo: true }, { complete: 'done' }),
      script('direct', { reply: [{ text: 'no task needed' }] }),
    ],
    edges: [],
  });
});

function said(text: string, fields: Partial<Message> = {}): Message {
  return { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...fields };
}

/** What an event is, and what it says. */
function outline(event: { kind: string }): string {
  const { kind, status, final, artifact } = event as {
    kind: string;
    status?: { state: string };
    final?: boolean;
    artifact?: { parts: { text?: string }[] };
  };
  if (kind === 'artifact-update') return `${kind} ${artifact?.parts[0]?.text}`;
  if (kind === 'status-update') return `${kind} ${status?.state}${final ? ' final' : ''}`;
  return status ? `${kind} ${status.state}` : kind;
}

describe.each(['JSONRPC', 'HTTP+JSON'])("the official SDK's client of A2A 0.3 over %s", (transport) => {
  const clientAt = (base: string): Promise<Client> =>
    new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
        preferredTransports: [transport],
      }),
    ).createFromUrl(`${base}/`, '.well-known/agent-card.json');

  it('drives a workflow agent, blocking', async () => {
    const client = await clientAt(stage.api.base(workflow));
    const task = (await client.sendMessage({ message: said('this') })) as Task;
    expect(task).toMatchObject({
      kind: 'task',
      status: { state: 'completed' },
      artifacts: [{ parts: [{ kind: 'text', text: 'did this' }] }],
    });
    expect(await stage.api.run(task.id)).toMatchObject({ status: 'completed', workflow });
  });

  it('streams a node agent, and the last status is final', async () => {
    const client = await clientAt(stage.api.base(workflow, 'work'));
    const seen: string[] = [];
    for await (const event of client.sendMessageStream({ message: said('that') })) seen.push(outline(event));
    expect(seen).toEqual([
      'task submitted',
      'status-update working',
      'artifact-update did that',
      'status-update completed final',
    ]);
  });

  it('gets a direct Message', async () => {
    const client = await clientAt(stage.api.base(`${workflow}_more`, 'direct'));
    expect(await client.sendMessage({ message: said('hi') })).toMatchObject({
      kind: 'message',
      role: 'agent',
      parts: [{ kind: 'text', text: 'no task needed' }],
    });
  });

  it('sends text, data and files, and has them back', async () => {
    const client = await clientAt(stage.api.base(`${workflow}_more`, 'echo'));
    const parts: Message['parts'] = [
      { kind: 'text', text: 'a' },
      { kind: 'data', data: { n: 1 } },
      { kind: 'file', file: { bytes: 'aGk=', mimeType: 'text/plain', name: 'hi.txt' } },
      { kind: 'file', file: { uri: 'https://example.com/a.txt', mimeType: 'text/plain' } },
    ];
    const task = (await client.sendMessage({ message: said('', { parts }) })) as Task;
    expect(task.artifacts?.[0]?.parts).toMatchObject(
      // The 0.3.14 client drops the name of a file over REST.
      transport === 'JSONRPC' ? parts : parts.map((part) => (part.kind === 'file' ? { kind: 'file' } : part)),
    );
  });

  it('goes through several turns and reads them', async () => {
    const client = await clientAt(stage.api.base(`${workflow}_more`, 'asks'));
    const asked = (await client.sendMessage({ message: said('hi') })) as Task;
    expect(asked.status).toMatchObject({ state: 'input-required', message: { role: 'agent' } });
    const done = (await client.sendMessage({
      message: said('yes', { taskId: asked.id, contextId: asked.contextId }),
    })) as Task;
    expect(done).toMatchObject({ id: asked.id, status: { state: 'completed' } });
    const read = await client.getTask({ id: asked.id, historyLength: 2 });
    expect(read.history?.map(({ kind, role }) => `${kind} ${role}`)).toEqual(['message user', 'message agent']);
  });

  it('asks for no waiting, resubscribes, and cancels', async () => {
    const client = await clientAt(stage.api.base(`${workflow}_more`, 'slow'));
    const task = (await client.sendMessage({ message: said('go'), configuration: { blocking: false } })) as Task;
    expect(['submitted', 'working']).toContain(task.status.state);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of client.resubscribeTask({ id: task.id })) seen.push(outline(event));
    })();
    await until(() => seen.length > 0, { what: 'the first event' });
    expect(await client.cancelTask({ id: task.id })).toMatchObject({ id: task.id, status: { state: 'canceled' } });
    await reading;
    expect(seen[0]).toMatch(/^task (submitted|working)$/);
    expect(seen.at(-1)).toBe('status-update canceled final');
  });

  it('gets the errors of 0.3 as its own', async () => {
    const client = await clientAt(stage.api.base(workflow, 'work'));
    await expect(client.getTask({ id: 'nope' })).rejects.toMatchObject({ name: 'TaskNotFoundError' });
    const done = (await client.sendMessage({ message: said('x') })) as Task;
    await expect(client.cancelTask({ id: done.id })).rejects.toMatchObject({ name: 'TaskNotCancelableError' });
  });
});

describe('A2A 0.3 beside 1.0', () => {
  it('is told by one card for both, also at the old place', async () => {
    const base = stage.api.base(workflow);
    const read = async (place: string) => (await fetch(`${base}/.well-known/${place}`)).json() as Promise<object>;
    const card = await read('agent-card.json');
    expect(card).toMatchObject({
      supportedInterfaces: [
        { url: base, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: base, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: base, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url: base, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
      protocolVersion: '0.3.0',
      url: base,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: base, transport: 'JSONRPC' },
        { url: base, transport: 'HTTP+JSON' },
      ],
    });
    expect(await read('agent.json')).toEqual(card);
  });

  it('a Task is the same Task in both versions', async () => {
    const base = stage.api.base(workflow, 'work');
    const call = async (method: string, params: object, headers: Record<string, string> = {}) => {
      const response = await fetch(base, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return ((await response.json()) as { result: Task }).result;
    };
    const task = await call('message/send', { message: said('both') });
    expect(task.status.state).toBe('completed');
    expect(await call('GetTask', { id: task.id }, { 'a2a-version': '1.0' })).toMatchObject({
      id: task.id,
      status: { state: 'TASK_STATE_COMPLETED' },
    });
  });
});
