import type { StreamResponse } from '#libs/protocol';
import type { StoredLog } from '../../support/stored-log.js';
import { nodeHistories } from './node-history.js';
import type { Takeovers } from './takeovers.js';

/** Number of calls by their key: the id of a Message, or the text of a question. */
export type CallCounts = ReadonlyMap<string, number>;

/**
 * Returns one sentence for each Message that a remote agent received more often than allowed: once, and once more for
 * each takeover of the run after it had recorded that it would send the Message.
 */
export function overcalledAgents(stored: readonly StoredLog[], sends: CallCounts, takeovers: Takeovers): string[] {
  return stored.flatMap(nodeHistories).flatMap(({ run, node, messageId, sendingAt }) => {
    if (messageId === undefined || sendingAt === undefined) return [];
    const most = 1 + (takeovers.get(run) ?? []).filter(({ at }) => at >= sendingAt).length;
    const calls = sends.get(messageId) ?? 0;
    return calls > most ? [`run ${run}: ${node} was called ${calls} times, ${most} at most`] : [];
  });
}

/**
 * Limits of the questions to a model: each may be asked once, and once more for each takeover of the Task that asks it.
 */
export class QuestionLimits {
  private readonly most = new Map<string, number>();

  constructor(
    private readonly asked: CallCounts,
    private readonly takeovers: Takeovers,
  ) {}

  /** Raises the limits for the questions of a Task. */
  raise(log: StoredLog): void {
    const text = questionOf(log);
    if (!this.asked.has(text)) return;
    this.most.set(text, (this.most.get(text) ?? 0) + 1 + (this.takeovers.get(log.taskId)?.length ?? 0));
  }

  /**
   * Returns one sentence for each question that was asked more often than allowed. Call it after `raise` was called for
   * every Task.
   */
  exceeded(): string[] {
    return [...this.asked].flatMap(([text, calls]) => {
      const most = this.most.get(text) ?? 0;
      return calls > most ? [`the model was asked "${text.slice(0, 100)}" ${calls} times, ${most} at most`] : [];
    });
  }
}

/** Returns the text of the Message that created a Task. */
function questionOf({ events }: StoredLog): string {
  const first = JSON.parse(events[0]?.json ?? '{}') as Partial<Extract<StreamResponse, { task: unknown }>>;
  return first.task?.history?.[0]?.parts.find(({ text }) => text !== undefined)?.text ?? '';
}
