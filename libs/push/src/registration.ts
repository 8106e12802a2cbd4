import { isJsonObject } from '#libs/protocol';
import type { PushRegistration } from './push-configs.js';

/** The job that registers a config where the process that took its Message did not come to it. */
export const REGISTER = 'push.register';

/** @throws TypeError for a payload of another shape */
export function readRegistration(payload: unknown): PushRegistration {
  if (!isJsonObject(payload) || typeof payload.taskId !== 'string' || !isJsonObject(payload.config)) {
    throw new TypeError('It is no registration of a config');
  }
  return payload as unknown as PushRegistration;
}
