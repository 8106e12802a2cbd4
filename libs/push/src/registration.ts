import { isJsonObject } from '#libs/protocol';
import type { CheckedPushConfig, PushRegistration } from './push-configs.js';
import type { PushSecretBox } from './push-secrets.js';

/** The job that registers a config where the process that took its Message did not come to it. */
export const REGISTER = 'push.register';

/** A registration as its job has it: its config says no secret, `sealed` has them. */
export interface KeptRegistration extends PushRegistration {
  sealed?: string | null;
}

/** @throws TypeError for a payload of another shape */
export function readRegistration(payload: unknown): KeptRegistration {
  if (!isJsonObject(payload) || typeof payload.taskId !== 'string' || !isJsonObject(payload.config)) {
    throw new TypeError('It is no registration of a config');
  }
  return payload as unknown as KeptRegistration;
}

export function sealedRegistration(registration: PushRegistration, secrets: PushSecretBox): Record<string, unknown> {
  const { taskId, config } = registration;
  const { id, url, token, authentication } = config;
  const sealed = secrets.seal({ taskId, configId: id }, { token, credentials: authentication?.credentials });
  const noted: CheckedPushConfig = {
    id,
    url,
    ...(authentication && { authentication: { scheme: authentication.scheme } }),
  };
  return { ...registration, config: noted, sealed };
}

/** @throws UnreadableSecret */
export function openRegistration(
  { sealed, ...registration }: KeptRegistration,
  secrets: PushSecretBox,
): PushRegistration {
  if (!sealed) return registration;
  const { taskId, config } = registration;
  const place = { taskId, configId: config.id, sealed, token: null, credentials: null };
  const { token, credentials } = secrets.open(place);
  const { authentication } = config;
  return {
    ...registration,
    config: {
      ...config,
      ...(token !== undefined && { token }),
      ...(authentication && {
        authentication: { ...authentication, ...(credentials !== undefined && { credentials }) },
      }),
    },
  };
}
