import type { StreamResponse } from '#libs/protocol';
import type { StoredLog } from '../../support/stored-log.js';
import { nodeHistories } from './node-history.js';
import type { Takeovers } from './takeovers.js';

/** Number of calls by what was asked: the id of a Message, or the text of a question. */
export type CallCounts = ReadonlyMap<string, number>;

/**
 * Returns one sentence for each Message that an agent outside got more often than 1 + the takeovers of the run after it
 * had recorded that it would send it.
 */
export function overcalledAgents(stored: readonly StoredLog[], sends: CallCounts, takeovers: Takeovers): string[] {
  return stored.flatMap(nodeHistories).flatMap(({ run, node, messageId, sendingAt }) => {
    if (messageId === undefined || sendingAt === undefined) return [];
    const most = 1 + (takeovers.get(run) ?? []).filter((at) => at >= sendingAt).length;
    const calls = sends.get(messageId) ?? 0;
    return calls > most ? [`run ${run}: ${node} was called ${calls} times, ${most} at most`] : [];
  });
}

/** Returns one sentence for each question that a model was asked more often than 1 + the takeovers of its Task. */
export function overcalledModel(stored: readonly StoredLog[], asked: CallCounts, takeovers: Takeovers): string[] {
  const most = new Map<string, number>();
  for (const log of stored) {
    const text = questionOf(log);
    if (!asked.has(text)) continue;
    most.set(text, (most.get(text) ?? 0) + 1 + (takeovers.get(log.taskId)?.length ?? 0));
  }
  return [...asked].flatMap(([text, calls]) => {
    const allowed = most.get(text) ?? 0;
    return calls > allowed ? [`the model was asked "${text.slice(0, 100)}" ${calls} times, ${allowed} at most`] : [];
  });
}

/** Returns the text of the Message that made a Task. */
function questionOf({ events }: StoredLog): string {
  const first = JSON.parse(events[0]?.json ?? '{}') as Partial<Extract<StreamResponse, { task: unknown }>>;
  return first.task?.history?.[0]?.parts.find(({ text }) => text !== undefined)?.text ?? '';
}
