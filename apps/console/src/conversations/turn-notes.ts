import type { TaskLogEvent } from '../api/task.js';

/** Data about a conversation's turns that only its log has, not the answer of the API. */
export interface TurnNotes {
  /** Id of the agent's Task for each turn, by the turn's number. */
  tasks: ReadonlyMap<number, string>;
  /** Numbers of the turns that a person injected in place of an agent. */
  injected: ReadonlySet<number>;
}

export function turnNotes(events: readonly TaskLogEvent[]): TurnNotes {
  const tasks = new Map<number, string>();
  const injected = new Set<number>();
  for (const { item } of events) {
    const { metadata = {} } = item.statusUpdate ?? {};
    const { call, taskId, command } = membersOf(metadata['parley/step']);
    if (typeof call === 'number' && typeof taskId === 'string') tasks.set(call, taskId);
    const { phase, turn } = membersOf(membersOf(metadata['parley/stream'])['data']);
    if (command !== undefined && phase === 'turn' && typeof turn === 'number') injected.add(turn);
  }
  return { tasks, injected };
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
