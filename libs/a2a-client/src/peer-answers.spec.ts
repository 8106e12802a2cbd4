import { jest } from '@jest/globals';
import { type JsonObject, type Message, userMessage } from '#libs/protocol';
import type { WireAgent, WireCard } from '../../../test/support/wire-agent.js';
import { StreamPace } from './answer-limits.js';
import {
  agentOf,
  type Answering,
  answerRpc,
  callAgent,
  callStreaming,
  directory,
  place,
  said,
  states,
  status,
  streamResults,
  task,
  textsOf,
  useWireAgents,
} from './testing/wire-calls.js';

useWireAgents();

describe('an agent that answers a question with a stream of changes only (A2A Java SDK, servers of 0.3)', () => {
  const old = (state: string): JsonObject => ({
    kind: 'status-update',
    ...place,
    status: { state },
    final: state !== 'working',
  });
  const chunk = (text: string, append: boolean): JsonObject => ({
    kind: 'artifact-update',
    ...place,
    append,
    artifact: { artifactId: 'a', parts: [{ kind: 'text', text }] },
  });
  const whole = {
    kind: 'task',
    id: 't',
    contextId: 'c',
    status: { state: 'completed' },
    artifacts: [
      { artifactId: 'first', parts: [{ kind: 'text', text: 'of the first turn' }] },
      { artifactId: 'a', parts: [{ kind: 'text', text: 'begun and ended' }] },
    ],
  };
  const answer: Answering = (request, response) => {
    if (request.body?.method === 'tasks/get') return answerRpc(request, response, { result: whole });
    streamResults(request, response, [old('working'), chunk(' and ended', true), old('completed')]);
  };

  it('is asked once for its Task, which has the Artifacts of the first turn', async () => {
    const agent = await agentOf({ version: '0.3', streaming: true }, answer);
    const answered = await callAgent(agent, { taskId: 't', contextId: 'c' });
    expect(textsOf(answered)).toEqual(['of the first turn', 'begun and ended']);
    expect(agent.requests.map(({ body }) => body?.method)).toEqual(['message/stream', 'tasks/get']);
  });

  it('is not asked for the Task of a first Message, whose stream names all', async () => {
    const agent = await agentOf({ version: '0.3', streaming: true }, answer);
    expect(textsOf(await callAgent(agent))).toEqual([' and ended']);
    expect(agent.requests.map(({ body }) => body?.method)).toEqual(['message/stream']);
  });

  it('is taken at its stream where it has no such Task any more', async () => {
    const error = { code: -32001, message: 'Task not found' };
    const agent = await agentOf({ version: '0.3', streaming: true }, (request, response) => {
      if (request.body?.method === 'tasks/get') return answerRpc(request, response, { error });
      return answer(request, response);
    });
    expect(textsOf(await callAgent(agent, { taskId: 't', contextId: 'c' }))).toEqual([' and ended']);
  });
});

describe('an agent that sends its Artifact after the end of its Task (A2A Java SDK)', () => {
  const artifacts = [{ artifactId: 'a', parts: [{ text: 'late' }] }];
  const late = { artifactUpdate: { ...place, artifact: artifacts[0] as JsonObject } };

  it('is asked for the Task, which has it', async () => {
    const agent = await agentOf({ streaming: true }, (request, response) => {
      if (request.body?.method === 'GetTask')
        return answerRpc(request, response, {
          result: { id: 't', contextId: 'c', status: { state: states.completed }, artifacts },
        });
      streamResults(request, response, [task(states.working), status(states.completed), late]);
    });
    expect(textsOf(await callAgent(agent))).toEqual(['late']);
    expect(agent.requests.map(({ body }) => body?.method)).toEqual(['SendStreamingMessage', 'GetTask']);
  });
});

describe('an agent that works in silence behind something that cuts its streams', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('is polled in the end, as it answers each subscription', async () => {
    jest.spyOn(StreamPace.prototype, 'nextPause').mockReturnValue(0);
    const working = task(states.working);
    const methods: unknown[] = [];
    const agent = await agentOf({ streaming: true }, (request, response) => {
      methods.push(request.body?.method);
      const artifacts = [{ artifactId: 'a', parts: [{ text: 'late' }] }];
      if (request.body?.method === 'GetTask')
        return answerRpc(request, response, {
          result: { id: 't', contextId: 'c', status: { state: states.completed }, artifacts },
        });
      const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id: request.body?.id ?? null, result: working })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event, () => response.destroy());
    });
    expect(textsOf(await callAgent(agent))).toEqual(['late']);
    expect(methods).toEqual(['SendStreamingMessage', ...Array.from({ length: 9 }, () => 'SubscribeToTask'), 'GetTask']);
  });
});

