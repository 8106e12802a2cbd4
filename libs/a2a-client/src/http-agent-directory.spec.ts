import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LocalRequestHandler } from '#libs/agents';
import { OutboundHttp, OutboundInterruptedError } from '#libs/http-client';
import { userMessage } from '#libs/protocol';
import { type AgentBinding, loadConfig, ReceivedAnswers } from '#libs/service';
import { FakeAgent } from '../../../test/support/fake-agent.js';
import { answers } from '../../../test/support/fake-behaviour.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

const http = { fetch, cachedFetch: fetch };

async function ask(directory: HttpAgentDirectory, url: string): Promise<string | undefined> {
  const client = await directory.resolveClient(url);
  for await (const event of client.sendMessage({ message: userMessage('hello') })) {
    if ('task' in event) return event.task.artifacts?.[0]?.parts[0]?.text;
  }
  return undefined;
}

const LISTS = {
  defaultInputModes: [],
  defaultOutputModes: [],
  capabilities: {},
  skills: [{ id: 's', name: 's', description: '', tags: [] }],
};

describe('HttpAgentDirectory', () => {
  const servers: Server[] = [];
  const fakes: FakeAgent[] = [];
  const directory = new HttpAgentDirectory({ http, onCardless: () => undefined });

  async function serve(
    handle: (request: IncomingMessage, body: string, response: ServerResponse) => void,
  ): Promise<string> {
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => handle(request, body, response));
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function fake(options: Parameters<typeof FakeAgent.start>[0] = {}): Promise<FakeAgent> {
    const agent = await FakeAgent.start(options);
    fakes.push(agent);
    return agent;
  }

  afterEach(async () => {
    await Promise.all(fakes.splice(0).map((it) => it.stop()));
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  it('calls the endpoint that the card names, and the new one after the card has changed', async () => {
    const agent = await fake({ rpcPath: '/first' });
    expect(await ask(directory, agent.url)).toBe('ok');
    agent.options.rpcPath = '/second';
    await ask(directory, agent.url);
    expect(agent.sends.map(({ path }) => path)).toEqual(['/first', '/second']);
    expect(agent.cardReads).toHaveLength(2);
  });

  it('has agents elsewhere wait for room for large answers, and those of this service not', async () => {
    const text = 'x'.repeat(100_000);
    const agent = await fake({ streaming: true });
    agent.always(() => answers(text));
    const room = new ReceivedAnswers({ bytes: 1, waitMs: 1 });
    using place = room.openPlace({ tenant: '', owner: '' });
    await place.countRead(100_000);
    const read = async (from: HttpAgentDirectory): Promise<number> => {
      const client = await from.resolveClient(agent.url);
      return (await Array.fromAsync(client.sendMessage({ message: userMessage('hello') }))).length;
    };
    await expect(read(new HttpAgentDirectory({ http, room }))).rejects.toMatchObject({
      kind: 'overloaded',
      message: 'too many large answers are being read at the same time',
    });
    const own = new HttpAgentDirectory({ http, room, credentials: () => () => ({}) });
    await expect(read(own)).resolves.toBeGreaterThan(1);
  });

  it.each([
    ['/a2a/reporter', { ownUrls: [], ownPath: () => 'reporter' }],
    ['/.well-known/agent-card.json', undefined],
  ])('has no agent of this service wait for room that is called by its public address at %s', async (path, given) => {
    const agent = await fake({ streaming: true });
    agent.always(() => answers('x'.repeat(100_000)));
    const room = new ReceivedAnswers({ bytes: 1, waitMs: 1 });
    using place = room.openPlace({ tenant: '', owner: '' });
    await place.countRead(100_000);
    const own = given ?? { ownUrls: [agent.url], ownPath: () => undefined };
    const client = await new HttpAgentDirectory({ http, room, own }).resolveClient(`${agent.url}${path}`);
    const events = await Array.fromAsync(client.sendMessage({ message: userMessage('hello') }));
    expect(events.length).toBeGreaterThan(1);
  });

  it('stops the clocks of an agent whose answer waits for room, and takes the room of one that does not go on', async () => {
    const url = await serve((request, _body, response) => {
      if (request.method === 'GET') return void response.writeHead(405).end();
      response.writeHead(200, { 'content-type': 'application/json' }).write('x'.repeat(100_000));
    });
    const room = new ReceivedAnswers({ bytes: 1, silentMs: 1 });
    const held = room.openPlace({ tenant: '', owner: '' });
    await held.countRead(100_000);
    const [reported, isPaused]: [boolean[], PromiseWithResolvers<void>] = [[], Promise.withResolvers()];
    const onPause = (paused: boolean): void => {
      reported.push(paused);
      isPaused.resolve();
    };
    const client = await new HttpAgentDirectory({ http, room, onCardless: () => undefined }).resolveClient(url);
    const events = Array.fromAsync(client.sendMessage({ message: userMessage('hello') }, { onPause }));
    const failed = events.catch((error: unknown) => error);
    await isPaused.promise;
    const other = room.openPlace({ tenant: 'b', owner: 'other' }).countRead(100_000);
    held[Symbol.dispose]();
    expect(await failed).toMatchObject({
      kind: 'overloaded',
      message: 'the answer came too slowly while others waited for its room',
    });
    await other;
    expect(reported).toEqual([true, false]);
  });

  it.each([
    ['max-age=0', 2],
    ['max-age=60', 1],
  ])('K15 resolves a card again, through an HTTP cache, with %s', async (cacheControl, reads) => {
    const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
    const cached = new HttpAgentDirectory({ http: outbound });
    const agent = await fake({ cacheControl });
    expect([await ask(cached, agent.url), await ask(cached, agent.url)]).toEqual(['ok', 'ok']);
    expect(agent.cardReads).toHaveLength(reads);
    if (reads > 1) expect(agent.cardReads[1]?.headers['if-none-match']).toMatch(/^"/);
    await outbound.close();
  });

  it('says that an address may not be called', async () => {
    const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
    await expect(new HttpAgentDirectory({ http: outbound }).resolveClient('http://10.0.0.1/a2a')).rejects.toMatchObject(
      {
        kind: 'refused',
        message: 'the address may not be called',
      },
    );
    await outbound.close();
  });

  it('takes a card URL, and the card of the origin where the URL has none of its own', async () => {
    const agent = await fake();
    expect(await ask(directory, `${agent.url}/.well-known/agent-card.json`)).toBe('ok');
    const card = await (await fetch(`${agent.url}/card`)).text();
    const url = await serve((request, _body, response) => {
      if (request.url === '/.well-known/agent-card.json') response.end(card);
      else response.writeHead(404).end();
    });
    expect(await ask(directory, `${url}/a2a`)).toBe('ok');
  });

  it('does not take the card of the origin for an agent below its endpoint', async () => {
    const agent = await fake();
    const card = await (await fetch(`${agent.url}/card`)).text();
    let posts = 0;
    const url = await serve((request, body, response) => {
      if (request.url === '/.well-known/agent-card.json') return void response.end(card.replaceAll(agent.url, url));
      if (request.method === 'GET') return void response.writeHead(404).end();
      posts += 1;
      const { id } = JSON.parse(body) as { id: number };
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32001, message: 'node "nope" not registered' } }),
      );
    });
    await expect(ask(directory, `${url}/a2a/nodes/nope`)).rejects.toMatchObject({
      kind: 'not-found',
      message: 'a2a error -32001: node "nope" not registered',
    });
    expect(posts).toBe(1);
  });

  it('numbers the requests to one agent from 1, over all its clients', async () => {
    const agent = await fake();
    for (let n = 0; n < 3; n += 1) await ask(directory, agent.url);
    expect(agent.sends.map(({ body }) => body?.id)).toEqual([1, 2, 3]);
  });

  it('sends the configuration and headers of row B6', async () => {
    const agent = await fake();
    await ask(directory, agent.url);
    const [call] = agent.sends;
    expect(call?.headers).toMatchObject({ 'content-type': 'application/json', 'a2a-version': '1.0' });
    expect(call?.body).toMatchObject({
      method: 'SendMessage',
      params: { configuration: { acceptedOutputModes: ['text/plain', 'application/json'] } },
    });
  });

  it('calls an agent without a card at its URL, tells so once, and understands the founding shapes', async () => {
    const reported: string[] = [];
    const bodies: unknown[] = [];
    const url = await serve((request, body, response) => {
      if (request.method === 'GET') return void response.writeHead(405).end();
      const { id } = JSON.parse(body) as { id: number };
      bodies.push(JSON.parse(body));
      const artifacts = [{ index: 0, parts: [{ type: 'text', text: 'founding', mimeType: 'text/plain' }] }];
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { id: 'task-1', status: 'completed', artifacts } }));
    });
    const cardless = new HttpAgentDirectory({ http, onCardless: (it) => reported.push(it) });
    expect(await ask(cardless, url)).toBe('founding');
    expect(await ask(cardless, url)).toBe('founding');
    expect(reported).toEqual([url]);
    expect(bodies[0]).toMatchObject({ id: 1, method: 'SendMessage', params: { configuration: { blocking: true } } });
  });

  it.each<[string, object]>([
    ['0.3.0', LISTS],
    ['0.2.5', LISTS],
    ['0.2', LISTS],
    ['0.2.6', {}],
    [
      '0.3.0',
      { ...LISTS, surprise: { new: [1] }, securitySchemes: { odd: { type: 'passport' }, more: { type: 'oauth2' } } },
    ],
  ])('reads a card of version %s with %j and speaks 0.3 to its agent', async (protocolVersion, members) => {
    const methods: string[] = [];
    const url = await serve((request, body, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') {
        const card = { name: 'old', description: '', version: '1', protocolVersion, url: `${url}/rpc` };
        return void response.end(JSON.stringify({ ...card, ...members }));
      }
      const { id, method } = JSON.parse(body) as { id: number; method: string };
      methods.push(method);
      const artifacts = [{ artifactId: 'a', parts: [{ kind: 'text', text: 'from 0.3' }] }];
      const result = { kind: 'task', id: 't', contextId: 'c', status: { state: 'completed' }, artifacts };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    expect(await ask(directory, url)).toBe('from 0.3');
    expect(methods).toEqual(['message/send']);
  });

  it('passes over what it does not know in a card', async () => {
    const agent = await fake({
      card: { surprise: { new: [1] }, capabilities: { telepathy: true }, securitySchemes: { odd: { passport: {} } } },
    });
    expect(await ask(directory, agent.url)).toBe('ok');
  });

  it('passes over what it does not know in a stream of 0.3', async () => {
    const url = await serve((request, body, response) => {
      const card = { name: 'old', protocolVersion: '0.3.0', url: `${url}/rpc`, capabilities: { streaming: true } };
      if (request.method === 'GET') return void response.end(JSON.stringify(card));
      const { id } = JSON.parse(body) as { id: number };
      const parts = [{ kind: 'text', text: 'at last' }];
      const results = [
        { kind: 'mood-update', mood: 'fine' },
        { kind: 'message', messageId: 'm', role: 'agent', parts, more: 1 },
      ];
      response.setHeader('content-type', 'text/event-stream');
      response.end(results.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`).join(''));
    });
    const client = await directory.resolveClient(url);
    expect(await collect(client.sendMessage({ message: userMessage('hello') }))).toMatchObject([
      { message: { messageId: 'm', parts: [{ text: 'at last' }] } },
    ]);
  });

  it('refuses a number beyond any in an answer of 0.3', async () => {
    const url = await serve((request, body, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET')
        return void response.end(JSON.stringify({ name: 'old', protocolVersion: '0.3.0', url: `${url}/rpc` }));
      const { id } = JSON.parse(body) as { id: number };
      const result = { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'data', data: { n: 'N' } }] };
      const text = JSON.stringify({ jsonrpc: '2.0', id, result }).replace('"N"', '1e999');
      response.setHeader('content-length', text.length).end(text);
    });
    const client = await directory.resolveClient(url);
    await expect(collect(client.sendMessage({ message: userMessage('hello') }))).rejects.toMatchObject({
      kind: 'invalid-response',
      message: expect.stringContaining('result.parts[0].data.n must be a finite number'),
    });
  });

  it('refuses a card that offers no binding it speaks', async () => {
    const agent = await fake();
    const card = (await (await fetch(`${agent.url}/card`)).json()) as { supportedInterfaces: unknown };
    card.supportedInterfaces = [{ url: 'https://x', protocolBinding: 'SOAP', protocolVersion: '1.0' }];
    const url = await serve((_request, _body, response) => response.end(JSON.stringify(card)));
    await expect(directory.resolveClient(url)).rejects.toMatchObject({ kind: 'invalid-response' });
  });

  it('tries a card again after 5xx, and gives up with that error', async () => {
    let reads = 0;
    const url = await serve((_request, _body, response) => {
      reads += 1;
      response.writeHead(503).end();
    });
    await expect(directory.resolveClient(url)).rejects.toMatchObject({ kind: 'server-error', message: 'HTTP 503' });
    expect(reads).toBe(4);
  });

  it('fails at once where nobody listens', async () => {
    const options = { timeouts: { refused: 0 } };
    await expect(directory.resolveClient('http://127.0.0.1:1', options)).rejects.toMatchObject({ kind: 'connect' });
  });

  it('has the pinned card of an agent elsewhere from the guard, without a request, and none of an agent here', async () => {
    const guard = { admitCard: () => undefined, findPinnedCard: async (agent: string) => ({ agent }) };
    const local = { address: { internalUrl: 'http://here' }, handler: () => ({}) as LocalRequestHandler };
    const guarded = new HttpAgentDirectory({ http, guard, local });
    expect(await guarded.pinnedCard('http://127.0.0.1:1/a')).toEqual({ agent: 'http://127.0.0.1:1/a' });
    expect(await guarded.pinnedCard('http://here/a2a/workflows/w')).toBeUndefined();
    expect(await directory.pinnedCard('http://127.0.0.1:1/a')).toBeUndefined();
  });

  it('refuses what is no HTTP URL', async () => {
    await expect(directory.resolveClient('file:///etc/passwd')).rejects.toMatchObject({ kind: 'refused' });
  });

  it('lets a direct Message pass as it came', async () => {
    const agent = await fake();
    agent.always({ message: [{ data: { a: [1, null] } }, { data: null }] });
    const client = await directory.resolveClient(agent.url);
    const events = await collect(client.sendMessage({ message: userMessage('hello') }));
    expect(events).toMatchObject([
      { message: { role: 'ROLE_AGENT', parts: [{ data: { a: [1, null] } }, { data: null }] } },
    ]);
  });

  it('calls an agent over HTTP+JSON where it speaks nothing else', async () => {
    const agent = await fake();
    agent.always(answers('never asked'));
    const card = (await (await fetch(`${agent.url}/card`)).json()) as { supportedInterfaces: unknown };
    const paths: (string | undefined)[] = [];
    const url = await serve((request, _body, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') {
        card.supportedInterfaces = [{ url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }];
        return void response.end(JSON.stringify(card));
      }
      paths.push(request.url);
      const parts = [{ text: 'over REST' }];
      const status = { state: 'TASK_STATE_COMPLETED' };
      response.end(
        JSON.stringify({ task: { id: 't', contextId: 'c', status, artifacts: [{ artifactId: 'a', parts }] } }),
      );
    });
    expect(await ask(directory, url)).toBe('over REST');
    expect(paths).toEqual(['/rest/message:send']);
  });

  describe('which of the interfaces of a card is called', () => {
    const interfaces = (url: string) => ({
      rpc: { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      rest: { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      grpc: { url: '127.0.0.1:1', protocolBinding: 'GRPC', protocolVersion: '1.0' },
      old: { url: `${url}/old`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    });
    type Name = keyof ReturnType<typeof interfaces>;

    it.each<[Name[], AgentBinding[] | undefined, string]>([
      [['rpc', 'rest'], undefined, '/rpc'],
      [['rest', 'rpc'], undefined, '/rest/message:send'],
      [['old', 'rest'], undefined, '/rest/message:send'],
      [['old', 'grpc', 'rest'], undefined, 'gRPC'],
      [['rest', 'rpc'], ['JSONRPC', 'HTTP+JSON'], '/rpc'],
      [['rpc', 'grpc', 'rest'], ['HTTP+JSON', 'GRPC'], '/rest/message:send'],
      [['rpc', 'grpc', 'rest'], ['GRPC', 'JSONRPC'], 'gRPC'],
    ])('of %j in the order %j it is the first that we speak, 1.0 before 0.3: %s', async (names, bindings, path) => {
      const called: (string | undefined)[] = [];
      const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
      const url = await serve((request, _body, response) => {
        response.setHeader('content-type', 'application/json');
        if (request.method === 'GET') {
          const supportedInterfaces = names.map((name) => interfaces(url)[name]);
          return void response.end(JSON.stringify({ name: 'ordered', supportedInterfaces, capabilities: {} }));
        }
        called.push(request.url);
        response.end(JSON.stringify(request.url === '/rpc' ? { jsonrpc: '2.0', id: 1, result: { task } } : { task }));
      });
      // oxlint-disable-next-line require-yield
      const requestGrpc = async function* (): AsyncGenerator<Uint8Array> {
        called.push('gRPC');
        throw new OutboundInterruptedError('as told');
      };
      const client = await new HttpAgentDirectory({ http: { ...http, requestGrpc }, bindings }).resolveClient(url);
      await collect(client.sendMessage({ message: userMessage('hello') })).catch(() => undefined);
      expect(called).toEqual([path]);
    });
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
