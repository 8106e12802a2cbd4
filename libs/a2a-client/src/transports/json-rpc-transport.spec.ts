import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { OutboundHttp } from '#libs/http-client';
import { type StreamResponse, userMessage } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { WireAgent, type WireCard, type WireRequest } from '../../../../test/support/wire-agent.js';
import type { AgentClient } from '../agent-client.js';
import { HttpAgentDirectory } from '../http-agent-directory.js';

const TASK = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
const WORKING = { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
const SSE = { 'content-type': 'text/event-stream' };

const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
const directory = new HttpAgentDirectory({ http });
const agents: WireAgent[] = [];

type Answer = (response: ServerResponse, request: WireRequest, index: number) => void;

async function agentWith(card: WireCard, answer: Answer): Promise<WireAgent> {
  const agent = await WireAgent.start(card, answer);
  agents.push(agent);
  return agent;
}

async function send(card: WireCard, answer: Answer): Promise<StreamResponse[]> {
  return sendTo(await directory.resolveClient((await agentWith(card, answer)).url));
}

async function sendTo(client: AgentClient): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of client.sendMessage({ message: userMessage('hello') })) events.push(event);
  return events;
}

function resultOf({ body }: WireRequest, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: body?.id, result });
}

function eventOf(request: WireRequest, result: unknown): string {
  return `data: ${resultOf(request, result)}\n\n`;
}

afterEach(() => Promise.all(agents.splice(0).map((it) => it.stop())));
afterAll(() => http.close());