describe('an agent that repeats, in a resumed stream, a chunk of its snapshot (a2a-sdk for Python)', () => {
  const chunks = (...texts: string[]): JsonObject => ({ artifactId: 'a', parts: texts.map((text) => ({ text })) });
  const two = { artifactUpdate: { ...place, artifact: chunks('two'), append: true } };
  const followed = async (getTask: JsonObject) => {
    const answers: Readonly<Record<string, JsonObject[]>> = {
      SendStreamingMessage: [task(states.working, { artifacts: [chunks('one ')] })],
      SubscribeToTask: [
        task(states.working, { artifacts: [chunks('one ', 'two')] }),
        two,
        { statusUpdate: { ...place, status: { state: states.completed }, metadata: { tea: 'green' } } },
      ],
    };
    const agent = await agentOf({ streaming: true }, (request, response) => {
      const results = answers[String(request.body?.method)];
      return results ? streamResults(request, response, results) : answerRpc(request, response, getTask);
    });
    const answered = await callAgent(agent);
    return [textsOf(answered), answered.state, agent.requests.map(({ body }) => body?.method).slice(2)];
  };

  it('is asked for its Task at the end, which has the chunk once', async () => {
    const result = { id: 't', contextId: 'c', status: { state: states.completed }, artifacts: [chunks('one two')] };
    expect(await followed({ result })).toEqual([['one two'], states.completed, ['GetTask']]);
  });

  it('is taken at its stream if its Task cannot be read', async () => {
    const error = { code: -32001, message: 'Task not found' };
    expect(await followed({ error })).toEqual([['one twotwo'], states.completed, ['GetTask']]);
  });
});

describe('an agent whose answer is a Message while it works', () => {
  it.each<[string, JsonObject[]]>([
    [
      'in a working status (Microsoft Agent Framework)',
      [task(states.working), status(states.working, said('four')), status(states.completed)],
    ],
    [
      'in the history alone (Agno)',
      [task(states.working), task(states.completed, { history: [said('hello', { role: 'ROLE_USER' }), said('four')] })],
    ],
    [
      'as Messages within a Task (Agno)',
      [
        task(states.working),
        { message: said('two', { taskId: 't', messageId: 'earlier' }) },
        { message: said('four', { taskId: 't' }) },
        status(states.completed),
      ],
    ],
  ])('%s is followed', async (_what, results) => {
    const answered = await callStreaming(results);
    expect([answered.state, answered.artifacts, answered.reply]).toEqual(['TASK_STATE_COMPLETED', [], undefined]);
    expect(answered.lastMessage?.parts).toEqual([{ text: 'four' }]);
  });

  it('has the pieces of Messages with one id in order (Agno)', async () => {
    const pieces = ['fo', 'ur'].map((text) => ({ message: said(text, { taskId: 't', messageId: 'm' }) }));
    const answered = await callStreaming([task(states.working), ...pieces, status(states.completed)]);
    expect(answered.lastMessage?.parts).toEqual([{ text: 'fo' }, { text: 'ur' }]);
  });

  it('ends its turn with a Message that nothing follows', async () => {
    const agent = await agentOf({ streaming: true }, (request, response) =>
      streamResults(request, response, [task(states.working), { message: said('four', { taskId: 't' }) }]),
    );
    const answered = await callAgent(agent);
    expect(answered.reply?.parts).toEqual([{ text: 'four' }]);
    expect(agent.requests).toHaveLength(1);
  });

  it('is not taken at the words of the caller, nor at the question of an earlier turn', async () => {
    const history = [said('which?'), said('this', { role: 'ROLE_USER' })];
    expect((await callStreaming([task(states.completed, { history })])).lastMessage).toBeUndefined();
  });
});

describe('a stream with items that are not of its version', () => {
  const bare = (kind: string, members: JsonObject): JsonObject => ({ kind, ...place, ...members });

  it('is read where they are those of 0.3 (LangGraph server)', async () => {
    const file = { bytes: 'aGk=', mimeType: 'image/png', name: 'a.png' };
    const parts: JsonObject[] = [
      { kind: 'text', text: 'four' },
      { kind: 'data', data: { n: null } },
      { kind: 'file', file },
    ];
    const agent = await agentOf({ streaming: true }, (request, response) =>
      streamResults(request, response, [
        task(states.working),
        bare('artifact-update', { artifact: { artifactId: 'a', parts } }),
        bare('status-update', { status: { state: 'completed' }, final: true }),
      ]),
    );
    const answered = await callAgent(agent);
    expect(answered.state).toBe('TASK_STATE_COMPLETED');
    expect(answered.artifacts).toEqual([
      {
        artifactId: 'a',
        parts: [{ text: 'four' }, { data: { n: null } }, { raw: 'aGk=', mediaType: 'image/png', filename: 'a.png' }],
      },
    ]);
  });

  it.each<[WireCard, JsonObject[]]>([
    [{ streaming: true }, [task(states.working), { values: { messages: [] } }, status(states.completed)]],
    [
      { streaming: true, version: '0.3' },
      [
        { kind: 'task', id: 't', contextId: 'c', status: { state: 'working' } },
        { kind: 'values', messages: [] },
        bare('status-update', { status: { state: 'completed' }, final: true }),
      ],
    ],
  ])('over %p fails where nothing else of it is an answer', async (card, results) => {
    const agent = await agentOf(card, (request, response) => {
      if (/GetTask|tasks.get/.test(String(request.body?.method)))
        return answerRpc(request, response, { error: { code: -32001, message: 'Task not found' } });
      streamResults(request, response, results);
    });
    await expect(callAgent(agent)).rejects.toMatchObject({
      kind: 'invalid-response',
      message: "the agent's answer is not A2A: an item of its stream cannot be read",
    });
  });
});

