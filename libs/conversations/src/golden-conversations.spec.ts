import { join } from 'node:path';
import { ANONYMOUS_SCOPE, type TaskEvent } from '#libs/tasks';
import { eventsOf, type Fold, goldenLog, GoldenLogs, timeless } from '../../../test/support/golden-log.js';
import { ConversationState } from './conversation-state.js';
import { conversationView } from './conversation-view.js';
import { GOLDEN_CONVERSATIONS } from './testing/golden-conversations.js';

const LOGS = new GoldenLogs(join(import.meta.dirname, 'testing/golden'));

/** Returns the view that callers get of a log, and the state from which the next execution continues. */
const folded: Fold = (log) => {
  const { sessions, calls, command, injection, taskState, dialogue } = ConversationState.fromLog('conversation-1', log);
  const going = { sessions, calls: Object.fromEntries(calls), command, injection, taskState };
  return { ...going, pending: dialogue.findPending(), view: viewOf(log) };
};

function viewOf(log: readonly TaskEvent[]): unknown {
  const header = {
    taskId: 'conversation-1',
    contextId: 'context-1',
    ...ANONYMOUS_SCOPE,
    agent: 'conversations',
    state: 'TASK_STATE_WORKING' as const,
    lastSequence: log.length,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  return conversationView(header, log);
}

describe.each(Object.entries(GOLDEN_CONVERSATIONS))('the golden conversation %s', (name, play) => {
  test('is logged as it was, and made the same calls', async () => {
    const { log, agents, budgets } = await play();
    const calls = [...agents.calls, ...budgets.spent.map((what) => `spend ${what}`)];
    LOGS.record(name, () => goldenLog(timeless(log), folded), { calls });
    const golden = LOGS.read(name);
    expect(timeless(log)).toEqual(eventsOf(golden.log));
    expect({ calls }).toEqual(golden.head);
  });

  test('every beginning of its log gives what it gave', () => {
    const { log } = LOGS.read(name);
    expect(goldenLog(eventsOf(log), folded)).toEqual(log);
  });
});