describe('a blocking answer over JSON-RPC', () => {
  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('may be compressed with %s', async (coding, compress) => {
    const events = await send({}, (response, request) => {
      response.writeHead(200, { 'content-encoding': coding }).end(compress(resultOf(request, { task: TASK })));
    });
    expect(events).toEqual([{ task: TASK }]);
  });

  it('may come in pieces without a length', async () => {
    const events = await send({}, (response, request) => {
      for (const byte of resultOf(request, { task: TASK })) response.write(byte);
      response.end();
    });
    expect(events).toEqual([{ task: TASK }]);
  });

  it.each<[string, Answer]>([
    ['what is not JSON', (response) => response.end('<html>')],
    ['nothing', (response) => response.end()],
    ['what is not JSON-RPC', (response) => response.end(JSON.stringify({ task: TASK }))],
    [
      'the answer to another request',
      (response) => response.end(JSON.stringify({ jsonrpc: '2.0', id: 99, result: { task: TASK } })),
    ],
    ['a Task without a state', (response, request) => response.end(resultOf(request, { task: { id: 't' } }))],
  ])('is refused where it is %s', async (_what, answer) => {
    await expect(send({}, answer)).rejects.toMatchObject({ kind: 'invalid-response' });
    expect(agents[0]?.requests).toHaveLength(1);
  });

  it.each(['1e999', '-1E+309 ', '1.5e0309', '9'.repeat(309)])(
    'is refused where it holds the number %s, and is no stream',
    async (number) => {
      const task = { ...TASK, artifacts: [{ artifactId: 'a', parts: [{ data: { n: 'N', m: 1 } }] }] };
      const holding = (text: string): string => text.replace('"N"', number);
      const place = 'result.task.artifacts[0].parts[0].data.n';
      const message = `the agent's answer is not A2A: ${place} must be a finite number`;
      const refused = { kind: 'invalid-response', message };
      const plain: Answer = (response, request) => response.end(holding(resultOf(request, { task })));
      await expect(send({}, plain)).rejects.toMatchObject(refused);
      const streaming: Answer = (response, request) =>
        response.writeHead(200, SSE).end(holding(eventOf(request, { task })));
      await expect(send({ streaming: true }, streaming)).rejects.toMatchObject(refused);
    },
  );

  it('is refused where it is nested too deep, and is no stream', async () => {
    const task = { ...TASK, artifacts: [{ artifactId: 'a', parts: [{ data: 'N' }] }] };
    const deep = (text: string): string => text.replace('"N"', `${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    const message = "the agent's answer is not A2A: must not be nested deeper than 500 levels";
    const plain: Answer = (response, request) => response.end(deep(resultOf(request, { task })));
    await expect(send({}, plain)).rejects.toMatchObject({ kind: 'invalid-response', message });
    const streaming: Answer = (response, request) => response.writeHead(200, SSE).end(deep(eventOf(request, { task })));
    await expect(send({ streaming: true }, streaming)).rejects.toMatchObject({ kind: 'invalid-response', message });
  });

  it.each(['1e308', '0', '-12.5e-999'])('may hold the number %s', async (number) => {
    const task = { ...TASK, artifacts: [{ artifactId: 'a', parts: [{ data: ['N', '1e999, ', 'N'] }] }] };
    const text = (request: WireRequest): string => resultOf(request, { task }).replaceAll('"N"', number);
    const answer: Answer = (response, request) => response.end(text(request));
    const value = Number(number);
    expect(await send({}, answer)).toMatchObject([
      { task: { artifacts: [{ parts: [{ data: [value, '1e999, ', value] }] }] } },
    ]);
  });

  it.each([
    ['plain', (text: string) => Buffer.from(text), {}],
    ['compressed', (text: string) => gzipSync(text), { 'content-encoding': 'gzip' }],
  ])('is refused where it is too long, %s', async (_how, encode, headers) => {
    const padding = 'x'.repeat(17 * 1024 * 1024);
    const answer: Answer = (response, request) => {
      response.writeHead(200, headers).end(encode(resultOf(request, { task: TASK, padding })));
    };
    await expect(send({}, answer)).rejects.toMatchObject({
      kind: 'invalid-response',
      message: 'the answer is longer than 16777216 bytes (twice BODY_LIMIT, at least 16 MiB)',
    });
  });

  it('that is not compressed as it says is a broken one', async () => {
    const plain: Answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('{}');
    await expect(send({}, plain)).rejects.toMatchObject({ kind: 'connect' });
  });

  it('that is cut short is a lost connection', async () => {
    const cut: Answer = (response, request) => {
      response.writeHead(200, { 'content-length': 1_000 });
      response.write(resultOf(request, { task: TASK }), () => response.destroy());
    };
    await expect(send({}, cut)).rejects.toMatchObject({ kind: 'connect' });
  });

  it('that is a redirect is not followed: the Message might be sent twice', async () => {
    const answer: Answer = (response) => response.writeHead(307, { location: '/elsewhere' }).end();
    await expect(send({}, answer)).rejects.toMatchObject({ kind: 'client-error', code: 307 });
    expect(agents[0]?.requests).toHaveLength(1);
  });

  it('is asked for as the protocol says, for the tenant of the card', async () => {
    await send({ tenant: 'acme' }, (response, request) => response.end(resultOf(request, { task: TASK })));
    const [request] = agents[0]?.requests ?? [];
    expect(request).toMatchObject({
      method: 'POST',
      path: '/agent',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'a2a-version': '1.0' },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { tenant: 'acme', message: { parts: [{ text: 'hello' }] } },
      },
    });
  });
});

describe('a stream over JSON-RPC', () => {
  it('gives the events as they come, however they are cut', async () => {
    const events = await send({ streaming: true }, (response, request) => {
      response.writeHead(200, SSE);
      const bytes = Buffer.from(
        `: beat\r\n\r\n${eventOf(request, { statusUpdate: { ...WORKING, metadata: { grüße: '🎉' } } })}` +
          eventOf(request, { task: TASK }),
      );
      for (const byte of bytes) response.write(Buffer.from([byte]));
      response.end();
    });
    expect(events).toEqual([{ statusUpdate: { ...WORKING, metadata: { grüße: '🎉' } } }, { task: TASK }]);
  });

  it('may be compressed', async () => {
    const events = await send({ streaming: true }, (response, request) => {
      response.writeHead(200, { ...SSE, 'content-encoding': 'gzip' });
      response.end(gzipSync(eventOf(request, { statusUpdate: WORKING }) + eventOf(request, { task: TASK })));
    });
    expect(events).toHaveLength(2);
  });

  it.each<[string, Answer]>([
    ['an answer that is no stream', (response, request) => response.end(resultOf(request, { task: TASK }))],
    ['an event that is not JSON', (response) => response.writeHead(200, SSE).end('data: {"jsonrpc"\n\n')],
    [
      'an event of another request',
      (response) => response.writeHead(200, SSE).end('data: {"jsonrpc":"2.0","id":99,"result":{}}\n\n'),
    ],
    ['an event that is too long', (response) => response.writeHead(200, SSE).end(`data: ${'x'.repeat(17 * 2 ** 20)}`)],
    ['no events', (response) => response.writeHead(200, SSE).end(': nothing\n\n')],
  ])('is refused with %s', async (_what, answer) => {
    await expect(send({ streaming: true }, answer)).rejects.toMatchObject({ kind: 'invalid-response' });
    expect(agents[0]?.requests).toHaveLength(1);
  });

  it.each([
    ['a plain answer', false],
    ['an event', true],
  ])('ends with the JSON-RPC error that stands in %s', async (_where, streamed) => {
    const sent = send({ streaming: true }, (response, { body }) => {
      const error = JSON.stringify({ jsonrpc: '2.0', id: body?.id, error: { code: -32004, message: 'not so' } });
      if (streamed) response.writeHead(200, SSE).end(`data: ${error}\n\n`);
      else response.writeHead(200, { 'content-type': 'application/json' }).end(error);
    });
    await expect(sent).rejects.toMatchObject({ kind: 'rpc-error', code: -32004, message: 'a2a error -32004: not so' });
  });

  it('whose connection is lost before its first event fails; 5xx is tried again', async () => {
    const sent = send({ streaming: true }, (response, _request, index) => {
      if (index < 2) return void response.writeHead(502).end('down');
      response.writeHead(200, SSE).flushHeaders();
      setImmediate(() => response.destroy());
    });
    await expect(sent).rejects.toMatchObject({ kind: 'connect' });
    expect(agents[0]?.requests).toHaveLength(3);
  });

  it('whose connection is lost later is followed, under ids that go on growing', async () => {
    const events = await send({ streaming: true }, (response, request, index) => {
      response.writeHead(200, SSE);
      if (index > 0) return void response.end(eventOf(request, { task: TASK }));
      response.write(eventOf(request, { statusUpdate: WORKING }), () => response.destroy());
    });
    expect(events).toEqual([{ statusUpdate: WORKING }, { task: TASK }]);
    expect(agents[0]?.requests.map(({ body }) => [body?.id, body?.method])).toEqual([
      [1, 'SendStreamingMessage'],
      [2, 'SubscribeToTask'],
    ]);
  });

  it('closes its connection when its reader leaves', async () => {
    let closed: () => void = () => undefined;
    const isClosed = new Promise<void>((resolve) => (closed = resolve));
    const agent = await agentWith({ streaming: true }, (response, request) => {
      response.on('close', closed);
      response.writeHead(200, SSE).write(eventOf(request, { statusUpdate: WORKING }));
    });
    const client = await directory.resolveClient(agent.url);
    for await (const _event of client.sendMessage({ message: userMessage('hello') })) break;
    await isClosed;
  });
});

describe('the card of an agent', () => {
  const answer: Answer = (response, request) => response.end(resultOf(request, { task: TASK }));

  it('is read once while it is fresh, and so is its client', async () => {
    const agent = await agentWith({ cacheControl: 'max-age=60' }, answer);
    const client = await directory.resolveClient(agent.url);
    await sendTo(client);
    expect(await directory.resolveClient(agent.url)).toBe(client);
    expect(agent.cardReads).toHaveLength(1);
  });

  it('is asked for again when it is stale: the same one keeps its client, a new one makes a new client', async () => {
    const agent = await agentWith({ cacheControl: 'max-age=0' }, answer);
    const client = await directory.resolveClient(agent.url);
    expect(await directory.resolveClient(agent.url)).toBe(client);
    expect(agent.cardReads.map((it) => it['if-none-match'])).toEqual([undefined, '"wire"']);
    agent.name = 'renamed';
    const renamed = await directory.resolveClient(agent.url);
    expect(renamed).not.toBe(client);
    expect(renamed.card?.name).toBe('renamed');
  });

  it.each(['no-store', 'no-cache', 'private, no-cache'])('is asked for at each call with %s', async (cacheControl) => {
    const agent = await agentWith({ cacheControl }, answer);
    for (let calls = 0; calls < 3; calls += 1) await directory.resolveClient(agent.url);
    expect(agent.cardReads).toHaveLength(3);
  });
});
