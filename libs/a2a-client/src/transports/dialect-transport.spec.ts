import { OutboundTimeoutError } from '#libs/http-client';
import { type Part, type StreamResponse, type Task, userMessage } from '#libs/protocol';
import {
  echoes,
  laxly,
  Pre10Agent,
  type Pre10AgentOptions,
  type Pre10Answer,
  type Pre10Request,
  strict,
  upgraded,
} from '../../../../test/support/pre-1-0-agent.js';
import type { AgentCallOptions } from '../agent-client.js';
import { HttpAgentDirectory } from '../http-agent-directory.js';

const agents: Pre10Agent[] = [];
const http = { fetch, cachedFetch: fetch };
const MODES = ['text/plain', 'application/json'];

let directory: HttpAgentDirectory;
beforeEach(() => {
  directory = new HttpAgentDirectory({ http, onCardless: () => undefined });
});
afterEach(() => Promise.all(agents.splice(0).map((it) => it.stop())));

async function agentOf(options: Pre10AgentOptions = {}): Promise<Pre10Agent> {
  const agent = await Pre10Agent.start(options);
  agents.push(agent);
  return agent;
}

async function send(
  url: string,
  parts: Part[] = [{ text: 'hello' }],
  fields: Parameters<typeof userMessage>[1] = {},
  options: AgentCallOptions = {},
): Promise<Task> {
  const client = await directory.resolveClient(url, options);
  const events: StreamResponse[] = [];
  for await (const event of client.sendMessage({ message: userMessage(parts, fields) }, options)) events.push(event);
  const [answer] = events;
  if (events.length !== 1 || !answer || !('task' in answer)) throw new Error(`Got ${JSON.stringify(events)}`);
  return answer.task;
}

async function textOf(url: string, options?: AgentCallOptions): Promise<string | undefined> {
  return (await send(url, undefined, undefined, options)).artifacts?.[0]?.parts[0]?.text;
}

const refusing = (code: number, message: string, data?: string) => (): Pre10Answer => ({
  error: { code, message, ...(data !== undefined && { data: [{ field: data }] }) },
});

