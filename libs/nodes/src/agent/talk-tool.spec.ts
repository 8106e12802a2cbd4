import { CALL_CHAIN, ConversationEntries, REVISION_KEY } from '#libs/agents';
import type { TalkOutcome } from '#libs/durable';
import {
  agentMessage,
  dataPart,
  FORM_EXTENSION,
  type JsonObject,
  type JsonValue,
  textPart,
  userMessage,
} from '#libs/protocol';
import { answers, asking, type FakeCalledAgent, FakeCalledAgents } from '../testing/fake-called-agents.js';
import { type Answering, asks, FakeModels, says } from '../testing/fake-models.js';
import { FakeTalks } from '../testing/fake-talks.js';
import { lastWord, NotedTools, payloads } from '../testing/noted-agent.js';
import { TaskDriver } from '../testing/task-driver.js';
import { ModelExecutor } from './model-executor.js';

const conversations: FakeCalledAgent = { answer: () => answers() };
const TASK = { taskId: 'conversation', contextId: 'context' };
const TOOL = { agent: 'critic', talk: { maxTurns: 2 } };
const PAUSED: TalkOutcome = { question: { state: 'TASK_STATE_INPUT_REQUIRED' } };
const SPOKEN: TalkOutcome = { result: { conversationId: 'c', outcome: 'done', turns: [] } };

/** Returns a model that calls the critic the given number of times, and then answers with the results. */
const talking =
  (times = 1, message = 'A verse'): Answering =>
  (call) => {
    const results = call.messages.flatMap((it) => (it.role === 'tool' ? it.results : []));
    if (results.length < times) return asks(call, ['agent__critic', { message }]);
    return says(JSON.stringify(results.map(({ result, error }) => error ?? (result as JsonValue))));
  };

interface Talk {
  tool?: JsonObject;
  config?: JsonObject;
  agent?: FakeCalledAgent;
  outcome?: (conversationId: string, nth: number) => TalkOutcome | undefined;
}

/** Creates an agent whose tool is a conversation with the critic, and its Task. */
function talks(
  answer: Answering,
  { tool = {}, config = {}, agent = conversations, outcome = () => SPOKEN }: Talk = {},
) {
  const fake = new FakeTalks(outcome);
  const calledAgents = new FakeCalledAgents({ conversations: agent, critic: conversations });
  calledAgents.talks = fake;
  const models = new FakeModels(answer);
  const tools = new NotedTools();
  const entries = new ConversationEntries(calledAgents.chains);
  const services = { models, tools, agents: calledAgents, entries };
  const node = { id: 'a', type: 'agent', config: { tools: ['look', { ...TOOL, ...tool }], ...config } };
  const driver = new TaskDriver(new ModelExecutor(node, services));
  return { driver, models, calledAgents, entries, fake };
}

const results = ({ driver }: ReturnType<typeof talks>): JsonValue => JSON.parse(String(lastWord(driver)));
const conversationOf = ({ calledAgents }: ReturnType<typeof talks>) =>
  `task-${calledAgents.sent[0]?.message.messageId}`;

