import { setTimeout } from 'node:timers/promises';
import { type JsonObject, textPart } from '#libs/protocol';
import {
  answers,
  asking,
  type CalledAgentAnswer,
  type FakeCalledAgent,
  FakeCalledAgents,
} from '../testing/fake-called-agents.js';
import { type Answering, asks, says } from '../testing/fake-models.js';
import { agentWith, lastWord, NotedTools, payloads } from '../testing/noted-agent.js';

const URL_OF_PARTNER = 'https://partner.example/a2a/critic';

/** Returns a model that calls a tool the given number of times. */
const calling =
  (tool: string, times = 1): Answering =>
  (call) => {
    const done = call.messages.filter(({ role }) => role === 'tool').length;
    return done < times ? asks(call, [tool, { message: 'go' }]) : says('done');
  };

/** Creates an agent with agents as tools, and its Task. */
function calls(agents: Record<string, FakeCalledAgent>, config: JsonObject, answer: Answering) {
  const calledAgents = new FakeCalledAgents(agents);
  return { calledAgents, ...agentWith(new NotedTools(), answer, config, undefined, calledAgents) };
}

const usage = { inputTokens: 20, outputTokens: 10 };
/** Steps of a called agent that report 35 tokens in all. */
const working: NonNullable<CalledAgentAnswer['working']> = [
  {
    step: {
      type: 'model.error',
      payload: { model: 'm', step: 1, message: 'cut', next: 'n', usage: { ...usage, inputTokens: 5 } },
    },
  },
  { step: { type: 'model.response', payload: { model: 'n', step: 1, usage: { inputTokens: 10, outputTokens: 5 } } } },
  { step: { type: 'tool.result', payload: { tool: 'agent:other', id: 'c', result: 'x', tokens: 5 } } },
  { step: { type: 'tool.result', payload: { tool: 'look', id: 'd', result: { tokens: 100 } } } },
];

describe('an agent that is called by a tool and works', () => {
  it('counts with its tokens, and those of the agents that it called, in the budget of its caller', async () => {
    const poet: FakeCalledAgent = { answer: () => ({ ...answers(textPart('done')), working }) };
    const answer = calling('agent__poet', 2);
    const tools = ['agent:poet', { agent: URL_OF_PARTNER, name: 'stranger' }];
    const { driver } = calls({ poet, [URL_OF_PARTNER]: poet }, { tools, budget: { tokens: 38 } }, answer);
    await driver.run();
    // The model itself has used 3 tokens for its first call.
    expect(lastWord(driver)).toBe('Error: 38 tokens are used of the 38 in budget.tokens');
    expect(payloads(driver, 'tool.result')).toEqual([expect.objectContaining({ tokens: 35 })]);
    const elsewhere = calls({ poet, [URL_OF_PARTNER]: poet }, { tools }, calling('agent__stranger'));
    await elsewhere.driver.run();
    expect(payloads(elsewhere.driver, 'tool.result')[0]).not.toHaveProperty('tokens');
  });

  // The log has the Task, WORKING, and for each call: the request, the response, the tool call, the agent's Task, and
  // the result.
  it.each([
    ['before its Task is seen', 5],
    ['after its Task is seen', 6],
    ['in the second call, which answers it', 10],
    ['after that has told of its Task', 11],
  ])('counts with the tokens that it used while the caller was away, from %s', async (_what, events) => {
    const poet: FakeCalledAgent = {
      answer: (nth) => ({ ...(nth === 0 ? asking('Which?') : answers(textPart('done'))), working }),
    };
    const { driver } = calls({ poet }, { tools: ['agent:poet'] }, calling('agent__poet', 2));
    await driver.run(events);
    await driver.run();
    expect(driver.state).toBe('completed');
    expect(payloads(driver, 'tool.result').map(({ tokens }) => tokens)).toEqual([35, 35]);
  });

  it('counts with the tokens before and after a question for a person, also where the caller was away', async () => {
    const poet: FakeCalledAgent = {
      answer: (nth) => ({ ...(nth === 0 ? asking('Which?') : answers(textPart('done'))), working }),
    };
    const { driver } = calls({ poet }, { tools: [{ agent: 'poet', onQuestion: 'ask' }] }, calling('agent__poet'));
    await driver.run(6);
    await driver.run();
    driver.answer('red');
    await driver.run(driver.log.length);
    await driver.run();
    expect(driver.state).toBe('completed');
    expect(payloads(driver, 'tool.result').map(({ tokens }) => tokens)).toEqual([70]);
  });

  it('has what it says and makes told while it works, of large Artifacts only the Task', async () => {
    const ends = Promise.withResolvers<void>();
    const poet: FakeCalledAgent = {
      answer: () => ({
        ...answers(textPart('done')),
        working: [{ says: 'reading' }, { says: 'writing' }, { makes: [textPart('x'.repeat(70_000))] }],
        ends: ends.promise,
      }),
    };
    const { driver, calledAgents } = calls({ poet }, { tools: ['agent:poet'] }, calling('agent__poet'));
    const running = driver.run();
    while (payloads(driver, 'node.progress').length < 2) await setTimeout(10);
    ends.resolve();
    await running;
    const [call] = payloads(driver, 'tool.call');
    const taskId = `task-${calledAgents.sent[0]?.message.messageId}`;
    expect(payloads(driver, 'node.progress')).toEqual([
      { tool: 'agent:poet', call: call?.id, text: 'writing' },
      { tool: 'agent:poet', call: call?.id, artifact: { artifactId: 'draft', name: 'draft', taskId } },
    ]);
    const states = driver.log.flatMap((event) => ('statusUpdate' in event ? [event.statusUpdate.status.state] : []));
    expect(new Set(states.slice(0, -1))).toEqual(new Set(['TASK_STATE_WORKING']));
  });
});
