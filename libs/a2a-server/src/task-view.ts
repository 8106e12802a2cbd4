import type { Task } from '#libs/protocol';

/** The Task with at most `historyLength` of its newest Messages; absent: all; 0: no `history` (section 3.2.4). */
export function withHistoryLength(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history === undefined) return task;
  if (historyLength >= task.history.length) return task;
  const { history, ...rest } = task;
  return historyLength === 0 ? rest : { ...rest, history: history.slice(-historyLength) };
}

/** The Task as ListTasks shows it: `artifacts` is absent unless asked for, then always present (section 3.1.4). */
export function asListed(task: Task, options: { historyLength?: number; includeArtifacts?: boolean }): Task {
  const { artifacts, ...rest } = withHistoryLength(task, options.historyLength);
  return options.includeArtifacts ? { ...rest, artifacts: artifacts ?? [] } : rest;
}
