/** Name of the job that held a lane of a receiver, as earlier versions enqueued it. */
export const SERVE = 'push.serve';

/** Receiver of a lane, and the name under which the job held it. */
export interface ServePayload {
  receiver: string;
  holder: string;
}

/** Parses the payload. @throws TypeError for a payload of another shape */
export function readServePayload(payload: unknown): ServePayload {
  const { receiver, holder = '' } = (payload ?? {}) as Record<string, unknown>;
  if (typeof receiver !== 'string' || typeof holder !== 'string') throw new TypeError('It names no lane of a receiver');
  return { receiver, holder };
}
