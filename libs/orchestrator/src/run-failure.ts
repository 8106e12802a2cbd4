import { endChildrenJob, type RequestContext } from '#libs/executor';
import { briefText } from '#libs/protocol';
import type { Fact } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import type { RunCalls } from './run-calls.js';
import { failedEvents, shortenEvent } from './run-ending.js';
import type { RunState } from './run-state.js';

/** Adds the fact that a run failed to its last event: the node and the cause, in the words of the run. */
export function withFailureFact(
  end: TaskEvent,
  { taskId, call, trace }: RequestContext,
  { definition, error }: RunState,
  fault = error?.message ?? '',
): TaskEvent {
  const payload = {
    runId: taskId,
    workflow: definition.name,
    tenant: call.scope.tenant,
    ...(error?.node !== undefined && { node: error.node }),
    ...(error?.kind !== undefined && { kind: error.kind }),
    cause: briefText(fault),
    ...(trace && { traceId: trace.traceId }),
  };
  const facts: Fact[] = [{ name: 'run.failed', payload }];
  return 'statusUpdate' in end ? { ...end, facts } : end;
}

/** Returns the last events of a failed run; the last one carries the fact. */
export function reportedFailure(context: RequestContext, state: RunState, fault?: string): TaskEvent[] {
  const events = failedEvents(context, state, fault);
  return events.map((event) => (event === events.at(-1) ? withFailureFact(event, context, state, fault) : event));
}

/** Cancels all children of a run and returns its end, after the run has exceeded a limit. @param limit as a sentence */
export async function endOverLimit(
  context: RequestContext,
  state: RunState,
  calls: RunCalls,
  limit: string,
): Promise<TaskEvent> {
  const children = await calls.cancelCalls(state.frontier.active);
  const again = children.flatMap((child) => calls.retryCancelJob(child) ?? []);
  const end = failedEvents(context, state, limit).at(-1);
  if (end === undefined) throw new Error('A run ends with an event');
  const reported = withFailureFact(shortenEvent(end), context, state, limit);
  return { ...reported, jobs: [...again, endChildrenJob(context.taskId)] };
}
