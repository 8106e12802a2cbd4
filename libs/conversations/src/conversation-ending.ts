import { artifactUpdate, dataPart, type JsonObject, statusUpdate, type TaskReference, textPart } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { ConversationOutcome } from './conversation.js';
import type { Dialogue } from './dialogue.js';

/** Name of the only Artifact: the last text, and a data Part with the outcome and the turns. */
const RESULT = 'conversation';

/** Returns the events that end a conversation's Task, after its complete event: the result, and the final state. */
export function endingEvents(reference: TaskReference, dialogue: Dialogue): TaskEvent[] {
  const { outcome = 'error', error } = dialogue;
  if (outcome === 'canceled') return [statusUpdate(reference, 'TASK_STATE_CANCELED')];
  const result = artifactUpdate(reference, { artifactId: RESULT, name: RESULT, parts: resultParts(dialogue, outcome) });
  if (outcome === 'error' || outcome === 'timeout') {
    const said = error ? `turn ${error.turn}: ${error.message}` : 'the conversation failed';
    return [result, statusUpdate(reference, 'TASK_STATE_FAILED', said)];
  }
  return [result, statusUpdate(reference, 'TASK_STATE_COMPLETED', dialogue.lastText)];
}

function resultParts({ lastText, turns }: Dialogue, outcome: ConversationOutcome) {
  const said = turns.map(({ turn, fromAgent, toAgent, text }) => ({ turn, fromAgent, toAgent, text }));
  return [textPart(lastText), dataPart({ outcome, turns: said as unknown as JsonObject[] })];
}
