import { isJsonObject } from '#libs/protocol';
import type { CheckedPushConfig, PushRegistration } from './push-configs.js';
import type { PushSecretBox } from './push-secrets.js';

/** Name of the job that registers a config if the process that accepted its Message did not. */
export const REGISTER = 'push.register';

/** Registration in its job: its config contains no secret, `sealed` has them. */
export interface KeptRegistration extends PushRegistration {
  sealed?: string | null;
}

/** Parses the payload. @throws TypeError for a payload of another shape */
export function readRegistration(payload: unknown): KeptRegistration {
  if (!isJsonObject(payload) || typeof payload.taskId !== 'string' || !isJsonObject(payload.config)) {
    throw new TypeError('It is no registration of a config');
  }
  return payload as unknown as KeptRegistration;
}

export function sealedRegistration(registration: PushRegistration, secrets: PushSecretBox): Record<string, unknown> {
  const { taskId, config } = registration;
  const { id, url, token, authentication } = config;
  const sealed = secrets.sealSecrets({ taskId, configId: id }, { token, credentials: authentication?.credentials });
  const noted: CheckedPushConfig = {
    id,
    url,
    ...(authentication && { authentication: { scheme: authentication.scheme } }),
  };
  return { ...registration, config: noted, sealed };
}

/** Opens the secrets of a registration. @throws UnreadableSecret */
export function openRegistration(
  { sealed, ...registration }: KeptRegistration,
  secrets: PushSecretBox,
): PushRegistration {
  if (!sealed) return registration;
  const { taskId, config } = registration;
  const place = { taskId, configId: config.id, sealed, token: null, credentials: null };
  const { token, credentials } = secrets.openSecrets(place);
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
