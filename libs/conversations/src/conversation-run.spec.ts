import { AgentCallError } from '#libs/a2a-client';
import { isWaitingState, statusUpdate } from '#libs/protocol';
import { type Announcement, readStep } from './conversation-state.js';
import { DrivenConversation, settingsOf, TalkingAgents } from './testing/driven-conversation.js';

/** Returns the cancels of Tasks that the conversation has made. */
function canceled({ agents }: DrivenConversation): string[] {
  return agents.calls.filter((call) => call.startsWith('cancel'));
}

/** Returns the outcomes of the announcement that the log records. */
function announcements({ log }: DrivenConversation): Announcement[] {
  return log.flatMap((event) => readStep(event).announcement ?? []);
}

describe('the end of a conversation', () => {
  it('leaves no agent asking', async () => {
    const agents = new TalkingAgents({ b: () => ({ asks: 'which?' }) });
    const conversation = new DrivenConversation(agents, settingsOf({ maxTurns: 0 }));
    expect(await conversation.start()).toBe('TASK_STATE_COMPLETED');
    expect(canceled(conversation)).toEqual([`cancel b ${[...agents.kept.keys()].join()}`]);
  });

  it.each([
    ['the other side', undefined],
    ['a person', { 'parley/question': { about: 'approval', call: 'c' } }],
  ])('cancels an agent that asked where the answer of %s does not reach it', async (_who, metadata) => {
    const unreachable = new AgentCallError('connect', 'refused', { unsent: true });
    const asking = { asks: 'which?', ...(metadata && { metadata }) };
    const agents = new TalkingAgents({ b: (nth) => (nth === 0 ? asking : unreachable) });
    const conversation = new DrivenConversation(agents, settingsOf());
    await conversation.start();
    if (metadata) await conversation.resume('yes');
    expect(conversation.task.status.state).toBe('TASK_STATE_FAILED');
    const [asker] = agents.kept.keys();
    expect(canceled(conversation)).toEqual([`cancel b ${asker}`]);
  });

  it.each(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const)(
    'cancels an announcer that waits with %s, and the announcement has failed',
    async (state) => {
      const agents = new TalkingAgents({ c: () => ({ asks: 'May I?', state }) });
      const conversation = new DrivenConversation(agents, settingsOf({ announce: 'http://c', maxTurns: 0 }));
      expect(await conversation.start()).toBe('TASK_STATE_COMPLETED');
      expect(canceled(conversation)).toEqual([`cancel c ${[...agents.kept.keys()].at(-1)}`]);
      expect(announcements(conversation)).toEqual(['failed']);
    },
  );

  it('notes a failed announcement also where a kill came between the cancel of the announcer and the note', async () => {
    const agents = new TalkingAgents({ c: () => ({ asks: 'May I?' }) });
    const first = new DrivenConversation(agents, settingsOf({ announce: 'http://c', maxTurns: 0 }));
    await first.start();
    const [announcing, reference] = [[...agents.kept.keys()].at(-1) ?? '', { contextId: 'context-of-c' }];
    agents.kept.set(announcing, [statusUpdate({ taskId: announcing, ...reference }, 'TASK_STATE_CANCELED')]);
    const rest = new DrivenConversation(agents, first.settings);
    const noted = first.log.findIndex((event) => JSON.stringify(event).includes('"announcement"'));
    expect(await rest.recover(first.log.slice(0, noted))).toBe('TASK_STATE_COMPLETED');
    expect(announcements(rest)).toEqual(['failed']);
    expect(agents.sent.filter(({ to }) => to === 'c')).toHaveLength(1);
  });

  it('leaves no agent at work, nor one that asks, where the conversation is too large', async () => {
    const agents = new TalkingAgents({ b: () => ({ asks: 'which?' }), a: () => ({ hangs: true }) });
    const conversation = new DrivenConversation(agents, settingsOf());
    conversation.onEvent = () => {
      if (agents.calls.some((call) => call.startsWith('send a'))) throw new Error('too large');
    };
    await expect(conversation.start()).rejects.toThrow('too large');
    const tasks = agents.sent.map(({ to, message: { messageId } }) => `cancel ${to} task-${messageId}`);
    expect(tasks).toHaveLength(2);
    expect(new Set(canceled(conversation))).toEqual(new Set(tasks));
  });

  it('leaves no agent asking whose question for a person is too large for the conversation', async () => {
    const approval = { asks: 'May I?', metadata: { 'parley/question': { about: 'approval', call: 'c' } } };
    const agents = new TalkingAgents({ b: () => approval });
    const conversation = new DrivenConversation(agents, settingsOf());
    conversation.onEvent = (event) => {
      if ('statusUpdate' in event && isWaitingState(event.statusUpdate.status.state)) throw new Error('too large');
    };
    await expect(conversation.start()).rejects.toThrow('too large');
    expect(canceled(conversation)).toEqual([`cancel b ${[...agents.kept.keys()].join()}`]);
  });

  it('cancels nothing where no agent asks', async () => {
    const conversation = new DrivenConversation(new TalkingAgents({}), settingsOf());
    expect(await conversation.start()).toBe('TASK_STATE_COMPLETED');
    expect(canceled(conversation)).toEqual([]);
  });
});
