import { firstText, type Task } from '#libs/protocol';
import { type TaskEvent, TaskFold } from '#libs/tasks';
import { readRunMetadata } from '../state/run-metadata.js';
import { runStatus } from '../state/run-state.js';
import { revisionMember } from './run-event.js';
import type { RunSource, RunView } from './run-view.js';

const GONE = 'The definition that the run was started with is gone: the run can only be canceled.';

function foldedTask([first, ...rest]: readonly TaskEvent[]): Partial<Task> {
  if (first === undefined) return {};
  const fold = TaskFold.beginTask(first);
  for (const event of rest) fold.applyEvent(event);
  return fold.toTask();
}

/** Returns the response for a run whose definition no longer exists: its Task, without its nodes. */
export function undefinedRunView({ header, events }: Omit<RunSource, 'definition'>, workflow: string): RunView {
  const { artifacts, metadata, status: last } = foldedTask(events);
  const status = runStatus(header.state);
  const { inputs = {} } = readRunMetadata(metadata);
  const message = (status === 'failed' && firstText(last?.message?.parts ?? [])) || GONE;
  return {
    runId: header.taskId,
    workflow,
    ...revisionMember(events),
    status,
    contextId: header.contextId,
    inputs,
    ...(artifacts && { result: artifacts }),
    ...(status !== 'completed' && { error: { message } }),
    ...(status === 'canceled' && { children: [] }),
    nodes: {},
    state: {},
    artifacts: {},
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}
