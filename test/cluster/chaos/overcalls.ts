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
    const most = 1 + (takeovers.get(run) ?? []).filter(({ at }) => at >= sendingAt).length;
    const calls = sends.get(messageId) ?? 0;
    return calls > most ? [`run ${run}: ${node} was called ${calls} times, ${most} at most`] : [];
  });
}

/** How often a model may be asked each question: 1 + the takeovers of the Task that asks it. */
export class QuestionLimits {
  private readonly most = new Map<string, number>();

  constructor(
    private readonly asked: CallCounts,
    private readonly takeovers: Takeovers,
  ) {}

  /** Takes a Task into account, which may ask one. */
  raise(log: StoredLog): void {
    const text = questionOf(log);
    if (!this.asked.has(text)) return;
    this.most.set(text, (this.most.get(text) ?? 0) + 1 + (this.takeovers.get(log.taskId)?.length ?? 0));
  }

  /** Returns one sentence for each question that was asked more often, once every Task is taken into account. */
  exceeded(): string[] {
    return [...this.asked].flatMap(([text, calls]) => {
      const most = this.most.get(text) ?? 0;
      return calls > most ? [`the model was asked "${text.slice(0, 100)}" ${calls} times, ${most} at most`] : [];
    });
  }
}

/** Returns the text of the Message that made a Task. */
function questionOf({ events }: StoredLog): string {
  const first = JSON.parse(events[0]?.json ?? '{}') as Partial<Extract<StreamResponse, { task: unknown }>>;
  return first.task?.history?.[0]?.parts.find(({ text }) => text !== undefined)?.text ?? '';
}