describe('a conversation that a model begins', () => {
  it('is asked of the conversations agent, with the calling agent as the requester, and its end is the result', async () => {
    const talk = talks(talking(), { tool: { timeout: 5, talk: { maxTurns: 2, announce: 'archive' } } });
    await talk.driver.run();
    expect(talk.calledAgents.sent.map(({ to, message }) => [to, message.parts[0]?.data])).toEqual([
      [
        'conversations',
        { requester: 'node', target: 'critic', message: 'A verse', maxTurns: 2, timeoutMs: 5_000, announce: 'archive' },
      ],
    ]);
    expect(results(talk)).toEqual([{ conversationId: 'c', outcome: 'done', turns: [] }]);
    expect(talk.fake.awaited).toEqual([`${conversationOf(talk)} to its end`]);
    expect(payloads(talk.driver, 'tool.called')).toMatchObject([{ agent: 'critic', taskId: conversationOf(talk) }]);
    expect(talk.calledAgents.spent).toEqual(['task']);
    const [chain] = talk.calledAgents.sent.map(({ message }) => message.metadata?.[CALL_CHAIN]);
    expect(chain).toMatchObject([{ root: 'task', caller: 'node', callee: 'conversations' }]);
  });

  it('names the credential of an agent elsewhere, and the result is the first answer where nobody waits', async () => {
    const tool = { agent: 'https://critic.example', name: 'critic', auth: 'key', talk: { wait: false } };
    const talk = talks(talking(), { tool, outcome: () => ({ result: { conversationId: 'c', reply: 'Nice' } }) });
    talk.calledAgents.agent = () => conversations;
    await talk.driver.run();
    expect(talk.calledAgents.sent[0]?.message.parts[0]?.data).toMatchObject({ credential: 'key', maxTurns: 5 });
    expect(results(talk)).toEqual([{ conversationId: 'c', reply: 'Nice' }]);
    expect(talk.fake.awaited).toEqual([expect.stringMatching(/to its first answer$/)]);
    expect(talk.calledAgents.others).toEqual([]);
  });

  it('is offered with one argument and a word about the conversation, and only outside of conversations', async () => {
    const outside = talks(() => says('done'));
    await outside.driver.run();
    const [, tool] = outside.models.calls[0]?.call.tools ?? [];
    expect(tool).toMatchObject({ name: 'agent__critic', inputSchema: { required: ['message'] } });
    expect(tool?.description).toContain('begins a conversation with the agent');
    expect(tool?.description).toContain('at most 2 turns follow');
    const inside = talks(() => says('done'));
    const entry = { instructions: 'Reply', role: 'target' as const, self: 'node', skip: 'REPLY_SKIP' };
    inside.driver.begin(
      inside.entries.attachEntry(entry, userMessage('hi', { messageId: 'm1' }), { tenant: '', owner: '' }),
    );
    await inside.driver.run();
    expect(inside.models.calls[0]?.call.tools?.map(({ name }) => name)).toEqual(['look']);
  });

  it('names the call, and what was said in the Task until then: texts, and the results of tools', async () => {
    const talk = talks((call) => {
      const done = call.messages.filter(({ role }) => role === 'tool').length;
      if (done === 0) return asks(call, ['look', {}]);
      return done === 1 ? asks(call, ['agent__critic', { message: 'A verse' }]) : says('done');
    });
    await talk.driver.run();
    const [, call] = payloads(talk.driver, 'tool.call');
    expect([...talk.fake.sources.values()]).toEqual([
      {
        origin: { taskId: 'task', call: call?.id },
        before: [
          { by: 'peer', text: 'go' },
          { by: 'peer', text: 'The tool "look" answered:\nlook done' },
        ],
      },
    ]);
  });

  it('is asked for in the revision that the Task was accepted by, also by another execution', async () => {
    const talk = talks(talking());
    const { task } = talk.driver;
    talk.driver.log.splice(0, 1, { task: { ...task, metadata: { [REVISION_KEY]: 'r1' } } });
    await talk.driver.run(5);
    await talk.driver.run();
    expect([...talk.fake.sources.values()]).toMatchObject([{ revision: 'r1' }]);
    expect(talk.calledAgents.revisions).toEqual(new Set(['r1']));
  });

  it('is an error result where it cannot begin, is gone, or is one too many', async () => {
    const refused = talks(talking());
    refused.calledAgents.most = 0;
    await refused.driver.run();
    expect(results(refused)).toEqual([
      'the conversation with "agent:critic" failed: BUDGET_EXCEEDED: no calls are left',
    ]);
    const gone = talks(talking(2), { tool: { maxCalls: 1 }, outcome: () => ({ error: 'the conversation is gone' }) });
    await gone.driver.run();
    expect(results(gone)).toEqual([
      'the conversation with "agent:critic" failed: the conversation is gone',
      '"agent:critic" was called 1 times already (maxCalls)',
    ]);
  });

  it('has its result cut at 256 KiB', async () => {
    const turns = [{ turn: 0, text: 'x'.repeat(300 * 1024) }];
    const talk = talks(talking(), { outcome: () => ({ result: { conversationId: 'c', outcome: 'done', turns } }) });
    await talk.driver.run();
    expect(payloads(talk.driver, 'tool.result')[0]).toMatchObject({ truncated: true });
  });

  it('begins only after a yes, where calls of agents are to be approved', async () => {
    const talk = talks(talking(), { config: { approve: ['agent:*'] } });
    await talk.driver.run();
    expect(talk.driver.state).toBe('input_required');
    expect(talk.calledAgents.sent).toEqual([]);
    talk.driver.answer('yes');
    await talk.driver.run();
    expect(talk.calledAgents.sent).toHaveLength(1);
    expect(talk.driver.state).toBe('completed');
  });
});

