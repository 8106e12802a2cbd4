import type { GrpcCall } from '#libs/http-client';
import { userMessage } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { grpcOrigin, GrpcTransport } from './grpc-transport.js';
import { METHODS } from './grpc-messages.js';
import type { TransportOptions } from './agent-transport.js';

describe('grpcOrigin', () => {
  it.each([
    ['https://agent.example/a2a', 'https://agent.example'],
    ['https://agent.example:8443', 'https://agent.example:8443'],
    ['http://127.0.0.1:50051', 'http://127.0.0.1:50051'],
    ['GRPCS://agent.example:50051', 'https://agent.example:50051'],
    ['grpc://agent.example:50051/', 'http://agent.example:50051'],
    ['agent.example:443', 'https://agent.example'],
    ['agent.example', 'https://agent.example'],
    ['localhost:50051', 'http://localhost:50051'],
    ['[::1]:50051', 'http://[::1]:50051'],
    ['dns:///agent.example:50051', 'http://agent.example:50051'],
    ['dns:agent.example:443', 'https://agent.example'],
  ])('%s is %s', (url, origin) => {
    expect(grpcOrigin(url)?.origin).toBe(origin);
  });

  it.each([
    '',
    '/agent',
    'ftp://agent.example:21',
    'unix:///run/agent.sock',
    'unix:/run/agent.sock',
    'dns://8.8.8.8/agent.example:1',
    'user:secret@agent.example:1',
    'https://user:secret@agent.example',
    'agent.example:99999',
    'agent.example:x',
    'agent.example:1/path',
    'https://',
  ])('%j names no host', (url) => {
    expect(grpcOrigin(url)).toBeUndefined();
  });
});

const TASK = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };

describe('GrpcTransport', () => {
  const calls: GrpcCall[] = [];
  let answers: Uint8Array[] = [];

  function transport(mostMembers = 100): GrpcTransport {
    async function* request(call: GrpcCall): AsyncIterable<Uint8Array> {
      calls.push(call);
      yield* answers;
    }
    const credentials = () => ({ authorization: 'Bearer own' });
    return new GrpcTransport(request, { origin: new URL('https://a.test'), tenant: 't1', credentials }, true, {
      ...DEFAULT_CONTENT_LIMITS,
      jsonMembers: mostMembers,
    });
  }

  async function taskBytes(task: object): Promise<Uint8Array> {
    const { A2AService } = await import('@a2a-js/sdk/server/grpc');
    const { Task } = await import('@a2a-js/sdk');
    return A2AService.getTask.responseSerialize(Task.fromJSON(task));
  }

  const options = {
    signal: new AbortController().signal,
    alive: () => undefined,
    timeouts: { total: 7_000 },
    idempotencyKey: 'key',
    trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true },
  } as unknown as TransportOptions;

  afterEach(() => void calls.splice(0));

  it('sends the version, credentials, extensions, trace and deadline of a call as metadata', async () => {
    answers = [];
    const message = { ...userMessage('x'), extensions: ['urn:a', 'urn:b'] };
    for await (const _ of transport().sendMessage({ message }, options)) break;
    expect(calls[0]).toMatchObject({
      path: METHODS.sendStreamingMessage.path,
      deadlineMs: 7_000,
      maxBytes: 16 * 1024 ** 2,
      metadata: {
        'a2a-version': '1.0',
        'a2a-extensions': 'urn:a, urn:b',
        authorization: 'Bearer own',
        'idempotency-key': 'key',
        traceparent: expect.any(String),
      },
    });
  });

  it('registers a webhook with the tenant of the endpoint', async () => {
    const { A2AService } = await import('@a2a-js/sdk/server/grpc');
    const { path, responseSerialize, requestDeserialize } = A2AService.createTaskPushNotificationConfig;
    const webhook = { id: 'c', taskId: 't', url: 'https://parley.test/hook', token: 'secret' };
    answers = [responseSerialize({ tenant: '', authentication: undefined, ...webhook })];
    await transport().createPushConfig(webhook, options);
    expect(calls[0]?.path).toBe(path);
    expect(requestDeserialize(Buffer.from(calls[0]!.message))).toMatchObject({ tenant: 't1', ...webhook });
  });

  it('adds the proof of a call, and refuses one that belongs in a query', async () => {
    answers = [await taskBytes(TASK)];
    const auth = { origin: 'https://a.test', headers: { 'x-api-key': 's' }, query: {}, secrets: ['s'] };
    expect(await transport().getTask('t', { ...options, auth })).toMatchObject(TASK);
    expect(calls[0]?.metadata).toMatchObject({ 'x-api-key': 's' });
    expect(calls[0]?.metadata).not.toHaveProperty('idempotency-key');
    const inQuery = { ...auth, query: { key: 's' } };
    await expect(transport().getTask('t', { ...options, auth: inQuery })).rejects.toMatchObject({ kind: 'credential' });
    const elsewhere = { ...auth, origin: 'https://b.test' };
    await expect(transport().getTask('t', { ...options, auth: elsewhere })).rejects.toMatchObject({
      kind: 'credential',
    });
    expect(calls).toHaveLength(1);
  });

  it('sends nothing where the fence of a call has fallen', async () => {
    const fence = () => Promise.reject(new Error('not any more'));
    const sending = transport().postMessage({ message: userMessage('x') }, { ...options, fence });
    await expect(sending).rejects.toThrow('not any more');
    expect(calls).toHaveLength(0);
  });

  it.each<[string, () => Promise<Uint8Array>]>([
    ['bytes that are no Task', async () => Buffer.from([0xff, 0xff])],
    ['a text that is not UTF-8', async () => Buffer.from([0x0a, 1, 0xff])],
    ['more members than are read', () => taskBytes({ ...TASK, artifacts: Array.from({ length: 101 }, () => ({})) })],
    ['JSON that is nested too deep', () => taskBytes({ ...TASK, metadata: { a: nested(600) } })],
    ['a number that is not finite', () => taskBytes({ ...TASK, metadata: { a: Infinity } })],
    ['no id', () => taskBytes({ ...TASK, id: '' })],
  ])('rejects an answer with %s', async (_what, bytes) => {
    answers = [await bytes()];
    const { toAgentCallError } = await import('../call-failure.js');
    const failure = await transport().getTask('t', options).catch(toAgentCallError);
    expect(failure).toMatchObject({ kind: 'invalid-response' });
  });

  it('rejects an answer without a message', async () => {
    answers = [];
    await expect(transport().cancelTask('t', options)).rejects.toThrow('it has no message');
  });
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