describe('a strict agent of the pre-1.0 dialect', () => {
  const places: [string, Pre10AgentOptions, (agent: Pre10Agent) => string, number][] = [
    ['without a card', {}, ({ url }) => url, 2],
    ['with a card below its URL', { cardAt: '/agent-card' }, ({ url }) => url, 1],
    ['with a card below a path', { path: '/nodes/n', cardAt: '/nodes/n/agent-card' }, ({ url }) => url, 1],
    ['by the URL of its card', { path: '/rpc', cardAt: '/x/agent-card' }, (it) => `${it.origin}/x/agent-card`, 1],
  ];

  it.each(places)('B6 %s is called in at most two requests, and then in one', async (_how, options, urlOf, first) => {
    const agent = await agentOf(options);
    expect(await textOf(urlOf(agent))).toBe('hello');
    expect(agent.requests).toHaveLength(first);
    expect(await textOf(urlOf(agent))).toBe('hello');
    expect(agent.methods.slice(first)).toEqual(['a2a.sendMessage']);
    expect(agent.requests.map(({ id }) => id)).toEqual(agent.requests.map((_it, index) => index + 1));
  });

  it('B6 is sent the shapes of the dialect, with the ids and metadata of 1.0 beside them', async () => {
    const agent = await agentOf({ cardAt: '/agent-card', path: '/rpc' });
    const parts = [{ text: 'hello', metadata: { a: 1 } }, { data: { n: 1 } }, { data: [], mediaType: 'text/csv' }];
    const fields = { messageId: 'm', contextId: 'c', metadata: { chain: [1] }, extensions: ['urn:x'] };
    await send(`${agent.origin}/agent-card`, parts, fields);
    const [request] = agent.requests;
    expect(request).toMatchObject({ path: '/rpc', id: 1, method: 'a2a.sendMessage' });
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' });
    expect(request?.headers).not.toHaveProperty('a2a-version');
    expect(request?.params).toEqual({
      message: {
        role: 'user',
        parts: [
          { type: 'text', text: 'hello', mimeType: 'text/plain' },
          { type: 'data', data: { n: 1 }, mimeType: 'application/json' },
          { type: 'data', data: [], mimeType: 'text/csv' },
        ],
        messageId: 'm',
        contextId: 'c',
        metadata: { chain: [1] },
      },
      configuration: { acceptedOutputModes: MODES, blocking: true },
    });
  });

  it('that takes no other members is sent none, from the second request on', async () => {
    const plain = (request: Pre10Request): Pre10Answer => {
      const others = Object.keys(request.params.message as object).filter((it) => it !== 'role' && it !== 'parts');
      return others.length > 0 ? refusing(-32602, 'Invalid params')() : echoes(request);
    };
    const agent = await agentOf({ cardAt: '/agent-card', answer: strict(plain) });
    expect([await textOf(agent.url), await textOf(agent.url)]).toEqual(['hello', 'hello']);
    expect(agent.requests.map(({ params }) => 'messageId' in (params.message as object))).toEqual([true, false, false]);
  });

  it('whose Task waits is answered by a Message for the same Task, which the bare form names too', async () => {
    const ask = (): Pre10Answer => {
      const messages = [{ role: 'agent', parts: [{ type: 'text', text: 'Which?' }] }];
      return { result: { id: 'task-9', status: 'input-required', messages } };
    };
    const agent = await agentOf({ cardAt: '/agent-card', answer: strict(ask) });
    const { id, status } = await send(agent.url);
    expect(status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Which?' }] } });
    agent.answer = strict((request) =>
      'messageId' in (request.params.message as object) ? refusing(-32602, 'no ids')() : echoes(request),
    );
    expect((await send(agent.url, [{ text: 'red' }], { taskId: id })).status.state).toBe('TASK_STATE_COMPLETED');
    const sent = agent.requests.map(({ params }) => (params.message as { taskId?: string }).taskId);
    expect(sent).toEqual([undefined, 'task-9', 'task-9']);
  });

  it('fails, and cannot be asked after its Task or cancel it: neither makes a request', async () => {
    const agent = await agentOf({ cardAt: '/agent-card' });
    const client = await directory.resolveClient(agent.url);
    const refused = { kind: 'rpc-error', message: 'the agent speaks the pre-1.0 dialect, which has no GetTask' };
    await expect(client.getTask('task-1')).rejects.toMatchObject(refused);
    await expect(client.followTask('task-1')[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
    expect(await client.cancelTask('task-1')).toBe('refused');
    expect(agent.requests).toEqual([]);
    agent.answer = strict(() => ({
      result: { id: 't', status: 'failed', messages: [{ role: 'agent', parts: [{ type: 'text', text: 'no paper' }] }] },
    }));
    const { status } = await send(agent.url);
    expect(status).toMatchObject({ state: 'TASK_STATE_FAILED', message: { parts: [{ text: 'no paper' }] } });
  });

  it.each(['created', 'working'])('whose Task is %s when it answers fails, and is not asked again', async (status) => {
    const agent = await agentOf({ answer: strict(() => ({ result: { id: 't', status } })) });
    await expect(send(agent.url)).rejects.toMatchObject({
      kind: 'invalid-response',
      message: 'the agent answered before its Task has ended, and its pre-1.0 dialect has no way to follow a Task',
    });
    expect(agent.methods).toEqual(['SendMessage', 'a2a.sendMessage']);
  });

  it.each<[string, Part]>([
    ['image/png', { raw: 'AAAA', mediaType: 'image/png' }],
    ['application/octet-stream', { url: 'http://a.test/b' }],
  ])('is sent no file: %s', async (kind, file) => {
    const agent = await agentOf({ cardAt: '/agent-card' });
    await expect(send(agent.url, [{ text: 'look' }, file])).rejects.toMatchObject({
      kind: 'refused',
      message: `the agent takes no files: its pre-1.0 dialect has texts and data, and Part 2 is ${kind}`,
    });
    expect(agent.requests).toEqual([]);
  });

  it.each<[string, Pre10Answer, object]>([
    [
      'an error',
      refusing(-32001, 'node "x" not registered')(),
      { message: 'a2a error -32001: node "x" not registered' },
    ],
    ['an error of its own', refusing(-32050, 'no')(), { kind: 'rpc-error', message: 'a2a error -32050: no' }],
    ['a text', { result: 'hello' }, { kind: 'invalid-response' }],
    ['no Task', { result: { hello: 1 } }, { kind: 'invalid-response' }],
    ['a Task without an id', { result: { status: 'completed' } }, { kind: 'invalid-response' }],
    [
      'an unknown status',
      { result: { id: 't', status: `p${'x'.repeat(100)}` } },
      {
        kind: 'invalid-response',
        message: `the agent's answer is not A2A: the status "p${'x'.repeat(63)}" is no status of a Task`,
      },
    ],
  ])('that answers with %s is a failed call', async (_what, answer, failure) => {
    const agent = await agentOf({ cardAt: '/agent-card', answer: strict(() => answer) });
    await expect(send(agent.url)).rejects.toMatchObject(failure);
    expect(agent.requests).toHaveLength(1);
  });
});

describe('the dialect of an agent', () => {
  it('is 1.0 again once the agent was upgraded, with a card of the pre-1.0 dialect and without one', async () => {
    for (const cardAt of [undefined, '/agent-card']) {
      const agent = await agentOf({ ...(cardAt && { cardAt }) });
      await textOf(agent.url);
      agent.answer = upgraded;
      agent.requests.length = 0;
      expect([await textOf(agent.url), await textOf(agent.url)]).toEqual(['hello', 'hello']);
      expect(agent.methods).toEqual(['a2a.sendMessage', 'SendMessage', 'SendMessage']);
    }
  });

  it('is the pre-1.0 one again once an agent with such a card was set back', async () => {
    const agent = await agentOf({ cardAt: '/agent-card', answer: upgraded });
    await textOf(agent.url);
    agent.answer = strict(echoes);
    agent.requests.length = 0;
    expect([await textOf(agent.url), await textOf(agent.url)]).toEqual(['hello', 'hello']);
    expect(agent.methods).toEqual(['SendMessage', 'a2a.sendMessage', 'a2a.sendMessage']);
  });

  it.each([
    ['message', 'message.role must be user', undefined],
    ['message', 'Parts are wrong', undefined],
    ['details', 'Invalid params', 'message.parts[0]'],
  ])('is found by a refusal that names role or Part in its %s', async (_where, message, data) => {
    const agent = await agentOf();
    agent.answer = (request) =>
      request.method === 'SendMessage' ? refusing(-32602, message, data)() : strict(echoes)(request);
    expect(await textOf(agent.url)).toBe('hello');
    const ids = agent.requests.map(({ params }) => (params.message as { messageId: string }).messageId);
    expect(agent.methods).toEqual(['SendMessage', 'a2a.sendMessage']);
    expect(new Set(ids).size).toBe(1);
  });

  it.each([
    ['-32602 for something else', refusing(-32602, 'skillId is unknown'), 'a2a error -32602: skillId is unknown'],
    ['an error of another kind', refusing(-32603, 'the role failed'), 'a2a error -32603: the role failed'],
  ])('is not looked for after %s', async (_what, answer, message) => {
    const agent = await agentOf({ answer });
    await expect(send(agent.url)).rejects.toMatchObject({ message });
    expect(agent.methods).toEqual(['SendMessage']);
  });

  it('is reported as the refusal that says most, where the agent speaks none', async () => {
    const agent = await agentOf({ answer: refusing(-32601, 'Method not found: this is no agent') });
    await expect(send(agent.url)).rejects.toMatchObject({ message: /this is no agent/ });
    agent.answer = ({ method }) => refusing(method === 'SendMessage' ? -32602 : -32601, 'no part at all')();
    await expect(send(agent.url)).rejects.toMatchObject({ code: -32602 });
    expect(agent.methods).toEqual(['SendMessage', 'a2a.sendMessage', 'SendMessage', 'a2a.sendMessage']);
  });

  it('is learned from a bare Task of a lax agent, which then gets its texts', async () => {
    const agent = await agentOf({ answer: laxly });
    expect([await textOf(agent.url), await textOf(agent.url)]).toEqual(['no text', 'hello']);
    expect(agent.methods).toEqual(['SendMessage', 'a2a.sendMessage']);
  });

  it('may be named by the caller, so that a lax agent gets its texts at once', async () => {
    const agent = await agentOf({ answer: laxly });
    expect(await textOf(agent.url, { protocol: 'founding' })).toBe('hello');
    const carded = await agentOf({ cardAt: '/.well-known/agent-card.json', path: '/rpc', answer: laxly });
    expect(await textOf(carded.origin, { protocol: 'founding' })).toBe('hello');
    expect(agent.methods.concat(carded.requests.map(({ path }) => path))).toEqual(['a2a.sendMessage', '/rpc']);
  });

  it('is looked for again once it is too old', async () => {
    directory = new HttpAgentDirectory({ http, onCardless: () => undefined, dialectMaxAge: 0 });
    const agent = await agentOf();
    await textOf(agent.url);
    await textOf(agent.url);
    expect(agent.methods).toEqual(['SendMessage', 'a2a.sendMessage', 'SendMessage', 'a2a.sendMessage']);
  });

  it('is 1.0 for an agent without a card that speaks it, and 0.3 for a card that says so, or has another place', async () => {
    const current = await agentOf({ answer: upgraded });
    expect([await textOf(current.url), await textOf(current.url)]).toEqual(['hello', 'hello']);
    expect(current.methods).toEqual(['SendMessage', 'SendMessage']);
    const answer = (): Pre10Answer => {
      const artifacts = [{ artifactId: 'a', parts: [{ kind: 'text', text: 'from 0.3' }] }];
      return { result: { kind: 'task', id: 't', contextId: 'c', status: { state: 'completed' }, artifacts } };
    };
    const cards: Pre10AgentOptions[] = [
      { cardAt: '/agent-card', card: { protocolVersion: '0.3.0' } },
      { cardAt: '/agent-card', card: { preferredTransport: 'JSONRPC' } },
      { cardAt: '/.well-known/agent-card.json' },
    ];
    for (const options of cards) {
      const agent = await agentOf({ ...options, answer });
      expect(await textOf(agent.url)).toBe('from 0.3');
      expect(agent.methods).toEqual(['message/send']);
    }
  });

  it('is that of the card below an agent’s URL, where the card of its host is of another agent', async () => {
    const agent = await agentOf({ path: '/nodes/n', cardAt: '/nodes/n/agent-card', hasHost: true });
    expect(await textOf(agent.url)).toBe('hello');
    expect(agent.methods).toEqual(['a2a.sendMessage']);
  });
});

describe('a Message that an agent receives and does not answer', () => {
  const METHOD_NOT_FOUND = refusing(-32601, 'Method not found');
  const cards: [string, Pre10AgentOptions, string][] = [
    ['without a card', {}, 'SendMessage'],
    ['with a card of the pre-1.0 dialect', { cardAt: '/agent-card' }, 'a2a.sendMessage'],
  ];

  /** Makes the agent leave its nth request unanswered. The returned directory reports a time-out for that request. */
  function timingOut(agent: Pre10Agent, nth: number): HttpAgentDirectory {
    const { answer } = agent;
    const timeout = Promise.withResolvers<never>();
    agent.answer = (request) => {
      if (agent.requests.length !== nth) return answer(request);
      timeout.reject(new OutboundTimeoutError('first-byte'));
      return undefined;
    };
    const limited: typeof fetch = (input, init) => {
      const isNth = init?.method === 'POST' && agent.requests.length === nth - 1;
      return isNth ? Promise.race([fetch(input, init), timeout.promise]) : fetch(input, init);
    };
    return new HttpAgentDirectory({ http: { fetch: limited, cachedFetch: fetch }, onCardless: () => undefined });
  }

  it.each(cards)('A6 is the only request to an agent %s', async (_how, options, method) => {
    const agent = await agentOf(options);
    directory = timingOut(agent, 1);
    const failed = send(agent.url, undefined, undefined, { resends: 0 });
    await expect(failed).rejects.toMatchObject({ kind: 'timeout' });
    expect(agent.methods).toEqual([method]);
  });

  it.each(cards)(
    'A6 is not sent in another dialect to an agent %s, even if refused later',
    async (_how, options, method) => {
      const agent = await agentOf({ ...options, answer: METHOD_NOT_FOUND });
      directory = timingOut(agent, 1);
      await expect(send(agent.url)).rejects.toMatchObject({ kind: 'rpc-error', code: -32601 });
      expect(agent.methods).toEqual([method, method]);
    },
  );

  const bare = (request: Pre10Request): Pre10Answer =>
    'messageId' in (request.params.message as object) ? refusing(-32602, 'no ids')() : echoes(request);

  it.each([
    ['pre-1.0', strict(echoes), 1],
    ['bare pre-1.0', strict(bare), 2],
  ])('A6 is repeated in the dialect that was found for it: %s', async (_dialect, answer, refusals) => {
    const agent = await agentOf({ answer });
    directory = timingOut(agent, refusals + 1);
    expect(await textOf(agent.url)).toBe('hello');
    expect(agent.methods).toEqual(['SendMessage', ...Array(refusals + 1).fill('a2a.sendMessage')]);
    const [tried, repeated] = agent.requests.slice(-2).map(({ params }) => params);
    expect(repeated).toEqual(tried);
  });
});
