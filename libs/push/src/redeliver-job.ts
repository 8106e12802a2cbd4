/** Name of the job that sent a notification again, as earlier versions enqueued it. */
export const REDELIVER = 'push.redeliver';

/** Notification, and its config. */
export interface Redelivery {
  pushId: string;
  sequence: number;
}

/** Parses the payload. @throws TypeError for a payload of another shape */
export function readRedelivery(payload: unknown): Redelivery {
  const { pushId, sequence } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof sequence !== 'number') throw new TypeError('It names no notification');
  return { pushId, sequence };
}
