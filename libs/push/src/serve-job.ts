import { randomUUID } from 'node:crypto';
import type { Job } from '#libs/platform';

/** The job that works off what waits for a receiver. The database enqueues it too (push_call). */
export const SERVE = 'push.serve';
/** After those that other callers wait for. */
const PRIORITY = 5;
/** Failures of ours, such as a lost database; what receivers answer is no failure of the job. */
const JOB_ATTEMPTS = 25;

/** One lane of a receiver. */
export interface ServePayload {
  /** The origin that its deliveries go to. */
  receiver: string;
  /** The name under which it holds its lane, also when it is done again. */
  holder: string;
  /** Attempts without an answer, one after the other. */
  failures: number;
}

/** The same lane goes on later. */
export function serveJob({ receiver, holder, failures }: ServePayload, runAt: Date): Job {
  const payload = { receiver, holder, failures };
  return { name: SERVE, payload, maxAttempts: JOB_ATTEMPTS, priority: PRIORITY, runAt };
}

/** @throws TypeError for a payload of another shape */
export function readServePayload(payload: unknown): ServePayload {
  const { receiver, holder = randomUUID(), failures = 0 } = (payload ?? {}) as Record<string, unknown>;
  if (typeof receiver !== 'string' || typeof holder !== 'string' || typeof failures !== 'number') {
    throw new TypeError('It names no lane of a receiver');
  }
  return { receiver, holder, failures };
}
