import { isWaitingState } from '#libs/protocol';
import type { Job } from '#libs/jobs';
import type { TaskEvent } from '#libs/tasks';

/** The job that looks at what a run asks for, once that the run waits. */
export const LOOK_AGAIN = 'runs.look-again';

/** The last sequences of Tasks, by their ids. */
export type LastSequences = Readonly<Record<string, number>>;

/** Which run, and how far the Tasks of the nodes that it asks for were by its last look. */
export interface LookAgain {
  runId: string;
  children: LastSequences;
}

/** The event with such a job in its commit, if the run waits from then on; those of agents outside are not looked at. */
export function lookingAgain(event: TaskEvent, { runId, children }: LookAgain): TaskEvent {
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

/** @throws TypeError for a payload of another shape */
export function readLookAgain(payload: unknown): LookAgain {
  const { runId, children } = (payload ?? {}) as Record<string, unknown>;
  if (typeof runId !== 'string' || typeof children !== 'object' || children === null)
    throw new TypeError('It names no run');
  return { runId, children: children as LastSequences };
}
