import { ChannelCredentials } from '@grpc/grpc-js';
import { GrpcTransport } from 'a2a-sdk-v0/client/grpc';
import type { AgentCard, Message, Task } from 'a2a-sdk-v0';
import { randomUUID } from 'node:crypto';
import { freePort } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { declaring, ruled, script, unique } from '../support/workflow.js';

const port = await freePort();
const stage = useStage({ env: { GRPC_PORT: String(port), GRPC_PUBLIC_URL: `*.a2a.localhost:${port}` } });
const name = unique('v03grpc');

/** Client of an agent whose host its channel names; all hosts are this machine. */
function clientAt(node: string): GrpcTransport {
  const host = node === '' ? 'service' : `workflows--${name}--nodes--${node}`;
  return new GrpcTransport({
    endpoint: `127.0.0.1:${port}`,
    grpcChannelCredentials: ChannelCredentials.createInsecure(),
    grpcCallOptions: { host: `${host}.a2a.localhost:${port}` },
  });
}

function said(parts: Message['parts'], taskId?: string): Message {
  return { kind: 'message', messageId: randomUUID(), role: 'user', parts, ...(taskId !== undefined && { taskId }) };
}

beforeAll(async () => {
  await stage.api.save({
    name,
    nodes: [
      ruled('asks', [
        { when: { turn: 1 }, steps: [{ ask: 'more?' }] },
        { when: { turn: 2 }, steps: [{ complete: 'thanks' }] },
      ]),
      script('slow', { status: 'working' }, { sleep: 60_000 }),
      declaring('echo', { inputModes: ['*/*'] }, { echo: true }, { complete: 'done' }),
    ],
    edges: [],
  });
});

describe("the official SDK's gRPC client of A2A 0.3", () => {
  it('sends every kind of Part and gets it back', async () => {
    const parts: Message['parts'] = [
      { kind: 'text', text: 'grüße' },
      { kind: 'data', data: { nested: [1, 'two', { deep: true }] } },
      { kind: 'file', file: { bytes: Buffer.from([0, 255, 62]).toString('base64'), mimeType: 'image/png' } },
      { kind: 'file', file: { uri: 'https://example.com/a', mimeType: 'text/html' } },
    ];
    const task = (await clientAt('echo').sendMessage({
      message: said(parts),
      configuration: { blocking: true },
    })) as Task;
    expect(task).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    expect(task.artifacts?.[0]?.parts).toMatchObject(parts);
  });

  it('streams, and its stream ends with the question of the agent', async () => {
    const client = clientAt('asks');
    const states: string[] = [];
    let taskId = '';
    for await (const event of client.sendMessageStream({ message: said([{ kind: 'text', text: 'hi' }]) })) {
      if (event.kind === 'task') taskId = event.id;
      if (event.kind === 'status-update') states.push(`${event.status.state} ${event.final}`);
    }
    expect(states.at(-1)).toBe('input-required true');
    const answered = said([{ kind: 'text', text: 'yes' }], taskId);
    const task = (await client.sendMessage({ message: answered, configuration: { blocking: true } })) as Task;
    expect(task).toMatchObject({ id: taskId, status: { state: 'completed' } });
    expect(await client.getTask({ id: taskId })).toMatchObject({ id: taskId, status: { state: 'completed' } });
  });

  it('subscribes to a Task and cancels it', async () => {
    const client = clientAt('slow');
    const message = said([{ kind: 'text', text: 'hi' }]);
    const task = (await client.sendMessage({ message, configuration: { blocking: false } })) as Task;
    const events = client.resubscribeTask({ id: task.id });
    expect((await events.next()).value).toMatchObject({ kind: 'task', id: task.id });
    expect(await client.cancelTask({ id: task.id })).toMatchObject({ status: { state: 'canceled' } });
    let last: unknown;
    for await (const event of events) last = event;
    expect(last).toMatchObject({ kind: 'status-update', final: true, status: { state: 'canceled' } });
    await expect(client.cancelTask({ id: task.id })).rejects.toThrow(/cancel/i);
  });

  it('keeps push configs of a Task', async () => {
    const client = clientAt('slow');
    const message = said([{ kind: 'text', text: 'hi' }]);
    const { id: taskId } = (await client.sendMessage({ message, configuration: { blocking: false } })) as Task;
    const pushNotificationConfig = { id: 'one', url: 'https://example.com/hook', token: 't' };
    const made = await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig });
    expect(made).toMatchObject({ taskId, pushNotificationConfig: { id: 'one', url: 'https://example.com/hook' } });
    const one = { id: taskId, pushNotificationConfigId: 'one' };
    expect(await client.getTaskPushNotificationConfig(one)).toMatchObject(made);
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toHaveLength(1);
    await client.deleteTaskPushNotificationConfig(one);
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toHaveLength(0);
    await client.cancelTask({ id: taskId });
  });

  it('reads the errors of the protocol, and the card', async () => {
    const client = clientAt('');
    await expect(client.getTask({ id: 'nope' })).rejects.toMatchObject({ name: 'TaskNotFoundError' });
    const card = await client.getExtendedAgentCard();
    expect(card).toMatchObject({ protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' });
  });

  it('finds gRPC in the cards of agents with a host', async () => {
    const target = { url: `service.a2a.localhost:${port}`, transport: 'GRPC' };
    const read = await fetch(`${stage.parley.url}/.well-known/agent-card.json`);
    expect(((await read.json()) as AgentCard).additionalInterfaces).toContainEqual(target);
  });
});
