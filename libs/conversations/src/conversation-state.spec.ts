import { statusUpdate, streamEventMetadata, submittedTask, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { type A2aDraft, a2aEvent } from './a2a-event.js';
import {
  ConversationState,
  type ConversationStep,
  settingsMetadata,
  stepMetadata,
  WAKE_KEY,
} from './conversation-state.js';

const REFERENCE = { taskId: 'c', contextId: 'x' };
const SETTINGS = { requester: 'A', target: 'B', message: 'hello', maxTurns: 5, timeoutMs: 1_000 };
const BEGUN: TaskEvent = {
  task: submittedTask(REFERENCE, userMessage('any'), settingsMetadata(SETTINGS)),
};

const step = (fields: ConversationStep): TaskEvent =>
  statusUpdate(REFERENCE, 'TASK_STATE_WORKING', undefined, stepMetadata(fields));

/** Returns the log of a conversation with turns of these texts. */
function emitted(...texts: string[]): TaskEvent[] {
  const log = [BEGUN];
  for (const text of texts) {
    const state = ConversationState.fromLog('c', log);
    const draft: A2aDraft | undefined = state.dialogue.draftOpening();
    const pending = state.dialogue.findPending();
    const next = draft ?? (pending && state.dialogue.draftReply(pending, { text }));
    if (!next) throw new Error('Nothing is pending');
    const event = a2aEvent(next, state.dialogue.emitted, 1);
    log.push(statusUpdate(REFERENCE, 'TASK_STATE_WORKING', undefined, streamEventMetadata(event)));
  }
  return log;
}

describe('ConversationState', () => {
  it('goes on where the log ends', () => {
    const state = ConversationState.fromLog('c', emitted('hello', 'B1', 'A1'));
    expect(state.dialogue.turns.map(({ text }) => text)).toEqual(['hello', 'B1', 'A1']);
    expect(state.dialogue.findPending()).toEqual({ turn: 3, speaker: 'target', text: 'A1' });
  });

  it('knows each side by its context, and by its Task only while that waits', () => {
    const log = [
      ...emitted('hello'),
      step({ call: 1, taskId: 'b1' }),
      step({ call: 1, taskId: 'b1', contextId: 'cb', waiting: true }),
      step({ call: 2, taskId: 'a1', contextId: 'ca', waiting: false }),
    ];
    const { sessions, calls } = ConversationState.fromLog('c', log);
    expect(sessions).toEqual({ target: { contextId: 'cb', taskId: 'b1' }, requester: { contextId: 'ca' } });
    expect([...calls]).toEqual([
      [1, 'b1'],
      [2, 'a1'],
    ]);
  });

  it('is paused until it is told to go on, and counts the commands that were carried out', () => {
    const log = [...emitted('hello'), step({ command: 1, paused: true })];
    expect(ConversationState.fromLog('c', log)).toMatchObject({ paused: true, command: 1 });
    log.push(step({ command: 2, paused: false }));
    expect(ConversationState.fromLog('c', log)).toMatchObject({ paused: false, command: 2 });
  });

  it('knows since when the call is next or under way: a pause is no part of its time, a Task that is seen begins none', () => {
    const at = (event: TaskEvent, second: number): TaskEvent => {
      if ('statusUpdate' in event) event.statusUpdate.status.timestamp = `2030-01-01T00:00:0${second}.000Z`;
      return event;
    };
    const since = (log: readonly TaskEvent[]): number =>
      new Date(ConversationState.fromLog('c', log).callSince).getSeconds();
    const log = [...emitted('hello').map((event) => at(event, 1)), at(step({ call: 1, taskId: 'b1' }), 2)];
    expect(since(log)).toBe(1);
    log.push(at(step({ command: 1, paused: true }), 3), at(step({ command: 2, paused: false }), 4));
    expect(since(log)).toBe(4);
  });

  it('takes what an A2A caller says to it as the next turn, but not what only wakes it', () => {
    const waiting = statusUpdate(REFERENCE, 'TASK_STATE_INPUT_REQUIRED');
    const answered = (message: ReturnType<typeof userMessage>): ConversationState =>
      ConversationState.fromLog('c', [
        ...emitted('hello'),
        step({ command: 1, paused: true }),
        waiting,
        { ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'), received: message },
      ]);
    expect(answered(userMessage('mine'))).toMatchObject({ paused: false, injection: 'mine' });
    const wake = answered(userMessage('Go on.', { metadata: { [WAKE_KEY]: true } }));
    expect(wake).toMatchObject({ paused: true, injection: undefined });
  });

  it('was cut where its Task ended without a word of it', () => {
    const log = [...emitted('hello'), statusUpdate(REFERENCE, 'TASK_STATE_FAILED')];
    expect(ConversationState.fromLog('c', log).cut).toBe(true);
  });

  it('is no conversation where the Task is none', () => {
    const log: TaskEvent[] = [{ task: submittedTask(REFERENCE, userMessage('any')) }];
    expect(() => ConversationState.fromLog('c', log)).toThrow('not one of a conversation');
  });
});
