import { isWaitingState } from '#libs/protocol';
import type { Job } from '#libs/jobs';
import type { TaskEvent } from '#libs/tasks';

/** Name of the job that checks the children of a waiting run. */
export const LOOK_AGAIN = 'runs.look-again';

/** Last event sequences of Tasks, by Task id. */
export type LastSequences = Readonly<Record<string, number>>;

/** Payload of the job: a run, and the last sequences of the Tasks that it waits for, as of the latest check. */
export interface RecheckChildren {
  runId: string;
  children: LastSequences;
}

/** Adds the job to the commit of an event by which the run begins to wait, unless the run has no local children. */
export function withRecheckJob(event: TaskEvent, { runId, children }: RecheckChildren): TaskEvent {
  if (!('statusUpdate' in event) || !isWaitingState(event.statusUpdate.status.state)) return event;
  if (Object.keys(children).length === 0) return event;
  const job: Job = { name: LOOK_AGAIN, key: `${LOOK_AGAIN}/${runId}`, payload: { runId, children } };
  return withJob(event, job);
}

/** Returns the event with a job in its commit, if there is one. */
export function withJob(event: TaskEvent, job: Job | undefined): TaskEvent {
  return job ? { ...event, jobs: [...(event.jobs ?? []), job] } : event;
}

/** Yields events, the first of them with a job in its commit, if there is one. */
export function* withFirstJob(events: Iterable<TaskEvent>, job: Job | undefined): Generator<TaskEvent> {
  let first = job;
  for (const event of events) {
    yield withJob(event, first);
    first = undefined;
  }
}

/**
 * Reads the payload of the job.
 * @throws TypeError for a payload of another shape
 */
export function readRecheckJob(payload: unknown): RecheckChildren {
  const { runId, children } = (payload ?? {}) as Record<string, unknown>;
  if (typeof runId !== 'string' || typeof children !== 'object' || children === null)
    throw new TypeError('It names no run');
  return { runId, children: children as LastSequences };
}
