/** Name of the job that sent to one config, as earlier versions enqueued it. */
export const DELIVER = 'push.deliver';

/** Config, and its turn. */
export interface DeliverPayload {
  pushId: string;
  turn: number;
}

/** Parses the payload. @throws TypeError for a payload of another shape */
export function readDeliverPayload(payload: unknown): DeliverPayload {
  const { pushId, turn } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof turn !== 'number') throw new TypeError('It names no turn of a config');
  return { pushId, turn };
}
