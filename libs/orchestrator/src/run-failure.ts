import { Logger } from '@nestjs/common';
import { endChildrenJob } from '#libs/executor';
import { briefText, type TaskReference } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { RunCalls } from './run-calls.js';
import { failedEvents, shortened } from './run-ending.js';
import type { RunState } from './run-state.js';

const LOGGER = new Logger('Runs');

/** Logs one line for whoever operates the service: which run failed, at which node, and why, in the words of the run. */
export function logRunFailure(runId: string, { definition, error }: RunState, fault = error?.message ?? ''): void {
  const node = error?.node;
  const line = { workflow: definition.name, ...(node !== undefined && { node }), cause: briefText(fault) };
  LOGGER.warn({ runId, ...line }, 'A run failed');
}

/** Cancels all that a run called for, and makes the end of a run that may hold no more. @param limit in a sentence */
export async function endOverLimit(
  reference: TaskReference,
  state: RunState,
  calls: RunCalls,
  limit: string,
): Promise<TaskEvent> {
  logRunFailure(reference.taskId, state, limit);
  const children = await calls.cancel(state.frontier.active);
  const again = children.flatMap((child) => calls.cancelAgain(child) ?? []);
  const end = failedEvents(reference, state, limit).at(-1);
  if (end === undefined) throw new Error('A run ends with an event');
  return { ...shortened(end), jobs: [...again, endChildrenJob(reference.taskId)] };
}
