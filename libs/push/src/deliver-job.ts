/** The job that sent to one config, as it was enqueued before deliveries waited for their receiver. */
export const DELIVER = 'push.deliver';

/** Which config, and which of its turns. */
export interface DeliverPayload {
  pushId: string;
  turn: number;
}

/** @throws TypeError for a payload of another shape */
export function readDeliverPayload(payload: unknown): DeliverPayload {
  const { pushId, turn } = (payload ?? {}) as Record<string, unknown>;
  if (typeof pushId !== 'string' || typeof turn !== 'number') throw new TypeError('It names no turn of a config');
  return { pushId, turn };
}
