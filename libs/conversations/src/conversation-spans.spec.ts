import { turnId } from './a2a-event.js';
import { conversationSpanSteps } from './conversation-executor.js';
import { GOLDEN_CONVERSATIONS } from './testing/golden-conversations.js';

describe('conversationSpanSteps', () => {
  it.each(Object.keys(GOLDEN_CONVERSATIONS))('tells of every call by the id of its Message: %s', async (name) => {
    const { log, agents } = await GOLDEN_CONVERSATIONS[name]!();
    const [first] = log;
    const taskId = first && 'task' in first ? first.task.id : '';
    const begun = new Set(
      log.flatMap(conversationSpanSteps).flatMap((it) => ('begins' in it ? [it.begins.key[1]] : [])),
    );
    const possible = ['announce' as const, ...Array.from({ length: 30 }, (_, turn) => turn)];
    const known = new Set(possible.map((turn) => turnId(taskId, turn)));
    expect([...begun].filter((messageId) => !known.has(String(messageId)))).toEqual([]);
    const sent = new Set(agents.calls.filter((call) => call.startsWith('send ')));
    if (sent.size > 0) expect(begun.size).toBeGreaterThan(0);
  });
});
