import { randomUUID } from 'node:crypto';
import type { Job } from '#libs/jobs';

/** The job that sends a notification once more. */
export const REDELIVER = 'push.redeliver';

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/** Which notification, of which config. */
export interface Redelivery {
  pushId: string;
  sequence: number;
  /** The origin that it goes to. */
  receiver: string;
}

export interface RedeliverPayload extends Redelivery {
  /** The name under which the job holds a lane of the receiver, also when it is done again. */
  holder: string;
  /** How often it found no lane. */
  putOff: number;
}

export function redeliverJob({ pushId, sequence, receiver }: Redelivery): Job {
  return jobOf({ pushId, sequence, receiver, holder: randomUUID(), putOff: 0 });
}

/** The job once more, for a time at which there may be a lane; many that wait for a slow receiver look ever less often. */
export function redeliverLater({ putOff, ...job }: RedeliverPayload): Job {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** putOff, LONGEST_PAUSE_MS);
  const runAt = new Date(Date.now() + pause * (0.5 + Math.random() / 2));
  return { ...jobOf({ ...job, holder: randomUUID(), putOff: putOff + 1 }), runAt };
}

/** @throws TypeError for a payload of another shape */
export function readRedelivery(payload: unknown): RedeliverPayload {
  const { pushId, sequence, ...said } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof sequence !== 'number') throw new TypeError('It names no notification');
  // One of an earlier version says no more.
  const { receiver = '', holder = randomUUID(), putOff = 0 } = said as Partial<RedeliverPayload>;
  return { pushId, sequence, receiver, holder, putOff };
}

function jobOf(payload: RedeliverPayload): Job {
  return { name: REDELIVER, payload: { ...payload }, priority: 5 };
}
