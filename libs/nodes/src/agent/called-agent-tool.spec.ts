import { AgentCallError } from '#libs/a2a-client';
import { CALL_CHAIN, chainMetadata } from '#libs/agents';
import { dataPart, FORM_EXTENSION, type JsonObject, type JsonValue, textPart, userMessage } from '#libs/protocol';
import { answers, asking, type FakeCalledAgent, FakeCalledAgents } from '../testing/fake-called-agents.js';
import { type Answering, asks, says } from '../testing/fake-models.js';
import { agentWith, lastWord, NotedTools, payloads } from '../testing/noted-agent.js';

const URL_OF_PARTNER = 'https://partner.example/a2a/critic';

/** Returns a model that calls the tools one after the other, and then answers with the results. */
const calling =
  (...calls: [tool: string, args: Record<string, string>][]): Answering =>
  (call) => {
    const done = call.messages.filter(({ role }) => role === 'tool').length;
    const next = calls[done];
    if (next) return asks(call, next);
    const results = call.messages.flatMap((it) => (it.role === 'tool' ? it.results : []));
    return says(JSON.stringify(results.map(({ result, error }) => error ?? (result as JsonValue))));
  };

const echo: FakeCalledAgent = { answer: (nth, { parts }) => answers(textPart(`${nth}: ${parts[0]?.text}`)) };

/** Creates an agent with agents as tools, and its Task. */
function calls(agents: Record<string, FakeCalledAgent>, config: JsonObject, answer: Answering) {
  const calledAgents = new FakeCalledAgents(agents);
  return { calledAgents, ...agentWith(new NotedTools(), answer, config, undefined, calledAgents) };
}

/** Returns the results of the tool calls, read from the last Message of the Task. */
const results = (driver: ReturnType<typeof calls>['driver']): JsonValue => JSON.parse(String(lastWord(driver)));

