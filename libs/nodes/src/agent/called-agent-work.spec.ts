import { setTimeout } from 'node:timers/promises';
import { type JsonObject, textPart } from '#libs/protocol';
import { answers, type FakeCalledAgent, FakeCalledAgents } from '../testing/fake-called-agents.js';
import { type Answering, asks, says } from '../testing/fake-models.js';
import { agentWith, lastWord, NotedTools, payloads } from '../testing/noted-agent.js';

const URL_OF_PARTNER = 'https://partner.example/a2a/critic';

/** Calls a tool so often. */
const calling =
  (tool: string, times = 1): Answering =>
  (call) => {
    const done = call.messages.filter(({ role }) => role === 'tool').length;
    return done < times ? asks(call, [tool, { message: 'go' }]) : says('done');
  };

/** An agent with agents as tools, and its Task. */
function calls(agents: Record<string, FakeCalledAgent>, config: JsonObject, answer: Answering) {
  const calledAgents = new FakeCalledAgents(agents);
  return { calledAgents, ...agentWith(new NotedTools(), answer, config, undefined, calledAgents) };
}

describe('an agent that is called by a tool and works', () => {
  it('counts with its tokens, and those of the agents that it called, in the budget of its caller', async () => {
    const usage = { inputTokens: 20, outputTokens: 10 };
    const working = [
      { step: { type: 'model.response', payload: { model: 'm', step: 1, usage } } },
      { step: { type: 'tool.result', payload: { tool: 'agent:other', id: 'c', result: 'x', tokens: 5 } } },
      { step: { type: 'tool.result', payload: { tool: 'look', id: 'd', result: { tokens: 100 } } } },
    ] as const;
    const poet: FakeCalledAgent = { answer: () => ({ ...answers(textPart('done')), working: [...working] }) };
    const answer = calling('agent__poet', 2);
    const tools = ['agent:poet', { agent: URL_OF_PARTNER, name: 'stranger' }];
    const { driver } = calls({ poet, [URL_OF_PARTNER]: poet }, { tools, budget: { tokens: 38 } }, answer);
    await driver.run();
    // The model has used 3 tokens for the first call.
    expect(lastWord(driver)).toBe('Error: 38 tokens are used of the 38 in budget.tokens');
    expect(payloads(driver, 'tool.result')).toEqual([expect.objectContaining({ tokens: 35 })]);
    const elsewhere = calls({ poet, [URL_OF_PARTNER]: poet }, { tools }, calling('agent__stranger'));
    await elsewhere.driver.run();
    expect(payloads(elsewhere.driver, 'tool.result')[0]).not.toHaveProperty('tokens');
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
