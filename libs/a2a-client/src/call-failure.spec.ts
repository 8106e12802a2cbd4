import type { ServerResponse } from 'node:http';
import { OutboundHttp } from '#libs/http-client';
import { A2A_ERRORS, type A2AErrorReason, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { WireAgent, type WireRequest } from '../../../test/support/wire-agent.js';
import type { AgentCallError } from './agent-call-error.js';
import type { AgentClient } from './agent-client.js';
import { statusFailure } from './call-failure.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

const REASONS: A2AErrorReason[] = [
  'TASK_NOT_FOUND',
  'TASK_NOT_CANCELABLE',
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'UNSUPPORTED_OPERATION',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'INVALID_PARAMS',
];
const rpc = (code: number) => ({ jsonrpc: '2.0', id: 1, error: { code, message: 'so it is' } });

describe('the failure that an HTTP status stands for', () => {
  describe.each(REASONS)('of %s', (reason) => {
    const { code } = A2A_ERRORS[reason];
    const asRpc = statusFailure(400, JSON.stringify(rpc(code)));
    const forms: [string, object][] = [
      ['at the top, as a code of JSON-RPC', { code, message: 'so it is' }],
      ['as a code of JSON-RPC in an error', { error: { code, message: 'so it is' } }],
      ['by its reason', { error: { code: 404, message: 'so it is', details: [{ reason }] } }],
      ['by its reason at the top', { code: 5, message: 'so it is', details: [{ reason }] }],
      [
        'as a problem',
        {
          type: `https://a2a-protocol.org/errors/${reason.toLowerCase().replaceAll('_', '-')}`,
          title: 'so it is',
        },
      ],
    ];

    it.each(forms)('is that of JSON-RPC where it is told %s', (_how, body) => {
      expect(statusFailure(400, JSON.stringify(body))).toMatchObject({
        kind: asRpc.kind,
        message: asRpc.message,
        code: asRpc.code,
      });
    });
  });

  it.each([
    [404, 'not-found', 'a2a error -32001: so it is'],
    [409, 'rpc-error', 'a2a error -32002: so it is'],
    [415, 'rpc-error', 'a2a error -32005: so it is'],
    [422, 'rpc-error', 'a2a error -32602: so it is'],
    [429, 'client-error', 'HTTP 429: so it is'],
    [403, 'unauthorized', 'HTTP 403: the agent forbids the call: HTTP 403: so it is'],
    [500, 'server-error', 'HTTP 500'],
  ])('of HTTP %d with a message alone is %s', (status, kind, message) => {
    expect(statusFailure(status, JSON.stringify({ message: 'so it is' }))).toMatchObject({ kind, message });
  });

  it.each(['', '<html>', '[]', '{}', '{"detail":7}', '{"code":"x"}'])('of a body of %j is the status', (body) => {
    expect(statusFailure(404, body)).toMatchObject({ kind: 'client-error', message: 'HTTP 404' });
  });
});

describe('a failure of an agent over HTTP+JSON of 0.3', () => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  const directory = new HttpAgentDirectory({ http });
  let agent: WireAgent;

  afterEach(() => agent.stop());
  afterAll(() => http.close());

  async function clientOf(answer: (response: ServerResponse, request: WireRequest) => void): Promise<AgentClient> {
    agent = await WireAgent.start({ version: '0.3', binding: 'HTTP+JSON', streaming: true }, answer);
    return directory.resolveClient(agent.url);
  }

  const collect = async (events: AsyncIterable<unknown>): Promise<void> => {
    for await (const _event of events);
  };

  it('is that of its body in every operation', async () => {
    const body = JSON.stringify({ code: -32_001, message: 'Task not found' });
    const client = await clientOf((response) => void response.writeHead(404).end(body));
    const failure = { kind: 'not-found', message: 'a2a error -32001: Task not found' };
    await expect(client.getTask('t')).rejects.toMatchObject(failure);
    await expect(collect(client.sendMessage({ message: userMessage('hello') }))).rejects.toMatchObject(failure);
    await expect(collect(client.followTask('t'))).rejects.toMatchObject(failure);
    expect(await client.cancelTask('t')).toBe('refused');
  });

  it.each([
    ['', { code: -32_005, message: 'no such type' }, -32_005],
    ['event: error\n', { code: -32_005, message: 'no such type' }, -32_005],
    ['event: error\n', { error: { code: -32_005, message: 'no such type' } }, -32_005],
    ['event: error\n', { message: 'no such type' }, -32_603],
    ['', { error: 'io.a2a.spec.ContentTypeNotSupportedError', message: 'no such type' }, -32_005],
    ['', { error: 'io.a2a.spec.InternalError', message: 'no such type' }, -32_603],
  ])('is that of an event %j of its stream with %j', async (event, body, code) => {
    const client = await clientOf((response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${event}data: ${JSON.stringify(body)}\n\n`),
    );
    const failed = collect(client.sendMessage({ message: userMessage('hello') })).catch((error: unknown) => error);
    expect(await failed).toMatchObject({ kind: 'rpc-error', message: `a2a error ${code}: no such type` });
  });
});

describe.each(['1.0', '0.3'] as const)('a Message that is too large for an agent of %s', (version) => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  const directory = new HttpAgentDirectory({ http });
  afterAll(() => http.close());

  it.each(['', 'request entity too large', '{"error":{"message":"at most 100kb"}}'])(
    'is named with its size where the answer says %j',
    async (body) => {
      const agent = await WireAgent.start({ version }, (response) => void response.writeHead(413).end(body));
      const client = await directory.resolveClient(agent.url);
      const message = userMessage('x'.repeat(120_000));
      const failure = await (async () => {
        for await (const _event of client.sendMessage({ message }));
      })().catch((error: unknown) => error as AgentCallError);
      await agent.stop();
      expect(failure).toMatchObject({ kind: 'client-error', code: 413 });
      expect(failure?.message).toMatch(/^HTTP 413: the Message of 120\d{3} bytes is larger than the agent takes/);
    },
  );
});