describe('an agent without GetTask (Spring AI)', () => {
  const answer: Answering = (request, response) => {
    const { method, params } = request.body as { method?: string; params?: { configuration?: JsonObject } };
    if (method !== 'SendMessage') return void response.writeHead(400).end();
    const isBlocking = params?.configuration?.returnImmediately === false;
    const result = isBlocking ? { message: said('four') } : task(states.working);
    answerRpc(request, response, { result });
  };
  const sends = ({ requests }: WireAgent) =>
    requests.flatMap(({ body }) => {
      const { message, configuration } = (body?.params ?? {}) as { message?: Message; configuration?: JsonObject };
      return message ? [[message.messageId, configuration?.returnImmediately]] : [];
    });

  it('is sent the Message once more to be answered at its end, and later Messages so at once', async () => {
    const agent = await agentOf({}, answer);
    const answered = await callAgent(agent, { messageId: 'one' });
    expect(answered.reply?.parts).toEqual([{ text: 'four' }]);
    await callAgent(agent, { messageId: 'two' });
    expect(sends(agent)).toEqual([
      ['one', true],
      ['one', false],
      ['two', false],
    ]);
  });

  it('is sent no Message twice where its caller forbids that, and the failure names the operation', async () => {
    const agent = await agentOf({}, answer);
    await expect(callAgent(agent, {}, { resends: 0 })).rejects.toMatchObject({
      kind: 'client-error',
      message: 'the agent does not answer GetTask: HTTP 400',
    });
    expect(sends(agent)).toHaveLength(1);
  });

  it('is sent no Message again whose Parts its caller has removed meanwhile', async () => {
    const agent = await agentOf({}, answer);
    const client = await directory.resolveClient(agent.url);
    const message = userMessage('hello');
    const send = async (): Promise<void> => {
      for await (const _event of client.sendMessage({ message })) message.parts.length = 0;
    };
    await expect(send()).rejects.toMatchObject({ message: 'the agent does not answer GetTask: HTTP 400' });
    expect(sends(agent)).toHaveLength(1);
  });
});

describe('the error of an agent', () => {
  it.each([
    [
      'java.lang.IllegalState: no order\n\tat a.b.C(C.java:1)\n\tat a.b.D(D.java:2)',
      'java.lang.IllegalState: no order',
    ],
    ['Error: no order\n    at run (/srv/agent.js:1:2)', 'Error: no order'],
    [
      'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in run\nValueError: no order\n',
      'ValueError: no order',
    ],
    ['1 validation error\nparts\n  Field required', '1 validation error\nparts\n  Field required'],
  ])('%j reaches callers without its stack trace', async (message, shown) => {
    const agent = await agentOf({}, (request, response) =>
      answerRpc(request, response, { error: { code: -32603, message } }),
    );
    await expect(callAgent(agent)).rejects.toMatchObject({ message: `a2a error -32603: ${shown}` });
  });

  it('is bounded', async () => {
    const agent = await agentOf({}, (request, response) =>
      answerRpc(request, response, { error: { code: -32603, message: 'x'.repeat(10_000) } }),
    );
    await expect(callAgent(agent)).rejects.toMatchObject({ message: `a2a error -32603: ${'x'.repeat(2_000)}…` });
  });
});

describe('a card whose interface names no version', () => {
  it('is taken for one of 1.0', async () => {
    const agent = await agentOf({ version: '' }, (request, response) =>
      answerRpc(request, response, { result: { message: said('four') } }),
    );
    expect((await callAgent(agent)).reply?.parts).toEqual([{ text: 'four' }]);
    expect(agent.requests[0]).toMatchObject({ headers: { 'a2a-version': '1.0' }, body: { method: 'SendMessage' } });
  });

  it('fails with what it offers, where that is nothing of A2A', async () => {
    const agent = await agentOf({ version: '2.0' }, (_request, response) => response.end());
    await expect(callAgent(agent)).rejects.toMatchObject({
      kind: 'invalid-response',
      message: expect.stringMatching(
        /offers none of JSONRPC, HTTP.JSON.* of A2A 1\.x, and no interface of 0\.3, but JSONRPC 2\.0$/,
      ),
    });
  });
});
