import { isJsonObject, type JsonValue, runEventNote, type RunEventNote } from '#libs/protocol';
import type { TaskStore } from '#libs/tasks';

/** Number of events that are read at once. */
const PAGE = 100;

/** Returns the tokens recorded in the log of a local Task; 0 if there is no such Task. */
export async function loggedTokens(store: Pick<TaskStore, 'readEvents'>, taskId: string): Promise<number> {
  let tokens = 0;
  for (let after = 0; ;) {
    const events = await store.readEvents(taskId, after, PAGE);
    for (const { event } of events)
      if ('statusUpdate' in event) tokens += tokensIn(runEventNote(event.statusUpdate.metadata));
    if (events.length < PAGE) return tokens;
    after += events.length;
  }
}

/** Returns the tokens that a step reports: those of a model's answer, or of the agents that the called agent called. */
export function tokensIn({ type, payload }: Partial<RunEventNote> = {}): number {
  const usage = payload?.['usage'];
  if (type === 'tool.result') return numberOf(payload?.['tokens']);
  if (type !== 'model.response' || !isJsonObject(usage)) return 0;
  return numberOf(usage.inputTokens) + numberOf(usage.outputTokens);
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}