describe('an agent that is a tool', () => {
  it('is offered by its name, with what its definition or its card says', async () => {
    const skills = [
      { id: 'a', name: 'verse', description: 'Writes\u0000 verse', tags: [] },
      { id: 'b', name: 'prose', description: '', tags: [] },
    ];
    const { driver, models } = calls(
      {
        poet: {
          ...echo,
          served: {
            name: 'poet',
            description: 'A poet',
            skills: [],
            details: async () => ({
              skills: [],
              schemas: { poet: { input: { properties: { topic: {} }, required: ['topic'] }, artifacts: [] } },
            }),
          },
        },
        'workflows/fan/nodes/judge': echo,
        [URL_OF_PARTNER]: { ...echo, card: { description: 'A critic', skills } },
      },
      { tools: ['agent:poet', 'agent:workflows/fan/nodes/judge', { agent: URL_OF_PARTNER, name: 'critic' }, 'look'] },
      () => says('done'),
    );
    await driver.run();
    const tools = models.calls[0]?.call.tools ?? [];
    expect(tools.map(({ name }) => name)).toEqual(['look', 'agent__poet', 'agent__fan_judge', 'agent__critic']);
    expect(tools[1]?.inputSchema).toEqual({
      type: 'object',
      properties: { topic: { type: 'string' } },
      required: ['topic'],
    });
    expect(tools[1]?.description).toMatch(/^A poet\n/);
    expect(tools[3]?.inputSchema).toMatchObject({ required: ['message'] });
    expect(tools[3]?.description).toMatch(/^A critic\nverse: Writes verse\nprose\n/);
  });

  it.each<[string, Omit<FakeCalledAgent, 'answer'>, RegExp]>([
    ['cannot be read', { away: new AgentCallError('connect', 'not connected') }, /^A critic, as pinned\nverse\n/],
    ['has changed and is blocked', { away: new AgentCallError('changed-card', 'x') }, /^A critic, as pinned\nverse\n/],
    ['is gone', {}, /^A critic, as pinned\nverse\n/],
    ['can be read', { card: { description: 'A critic now' } }, /^A critic now\n/],
    ['was never seen', { away: new AgentCallError('timeout', 'late'), pinned: undefined }, /^If the status/],
  ])(
    'is offered with what its pinned card says where no other can be used: one that %s',
    async (_, agent, expected) => {
      const pinned = { description: 'A critic, as pinned', skills: [{ name: 'verse' }] };
      const config = { tools: [`agent:${URL_OF_PARTNER}`] };
      const { driver, models } = calls({ [URL_OF_PARTNER]: { ...echo, pinned, ...agent } }, config, () => says('done'));
      await driver.run();
      expect(models.calls[0]?.call.tools?.[0]?.description).toMatch(expected);
    },
  );

  it('is sent the message and its data, or the inputs of a workflow, and what it answers is the result', async () => {
    const file = { url: 'https://files.example/a.png', mediaType: 'image/png', filename: 'a.png' };
    const schemas = { sum: { input: { properties: { a: { type: 'string' } } }, artifacts: [] } };
    const { driver, calledAgents } = calls(
      {
        poet: { answer: () => answers(textPart('ro'), textPart('ses'), dataPart({ n: 1 }), file) },
        sum: { answer: () => answers(dataPart(3)), served: { details: async () => ({ skills: [], schemas }) } },
      },
      { tools: ['agent:poet', 'agent:sum'] },
      calling(['agent__poet', { message: 'red' }], ['agent__sum', { a: '1' }]),
    );
    await driver.run();
    expect(calledAgents.sent.map(({ to, message }) => [to, message.parts])).toEqual([
      ['poet', [textPart('red')]],
      ['sum', [dataPart({ a: '1' })]],
    ]);
    expect(results(driver)).toEqual([
      {
        status: 'completed',
        text: 'roses',
        data: { n: 1 },
        files: [{ name: 'a.png', mediaType: 'image/png', url: file.url }],
      },
      { status: 'completed', data: 3 },
    ]);
    expect(payloads(driver, 'tool.call').map(({ tool }) => tool)).toEqual(['agent:poet', 'agent:sum']);
  });

  it('is called in one context by all calls of a Task, and no more often than maxCalls says', async () => {
    const one: [string, Record<string, string>] = ['agent__poet', { message: 'go' }];
    const { driver, calledAgents } = calls(
      { poet: echo },
      { tools: [{ agent: 'poet', maxCalls: 2 }] },
      calling(one, one, one),
    );
    await driver.run();
    const contexts = calledAgents.sent.map(({ message }) => message.contextId);
    expect(contexts).toEqual([undefined, `context-of-task-${calledAgents.sent[0]?.message.messageId}`]);
    expect(results(driver)).toEqual([
      { status: 'completed', text: '0: go' },
      { status: 'completed', text: '1: go' },
      '"agent:poet" was called 2 times already (maxCalls)',
    ]);
    expect(calledAgents.spent).toEqual(['task', 'task']);
  });

  it('makes an error result of whatever fails, and the model goes on', async () => {
    const failing: FakeCalledAgent = { answer: () => ({ state: 'TASK_STATE_FAILED', parts: [textPart('no ink')] }) };
    const refused: FakeCalledAgent = {
      answer: () => ({ state: 'TASK_STATE_FAILED', error: new AgentCallError('connect', 'no connection') }),
    };
    const { driver, calledAgents } = calls(
      { poet: failing, [URL_OF_PARTNER]: refused },
      { tools: ['agent:poet', 'agent:gone', { agent: URL_OF_PARTNER, name: 'critic' }] },
      calling(
        ['agent__poet', { message: 'go' }],
        ['agent__gone', { message: 'go' }],
        ['agent__critic', { message: 'go' }],
        ['agent__poet', { massage: 'go' }],
      ),
    );
    await driver.run();
    expect(results(driver)).toEqual([
      'the call of "agent:poet" failed: the agent failed: no ink',
      'the call of "agent:gone" failed: there is no agent "gone"',
      'the call of "agent:critic" failed: no connection',
      expect.stringMatching(/^the arguments are refused: arguments/),
    ]);
    expect(calledAgents.sent).toHaveLength(2);
  });

  it('is not called beyond the budget of everything that began with the first Message', async () => {
    const one: [string, Record<string, string>] = ['agent__poet', { message: 'go' }];
    const { driver, calledAgents } = calls({ poet: echo }, { tools: ['agent:poet'] }, calling(one, one));
    calledAgents.most = 1;
    await driver.run();
    expect(results(driver)).toEqual([
      { status: 'completed', text: '0: go' },
      'the call of "agent:poet" failed: BUDGET_EXCEEDED: no calls are left',
    ]);
    expect(calledAgents.sent).toHaveLength(1);
  });

  it('has its result cut at 256 KiB', async () => {
    const { driver } = calls(
      { poet: { answer: () => answers(textPart('x'.repeat(300 * 1024))) } },
      { tools: ['agent:poet'] },
      calling(['agent__poet', { message: 'go' }]),
    );
    await driver.run();
    expect(payloads(driver, 'tool.result')[0]).toMatchObject({ truncated: true });
  });

  it.each(['agent:*', 'agent:critic', `agent:${URL_OF_PARTNER}`])(
    'is called only after a yes with approve %s',
    async (name) => {
      const { driver, calledAgents } = calls(
        { [URL_OF_PARTNER]: echo },
        { tools: [{ agent: URL_OF_PARTNER, name: 'critic' }], approve: [name] },
        calling(['agent__critic', { message: 'go' }]),
      );
      await driver.run();
      expect(driver.state).toBe('input_required');
      expect(lastWord(driver)).toBe(
        `May the agent "agent:critic" (${URL_OF_PARTNER}) be called with {"message":"go"}? Answer yes or no.`,
      );
      expect(calledAgents.sent).toEqual([]);
      driver.answer('yes');
      await driver.run();
      expect(calledAgents.sent).toHaveLength(1);
      expect(driver.state).toBe('completed');
    },
  );

  it('is not called after a no, which the model reads as the result', async () => {
    const { driver, calledAgents } = calls(
      { poet: echo },
      { tools: ['agent:poet'], approve: ['agent:poet'] },
      calling(['agent__poet', { message: 'go' }]),
    );
    await driver.run();
    driver.answer('no');
    await driver.run();
    expect(driver.state).toBe('completed');
    expect(results(driver)).toEqual([expect.stringContaining('the call was not approved')]);
    expect([calledAgents.sent, calledAgents.spent]).toEqual([[], []]);
  });

  it('is canceled where it does not answer in its time, and the model reads that', async () => {
    const { driver, calledAgents } = calls(
      { poet: { answer: () => ({ ...answers(), hangs: true }) }, critic: echo },
      { tools: [{ agent: 'poet', timeout: 1 }, 'agent:critic'] },
      calling(['agent__poet', { message: 'go' }], ['agent__critic', { message: 'go' }]),
    );
    await driver.run();
    expect(results(driver)).toEqual([
      'the call of "agent:poet" failed: timeout: not finished within 1 s',
      { status: 'completed', text: '0: go' },
    ]);
    expect(calledAgents.others).toEqual([`cancel task-${calledAgents.sent[0]?.message.messageId}`]);
  });
});

