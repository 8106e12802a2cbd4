import { CONVERSATION_ENTRY } from '#libs/agents';
import { FORM_EXTENSION, textPart } from '#libs/protocol';
import type { TaskEvent, TaskHeader } from '#libs/tasks';
import { ConversationState } from './conversation-state.js';
import { conversationView } from './conversation-view.js';
import { type Behaviour, DrivenConversation, settingsOf, TalkingAgents } from './testing/driven-conversation.js';

const APPROVAL = { asks: 'May I?', metadata: { 'parley/question': { about: 'approval', call: 'c' } } };
const ORIGIN = { taskId: 'caller', call: 'call_1' };

/** Agent that asks for an approval, and then repeats the answer that it got. */
const careful: Behaviour = (nth, text) => (nth === 0 ? APPROVAL : `did it: ${text}`);

function conversationWith(b: Behaviour, fields = {}): DrivenConversation {
  return new DrivenConversation(new TalkingAgents({ b }), settingsOf(fields));
}

const question = ({ task }: DrivenConversation): unknown => task.status.message?.parts;
function shown({ log }: DrivenConversation): unknown[] {
  const header = { taskId: 'conversation-1', createdAt: new Date(0), updatedAt: new Date(0) } as TaskHeader;
  const { paused, question: asked } = conversationView(header, log);
  return [paused, asked];
}
const turnsIn = (log: readonly TaskEvent[]): string[] =>
  ConversationState.fromLog('conversation-1', log).dialogue.turns.map(({ text }) => text);
const calls = ({ agents }: DrivenConversation, kind: string): string[] =>
  agents.calls.filter((call) => call.startsWith(kind)).map((call) => call.replace(/task-\S+/, 'its task'));

describe('an approval that an agent asks for in a conversation', () => {
  it('is asked of the caller, and the agent that has asked is sent the answer: the other agent hears the turn alone', async () => {
    const conversation = conversationWith(careful);
    expect(await conversation.start()).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(question(conversation)).toEqual([textPart('The agent "http://b" asks: May I?')]);
    expect(conversation.task.status.message?.metadata).toEqual({ 'parley/question': { about: 'agent', call: '1' } });
    expect(calls(conversation, 'send')).toEqual(['send b hello']);
    expect(shown(conversation)).toEqual([true, 'The agent "http://b" asks: May I?']);
    expect(await conversation.resume('yes')).toBe('TASK_STATE_COMPLETED');
    expect(turnsIn(conversation.log)).toEqual([
      'hello',
      'did it: yes',
      'a heard: did it: yes',
      'did it: a heard: did it: yes',
    ]);
    const [first, answer] = conversation.agents.sent;
    expect(answer?.message).toMatchObject({ taskId: `task-${first?.message.messageId}`, parts: [textPart('yes')] });
    expect(answer?.message.metadata?.[CONVERSATION_ENTRY]).toBeUndefined();
    expect(conversation.budgets.spent).toEqual(['turn', 'turn', 'turn']);
    expect(calls(conversation, 'cancel')).toEqual([]);
    expect(shown(conversation)).toEqual([undefined, undefined]);
  });

  it('is answered once wherever the execution that has the answer dies', async () => {
    const { agents, log } = await played(conversationWith(careful, { maxTurns: 0 }), 'yes');
    const received = log.findIndex((event) => 'statusUpdate' in event && event.received);
    for (let events = received + 1; events < log.length; events += 1) {
      const rest = new DrivenConversation(agents, settingsOf({ maxTurns: 0 }));
      expect(await rest.recover(log.slice(0, events))).toBe('TASK_STATE_COMPLETED');
      expect(turnsIn(rest.log)).toEqual(['hello', 'did it: yes']);
    }
    expect(agents.sent).toHaveLength(2);
  });

  it('may be one of several, and its form is kept', async () => {
    const form = { [FORM_EXTENSION]: { form: { type: 'object' } } };
    const asking: Behaviour = (nth, text) => (nth < 2 ? { asks: `Question ${nth}`, metadata: form } : text);
    const conversation = conversationWith(asking, { maxTurns: 0 });
    await conversation.start();
    expect(await conversation.resume('one')).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(question(conversation)).toEqual([textPart('The agent "http://b" asks: Question 1')]);
    expect(conversation.task.status.message?.metadata).toMatchObject(form);
    expect(await conversation.resume('two')).toBe('TASK_STATE_COMPLETED');
    expect(turnsIn(conversation.log)).toEqual(['hello', 'two']);
  });

  it('is asked again after a command that does not answer it', async () => {
    const conversation = conversationWith(careful);
    await conversation.start();
    await conversation.commands.add('', { kind: 'pause' });
    expect(await conversation.command('resume')).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(question(conversation)).toEqual([textPart('The agent "http://b" asks: May I?')]);
    expect(await conversation.resume('yes')).toBe('TASK_STATE_COMPLETED');
    expect(calls(conversation, 'send b')).toHaveLength(3);
  });

  it('is canceled where somebody says the turn in place of the agent, whose next turn is a new Task', async () => {
    const conversation = conversationWith(careful);
    await conversation.start();
    expect(await conversation.command('inject', 'said by me')).toBe('TASK_STATE_COMPLETED');
    expect(calls(conversation, 'cancel')).toEqual(['cancel b its task']);
    expect(turnsIn(conversation.log).slice(0, 3)).toEqual(['hello', 'said by me', 'a heard: said by me']);
    const last = conversation.agents.sent.at(-1)?.message;
    expect([last?.taskId, last?.contextId]).toEqual([undefined, 'context-of-b']);
  });

  it('is canceled once where the conversation is stopped, and where it is canceled', async () => {
    const stopped = conversationWith(careful);
    await stopped.start();
    expect(await stopped.command('stop')).toBe('TASK_STATE_COMPLETED');
    expect(calls(stopped, 'cancel')).toEqual(['cancel b its task']);
    const canceled = conversationWith(careful);
    await canceled.start();
    canceled.cancel();
    expect(await canceled.resume('')).toBe('TASK_STATE_CANCELED');
    expect(calls(canceled, 'cancel')).toEqual(['cancel b its task']);
  });
});

describe('a login that an agent asks for in a conversation', () => {
  const login: Behaviour = (nth) => (nth === 0 ? { asks: 'Log in', state: 'TASK_STATE_AUTH_REQUIRED' } : 'done');

  it('is asked of the caller where the model of an agent has begun the conversation', async () => {
    const conversation = conversationWith(login, { maxTurns: 0, origin: ORIGIN });
    expect(await conversation.start()).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(await conversation.resume('I have')).toBe('TASK_STATE_COMPLETED');
    expect(turnsIn(conversation.log)).toEqual(['hello', 'done']);
  });

  it('ends any other conversation', async () => {
    const conversation = conversationWith(login);
    expect(await conversation.start()).toBe('TASK_STATE_FAILED');
    const { error } = ConversationState.fromLog('conversation-1', conversation.log).dialogue;
    expect(error).toMatchObject({ code: 'AUTH_REQUIRED', turn: 1 });
  });
});

async function played(conversation: DrivenConversation, answer: string): Promise<DrivenConversation> {
  await conversation.start();
  await conversation.resume(answer);
  return conversation;
}
