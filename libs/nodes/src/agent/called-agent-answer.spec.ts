import { AgentCallError } from '#libs/a2a-client';
import { type JsonObject, type JsonValue, textPart } from '#libs/protocol';
import {
  answers,
  asking,
  type CalledAgentAnswer,
  type FakeCalledAgent,
  FakeCalledAgents,
} from '../testing/fake-called-agents.js';
import { type Answering, asks, says } from '../testing/fake-models.js';
import { agentWith, lastWord, NotedTools } from '../testing/noted-agent.js';

const UNREACHABLE = new AgentCallError('connect', 'no connection', { unsent: true });
const REFUSED = new AgentCallError('rpc-error', 'a2a error -32004: the Task has ended', { code: -32_004 });

/**
 * Returns a fake agent. It asks a question first, fails with the error at the second Message, and then answers each
 * Message with its text.
 */
const failingOnce = (error: AgentCallError, asked: CalledAgentAnswer = asking('Which color?')): FakeCalledAgent => ({
  answer: (nth, { parts }) => {
    if (nth === 0) return asked;
    return nth === 1 ? { state: 'TASK_STATE_FAILED', error } : answers(textPart(`${parts[0]?.text}!`));
  },
});

/** Returns a model that sends the poet one message after the other, and then answers with the results. */
const saying =
  (...messages: string[]): Answering =>
  (call) => {
    const results = call.messages.flatMap((it) => (it.role === 'tool' ? it.results : []));
    const message = messages[results.length];
    if (message !== undefined) return asks(call, ['agent__poet', { message }]);
    return says(JSON.stringify(results.map(({ result, error }) => error ?? (result as JsonValue))));
  };

/** Creates an agent that may call the poet as a tool. */
function agentOf(poet: FakeCalledAgent, answer: Answering, tool: JsonObject = {}) {
  const calledAgents = new FakeCalledAgents({ poet });
  const tools = [{ agent: 'poet', ...tool }];
  return { calledAgents, ...agentWith(new NotedTools(), answer, { tools }, undefined, calledAgents) };
}

type Agent = ReturnType<typeof agentOf>;
const results = ({ driver }: Agent): JsonValue => JSON.parse(String(lastWord(driver)));
/** Returns the id of the Task that asks the question. */
const asker = ({ calledAgents }: Agent): string => `task-${calledAgents.sent[0]?.message.messageId}`;
/** Returns the ids of the Tasks to which the Messages were sent. */
const answered = ({ calledAgents }: Agent) => calledAgents.sent.map(({ message }) => message.taskId);
const contexts = ({ calledAgents }: Agent) => calledAgents.sent.map(({ message }) => message.contextId);
const canceled = ({ calledAgents }: Agent) =>
  calledAgents.others.flatMap((call) => (call.startsWith('cancel ') ? [call.slice('cancel '.length)] : []));

const ASKED = { status: 'input-required', text: 'Which color?' };

describe('an answer of the model that does not reach the agent', () => {
  it('leaves the Task to the next call, in its context', async () => {
    const agent = agentOf(failingOnce(UNREACHABLE), saying('go', 'red', 'blue'));
    await agent.driver.run();
    expect(results(agent)).toEqual([
      ASKED,
      'the call of "agent:poet" failed: no connection',
      { status: 'completed', text: 'blue!' },
    ]);
    expect(answered(agent)).toEqual([undefined, asker(agent), asker(agent)]);
    expect(contexts(agent)[2]).toBe(contexts(agent)[1]);
    expect(agent.calledAgents.others).toEqual([]);
  });

  // The log has the Task, WORKING, and for each call: the request, the response, the tool call, the agent's Task once
  // it is seen, and the result.
  it.each([11, 12, 13, 14, 15])('does so also where the caller dies after %i events', async (events) => {
    const agent = agentOf(failingOnce(UNREACHABLE), saying('go', 'red', 'blue'));
    await agent.driver.run(events);
    await agent.driver.run();
    expect(results(agent)).toMatchObject([ASKED, expect.any(String), { text: 'blue!' }]);
    expect(new Set(answered(agent).slice(1))).toEqual(new Set([asker(agent)]));
  });

  it('leaves the Task to the end, which cancels it', async () => {
    const agent = agentOf(failingOnce(UNREACHABLE), saying('go', 'red'));
    await agent.driver.run();
    expect(agent.driver.state).toBe('completed');
    expect(agent.calledAgents.others).toEqual([`cancel ${asker(agent)}`]);
  });

  it('leaves the Task waiting where the budget is used up', async () => {
    const agent = agentOf(failingOnce(UNREACHABLE), saying('go', 'red'));
    agent.calledAgents.most = 1;
    await agent.driver.run();
    expect(results(agent)).toEqual([ASKED, expect.stringContaining('BUDGET_EXCEEDED')]);
    expect(agent.calledAgents.sent).toHaveLength(1);
    expect(agent.calledAgents.others).toEqual([`cancel ${asker(agent)}`]);
  });

  it('leaves the Task to a cancel of the caller', async () => {
    const agent = agentOf(
      {
        answer: (nth, message) =>
          nth < 2 ? failingOnce(UNREACHABLE).answer(nth, message) : { ...answers(), hangs: true },
      },
      saying('go', 'red', 'blue'),
    );
    const running = agent.driver.run();
    await agent.calledAgents.hanging;
    agent.driver.cancel();
    await running;
    expect(agent.driver.state).toBe('canceled');
    expect(agent.calledAgents.others).toEqual([`cancel ${asker(agent)}`]);
  });
});

describe('an answer that is for no other call', () => {
  it('begins another Task where the agent refuses it, and the end cancels the one that asked', async () => {
    const agent = agentOf(failingOnce(REFUSED), saying('go', 'red', 'blue'));
    await agent.driver.run();
    expect(results(agent)).toMatchObject([ASKED, expect.any(String), { text: 'blue!' }]);
    expect(answered(agent)).toEqual([undefined, asker(agent), undefined]);
    expect(contexts(agent)[2]).toBe(contexts(agent)[1]);
    expect(agent.calledAgents.others).toEqual([`cancel ${asker(agent)}`]);
  });

  it.each([
    ['the config lets a person answer', asking('Which color?'), { onQuestion: 'ask' }],
    ['only a person may answer', asking('May I?', { 'parley/question': { about: 'approval', call: 'c' } }), {}],
  ])('is not given by the model where %s, and the end cancels the Task', async (_what, asked, tool) => {
    const agent = agentOf(failingOnce(UNREACHABLE, asked), saying('go', 'blue'), tool);
    await agent.driver.run();
    expect(agent.driver.state).toBe('input_required');
    agent.driver.answer('red');
    await agent.driver.run();
    expect(agent.driver.state).toBe('completed');
    expect(results(agent)).toEqual([
      'the call of "agent:poet" failed: no connection',
      { status: 'completed', text: 'blue!' },
    ]);
    expect(answered(agent)).toEqual([undefined, asker(agent), undefined]);
    expect(canceled(agent)).toEqual([asker(agent)]);
  });
});