describe('a call of an agent that a crash cut off', () => {
  const TOOLS = { own: ['agent:poet'], elsewhere: [{ agent: URL_OF_PARTNER, name: 'poet' }] };
  const cut = async (where: keyof typeof TOOLS, events: number, config: JsonObject = {}) => {
    const agent = calls(
      { [where === 'own' ? 'poet' : URL_OF_PARTNER]: echo },
      { tools: TOOLS[where], ...config },
      calling(['agent__poet', { message: 'go' }]),
    );
    await agent.driver.run(events);
    return agent;
  };
  const ids = ({ calledAgents }: Awaited<ReturnType<typeof cut>>): Set<string> =>
    new Set(calledAgents.sent.map(({ message }) => message.messageId));

  // The log has the Task, WORKING, the request, the response and the tool call; then the Task of the called agent.
  it.each([5, 6])('sends no second Message to an agent of this service after %i events', async (events) => {
    const agent = await cut('own', events);
    await agent.driver.run();
    expect(agent.driver.state).toBe('completed');
    expect(ids(agent).size).toBe(1);
    expect(agent.calledAgents.kept.size).toBe(1);
    expect(payloads(agent.driver, 'tool.call')).toHaveLength(1);
    expect(agent.calledAgents.spent).toHaveLength(1);
  });

  it('follows the Task of an agent elsewhere that was seen', async () => {
    const agent = await cut('elsewhere', 6);
    await agent.driver.run();
    expect(agent.driver.state).toBe('completed');
    expect(agent.calledAgents.sent).toHaveLength(1);
    expect(agent.calledAgents.others).toEqual([`follow task-${agent.calledAgents.sent[0]?.message.messageId}`]);
  });

  it('asks what to do about a call of an agent elsewhere with unknown fate, and repeats the same Message', async () => {
    const agent = await cut('elsewhere', 5);
    await agent.driver.run();
    expect(agent.driver.state).toBe('input_required');
    expect(lastWord(agent.driver)).toContain('it is not known whether it was made');
    agent.driver.answer('yes');
    await agent.driver.run();
    expect(agent.driver.state).toBe('completed');
    expect(agent.calledAgents.sent).toHaveLength(2);
    expect(ids(agent).size).toBe(1);
  });
});