describe('a conversation whose requester dies', () => {
  // The log has the Task, WORKING, the request, the response and the tool call; then the conversation; then the result.
  it.each([5, 6, 7])(
    'is one conversation with one Message, whose end is the result, after %i events',
    async (events) => {
      const talk = talks(talking());
      await talk.driver.run(events);
      await talk.driver.run();
      expect(talk.driver.state).toBe('completed');
      expect(results(talk)).toEqual([{ conversationId: 'c', outcome: 'done', turns: [] }]);
      expect(new Set(talk.calledAgents.sent.map(({ message }) => message.messageId)).size).toBe(1);
      expect(talk.calledAgents.kept.size).toBe(1);
      expect(payloads(talk.driver, 'tool.call')).toHaveLength(1);
      expect(payloads(talk.driver, 'tool.called')).toHaveLength(1);
      expect(talk.calledAgents.spent).toHaveLength(1);
      expect(talk.fake.sources.size).toBe(1);
    },
  );
});

describe('a conversation that somebody pauses', () => {
  it('asks the caller of the Task, whose answer goes to the conversation once', async () => {
    const noted: number[] = [];
    const talk = talks(talking(), {
      agent: { answer: (nth) => (nth === 0 ? asking('paused') : answers()) },
      outcome: (_id, nth) => {
        noted.push(payloads(talk.driver, 'tool.called').length);
        return nth === 0 ? PAUSED : SPOKEN;
      },
    });
    await talk.driver.run();
    expect(talk.driver.state).toBe('input_required');
    expect(lastWord(talk.driver)).toContain('The conversation with "agent:critic" is paused.');
    talk.driver.answer('Go on');
    // A crash before the result does not send the answer twice.
    await talk.driver.run(talk.driver.log.length);
    await talk.driver.run();
    expect(talk.driver.state).toBe('completed');
    // The conversation is read only after the next event is durable, and therefore the answer too.
    expect(noted).toEqual([1, 2]);
    const [, answer] = talk.calledAgents.sent;
    expect(answer?.message).toMatchObject({ taskId: conversationOf(talk), parts: [textPart('Go on')] });
    expect(new Set(talk.calledAgents.sent.map(({ message }) => message.messageId)).size).toBe(2);
  });
});

describe('a question for a person in a conversation', () => {
  it('is asked of the caller of the Task with its form, and the answer goes to the conversation as it is', async () => {
    const form = { [FORM_EXTENSION]: { form: { type: 'object' } } };
    const asked = { ...agentMessage(TASK, 'The agent "critic" asks: May I?'), metadata: form };
    const talk = talks(talking(), {
      agent: { answer: (nth) => (nth === 0 ? asking('May I?') : answers()) },
      outcome: (_id, nth) => (nth === 0 ? { question: { state: 'TASK_STATE_INPUT_REQUIRED', asked } } : SPOKEN),
    });
    await talk.driver.run();
    const { status } = talk.driver.task;
    expect(status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: asked.parts, metadata: form },
    });
    expect(status.message?.metadata).toHaveProperty('parley/question');
    talk.driver.answer([dataPart({ ok: true })]);
    await talk.driver.run();
    expect(talk.driver.state).toBe('completed');
    expect(talk.calledAgents.sent[1]?.message).toMatchObject({
      taskId: conversationOf(talk),
      parts: [dataPart({ ok: true })],
    });
  });
});

describe('a Task that is canceled while it holds a conversation', () => {
  it('cancels the conversation, and says what came of that', async () => {
    const talk = talks(talking(), { outcome: () => undefined });
    const running = talk.driver.run();
    await talk.fake.hanging;
    talk.driver.cancel();
    await running;
    expect(talk.driver.state).toBe('canceled');
    expect(talk.calledAgents.others).toEqual([`cancel ${conversationOf(talk)}`]);
    expect(payloads(talk.driver, 'tool.canceled')).toEqual([
      { tool: 'agent:critic', id: expect.any(String), taskId: conversationOf(talk), outcome: 'acknowledged' },
    ]);
  });

  it('cancels also one that is paused', async () => {
    const talk = talks(talking(), { outcome: () => PAUSED });
    await talk.driver.run();
    talk.driver.cancel();
    await talk.driver.run();
    expect(talk.driver.state).toBe('canceled');
    expect(talk.calledAgents.others).toEqual([`cancel ${conversationOf(talk)}`]);
  });
});
