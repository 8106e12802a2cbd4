import type { RecordedEvent } from '#libs/tasks';
import type { DueConfig } from './due-config.js';
import type { PushSecrets } from './push-secrets.js';

/** Header with the id of a notification. Repeats have the same id, so that the receiver can recognize them. */
export const NOTIFICATION_ID = 'x-a2a-notification-id';
/** Header with the config's `token`, under the name that A2A's SDKs use. */
export const NOTIFICATION_TOKEN = 'x-a2a-notification-token';
/** Header with a JWS with detached content (RFC 7515, appendix F) over the body. */
export const NOTIFICATION_SIGNATURE = 'x-a2a-notification-signature';

/** Notification of one event. */
export interface Notification {
  id: string;
  body: string;
  contentType: string;
}

/** True for configs that came through A2A 0.3, which get the notifications of 0.3. */
export function isLegacyConfig({ wireVersion }: Pick<DueConfig, 'wireVersion'>): boolean {
  return wireVersion === '0.3';
}

/**
 * Builds the notification of an event; the id is also that of its delivery in the ledger.
 * @param legacyBody body of A2A 0.3, for a config of 0.3
 */
export function notificationOf(config: DueConfig, event: RecordedEvent, legacyBody?: string): Notification {
  return {
    id: notificationId(config.pushId, event.sequence),
    body: legacyBody ?? event.json,
    contentType: legacyBody === undefined ? 'application/a2a+json' : 'application/json',
  };
}

export function notificationId(pushId: string, sequence: number): string {
  return `${pushId}.${sequence}`;
}

/** Parses a notification's id; returns `undefined` for other text. */
export function readNotificationId(id: string): { pushId: string; sequence: number } | undefined {
  const match = /^([0-9a-f-]{36})\.(\d{1,9})$/.exec(id);
  return match ? { pushId: match[1]!, sequence: Number(match[2]) } : undefined;
}

/** Returns the headers of a notification except its signature (A2A 1.0, section 4.3.3). */
export function notificationHeaders(
  { scheme }: Pick<DueConfig, 'scheme'>,
  { token, credentials }: PushSecrets,
  { id, contentType }: Notification,
): Record<string, string> {
  return {
    'content-type': contentType,
    [NOTIFICATION_ID]: id,
    ...(token !== undefined && { [NOTIFICATION_TOKEN]: token }),
    ...(scheme !== null && credentials !== undefined && { authorization: authorizationHeader(scheme, credentials) }),
  };
}

/**
 * Returns the `Authorization` value. Credentials are sent as configured; those of Basic may also be configured as
 * `user:password`.
 */
function authorizationHeader(scheme: string, credentials: string): string {
  const plain = scheme.toLowerCase() === 'basic' && credentials.includes(':');
  return `${scheme} ${plain ? Buffer.from(credentials).toString('base64') : credentials}`;
}
