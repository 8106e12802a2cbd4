import { randomUUID } from 'node:crypto';

/** The job that works off what waits for a receiver. The database enqueues it. */
export const SERVE = 'push.serve';

/** One lane of a receiver. */
export interface ServePayload {
  /** The origin that its deliveries go to. */
  receiver: string;
  /** The name under which it holds its lane, also when it is done again; the job that goes on has another. */
  holder: string;
  /** Attempts without an answer, one after the other. */
  failures: number;
}

/** @throws TypeError for a payload of another shape */
export function readServePayload(payload: unknown): ServePayload {
  const { receiver, holder = randomUUID(), failures = 0 } = (payload ?? {}) as Record<string, unknown>;
  if (typeof receiver !== 'string' || typeof holder !== 'string' || typeof failures !== 'number') {
    throw new TypeError('It names no lane of a receiver');
  }
  return { receiver, holder, failures };
}
