import type { Job } from '#libs/jobs';

/** The job that sends a notification once more. */
export const REDELIVER = 'push.redeliver';

export interface RedeliverPayload {
  pushId: string;
  sequence: number;
}

export function redeliverJob({ pushId, sequence }: RedeliverPayload): Job {
  return { name: REDELIVER, payload: { pushId, sequence }, priority: 5 };
}

/** @throws TypeError for a payload of another shape */
export function readRedelivery(payload: unknown): RedeliverPayload {
  const { pushId, sequence } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof sequence !== 'number') throw new TypeError('It names no notification');
  return { pushId, sequence };
}
