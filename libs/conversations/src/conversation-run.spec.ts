import { DrivenConversation, settingsOf, TalkingAgents } from './testing/driven-conversation.js';

/** The Tasks of `b` that were canceled. */
function canceled({ agents }: DrivenConversation): string[] {
  return agents.calls.filter((call) => call.startsWith('cancel'));
}

describe('the end of a conversation', () => {
  it('leaves no agent asking', async () => {
    const agents = new TalkingAgents({ b: () => ({ asks: 'which?' }) });
    const conversation = new DrivenConversation(agents, settingsOf({ maxTurns: 0 }));
    expect(await conversation.start()).toBe('TASK_STATE_COMPLETED');
    expect(canceled(conversation)).toEqual([`cancel b ${[...agents.kept.keys()].join()}`]);
  });

  it('cancels nothing where no agent asks', async () => {
    const conversation = new DrivenConversation(new TalkingAgents({}), settingsOf());
    expect(await conversation.start()).toBe('TASK_STATE_COMPLETED');
    expect(canceled(conversation)).toEqual([]);
  });
});
