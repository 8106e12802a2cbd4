import type { Job } from '#libs/platform';

/** The job that sends what a config has not had yet. */
export const DELIVER = 'push.deliver';
/** After those that other callers wait for. */
const PRIORITY = 5;
/** Failures of ours, such as a lost database; what receivers answer is no failure of the job. */
const JOB_ATTEMPTS = 25;

/** Which config, and which of its jobs: only the newest one does anything. */
export interface DeliverPayload {
  pushId: string;
  turn: number;
}

export function deliverJob(pushId: string, turn: number, runAt?: Date): Job {
  return {
    name: DELIVER,
    payload: { pushId, turn },
    maxAttempts: JOB_ATTEMPTS,
    priority: PRIORITY,
    ...(runAt && { runAt }),
  };
}

/** @throws TypeError for a payload of another shape */
export function readDeliverPayload(payload: unknown): DeliverPayload {
  const { pushId, turn } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof turn !== 'number') throw new TypeError('It names no turn of a config');
  return { pushId, turn };
}