describe('a question of an agent that was called', () => {
  const twice = calling(['agent__poet', { message: 'go' }], ['agent__poet', { message: 'red' }]);
  const asksOnce = (metadata?: JsonObject): FakeCalledAgent => ({
    answer: (nth, message) =>
      nth === 0 ? asking('Which color?', metadata) : answers(textPart(`${message.parts[0]?.text}!`)),
  });

  it('is answered by the next call of the model, in the same Task', async () => {
    const { driver, calledAgents } = calls({ poet: asksOnce() }, { tools: ['agent:poet'] }, twice);
    await driver.run();
    expect(results(driver)).toEqual([
      { status: 'input-required', text: 'Which color?' },
      { status: 'completed', text: 'red!' },
    ]);
    const [first, second] = calledAgents.sent;
    expect(second?.message.taskId).toBe(`task-${first?.message.messageId}`);
  });

  const PERSONAL: [string, JsonObject, FakeCalledAgent][] = [
    ['the config says so', { onQuestion: 'ask' }, asksOnce()],
    ['it has a form, as that of a human node', {}, asksOnce({ [FORM_EXTENSION]: {} })],
    ['it is about a call', {}, asksOnce({ 'parley/question': { about: 'agent', call: 'c' } })],
    [
      'it asks for a login',
      {},
      {
        answer: (nth) =>
          nth === 0
            ? { state: 'TASK_STATE_AUTH_REQUIRED', parts: [textPart('Which color?')] }
            : answers(textPart('red!')),
      },
    ],
    [
      'it is an approval',
      {},
      {
        answer: (nth) =>
          nth === 0
            ? {
                state: 'TASK_STATE_INPUT_REQUIRED',
                parts: [textPart('Which color?'), dataPart({ tool: 't', args: {} })],
              }
            : answers(textPart('red!')),
      },
    ],
  ];

  it.each(PERSONAL)('goes to the caller where %s, and the answer goes down', async (_what, config, poet) => {
    const { driver, calledAgents } = calls(
      { poet },
      { tools: [{ agent: 'poet', ...config }] },
      calling(['agent__poet', { message: 'go' }]),
    );
    await driver.run();
    expect(['input_required', 'auth_required']).toContain(driver.state);
    expect(lastWord(driver)).toBe('The agent "agent:poet" asks: Which color?');
    expect(driver.task.status.message?.metadata).toMatchObject({ 'parley/question': { about: 'agent' } });
    driver.answer('red');
    // A crash before the result does not send the answer twice.
    await driver.run(driver.log.length);
    await driver.run();
    expect(driver.state).toBe('completed');
    expect(results(driver)).toEqual([{ status: 'completed', text: 'red!' }]);
    const [first, second] = calledAgents.sent;
    expect(second?.message).toMatchObject({ taskId: `task-${first?.message.messageId}`, parts: [textPart('red')] });
    expect(new Set(calledAgents.sent.map(({ message }) => message.messageId)).size).toBe(2);
  });

  it('is given up with the Task that called', async () => {
    const { driver, calledAgents } = calls(
      { poet: { answer: () => asking('Which color?') } },
      { tools: ['agent:poet'] },
      calling(['agent__poet', { message: 'go' }]),
    );
    await driver.run();
    expect(driver.state).toBe('completed');
    expect(calledAgents.others).toEqual([`cancel task-${calledAgents.sent[0]?.message.messageId}`]);
  });
});

describe('a Task that calls agents', () => {
  it('cancels the agent that is at work, and those that wait, and says what came of that', async () => {
    const { driver, calledAgents } = calls(
      { poet: { answer: () => asking('?') }, critic: { answer: () => ({ ...answers(), hangs: true }) } },
      { tools: ['agent:poet', 'agent:critic'] },
      calling(['agent__poet', { message: 'go' }], ['agent__critic', { message: 'go' }]),
    );
    const running = driver.run();
    await calledAgents.hanging;
    driver.cancel();
    await running;
    expect(driver.state).toBe('canceled');
    const tasks = calledAgents.sent.map(({ message }) => `task-${message.messageId}`);
    expect(new Set(calledAgents.others)).toEqual(new Set(tasks.map((id) => `cancel ${id}`)));
    expect(payloads(driver, 'tool.canceled').map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['agent:critic', 'acknowledged'],
      ['agent:poet', 'acknowledged'],
    ]);
  });

  it('signs each call, refuses an agent that led to it, and offers none after eight calls', async () => {
    const { calledAgents } = calls({}, {}, () => says(''));
    const chainTo = (count: number, callee = 'x') =>
      Array.from({ length: count }).reduce<ReturnType<typeof calledAgents.chains.extendChain>>(
        (links, _, at) =>
          calledAgents.chains.extendChain(links, { task: `t${at}`, caller: `c${at}`, callee: `${callee}${at}` }),
        [],
      );
    const run = async (links: ReturnType<typeof chainTo>) => {
      const agent = calls({ poet: echo }, { tools: ['agent:poet'] }, calling(['agent__poet', { message: 'go' }]));
      agent.driver.begin(userMessage('go', { messageId: 'm1', metadata: chainMetadata(links) }));
      await agent.driver.run();
      return agent;
    };
    const few = await run(chainTo(7));
    expect(few.calledAgents.sent[0]?.message.metadata?.[CALL_CHAIN]).toHaveLength(8);
    expect(few.calledAgents.spent).toEqual(['t0']);
    const many = await run(chainTo(8));
    expect(many.models.calls[0]?.call.tools).toBeUndefined();
    expect(many.calledAgents.sent).toEqual([]);
    const loop = await run(calledAgents.chains.extendChain([], { task: 't', caller: 'c', callee: 'poet' }));
    expect(results(loop.driver)).toEqual([expect.stringContaining('LOOP_DETECTED')]);
  });
});
