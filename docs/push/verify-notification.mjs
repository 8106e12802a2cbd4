// Verifies push notifications of Parley. Needs `jose` (npm install jose).
import { compactVerify, createRemoteJWKSet } from 'jose';

/**
 * Makes a verifier for one Parley service. Take its base URL from your own configuration, never from a notification.
 * The keys are fetched once, and again when a signature names a new one.
 */
export function notificationVerifier(parleyUrl, { maxAgeSeconds = 300 } = {}) {
  const keys = createRemoteJWKSet(new URL(`${parleyUrl.replace(/\/+$/, '')}/.well-known/jwks.json`));
  /**
   * @param headers of the request, names in lower case
   * @param body the request's body exactly as it came: bytes or text, before any JSON parser
   * @returns the notification's id; throws where the notification is not genuine
   */
  return async (headers, body) => {
    const [head, empty, signature] = String(headers['x-a2a-notification-signature'] ?? '').split('.');
    if (!head || empty !== '' || !signature) throw new Error('The notification is not signed');
    const content = Buffer.from(body).toString('base64url');
    const { protectedHeader } = await compactVerify(`${head}.${content}.${signature}`, keys, { algorithms: ['ES256'] });
    if (protectedHeader.nid !== headers['x-a2a-notification-id']) throw new Error('The id is another one');
    if (Math.abs(Date.now() / 1000 - protectedHeader.iat) > maxAgeSeconds) throw new Error('The signature is too old');
    return protectedHeader.nid;
  };
}
