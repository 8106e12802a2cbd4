/** The job that sent a notification once more, as earlier versions enqueued it. */
export const REDELIVER = 'push.redeliver';

/** Which notification, of which config. */
export interface Redelivery {
  pushId: string;
  sequence: number;
}

/** @throws TypeError for a payload of another shape */
export function readRedelivery(payload: unknown): Redelivery {
  const { pushId, sequence } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof sequence !== 'number') throw new TypeError('It names no notification');
  return { pushId, sequence };
}
