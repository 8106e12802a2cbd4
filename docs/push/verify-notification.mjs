// Verifies push notifications of Parley. Needs `jose` (npm install jose).
import { compactVerify, createRemoteJWKSet } from 'jose';

/** The same key signs agent cards, which anybody can fetch: the type says that this is a notification. */
const TYPE = 'parley-notification+jws';

/**
 * Makes a verifier for the notifications that one Parley service sends to one webhook. Take both URLs from your own
 * configuration, never from a request. The keys are fetched once, and again when a signature names a new one.
 * @param parleyUrl the service's base URL
 * @param receiverUrl the webhook's URL, letter by letter as the push notification config names it
 */
export function notificationVerifier(parleyUrl, receiverUrl, { maxAgeSeconds = 300 } = {}) {
  if (typeof receiverUrl !== 'string') throw new TypeError('The URL of the webhook is missing');
  const keys = createRemoteJWKSet(new URL(`${parleyUrl.replace(/\/+$/, '')}/.well-known/jwks.json`));
  /**
   * @param headers of the request, names in lower case
   * @param body the request's body exactly as it came: bytes or text, before any JSON parser
   * @returns the notification's id, the same whenever it is sent again; throws where the notification is not genuine
   */
  return async (headers, body) => {
    const [head, empty, signature] = String(headers['x-a2a-notification-signature'] ?? '').split('.');
    if (!head || empty !== '' || !signature) throw new Error('The notification is not signed');
    const content = Buffer.from(body).toString('base64url');
    const { protectedHeader } = await compactVerify(`${head}.${content}.${signature}`, keys, { algorithms: ['ES256'] });
    const { typ, aud, jti, iat, exp } = protectedHeader;
    if (typ !== TYPE) throw new Error('The signature is not one of a notification');
    if (aud !== receiverUrl) throw new Error('The notification is for another receiver');
    if (typeof jti !== 'string' || jti === '') throw new Error('The signature names no notification');
    if (jti !== headers['x-a2a-notification-id']) throw new Error('The id is another one');
    if (!Number.isInteger(iat) || !Number.isInteger(exp)) throw new Error('The signature has no time');
    const now = Date.now() / 1000;
    if (now > exp || Math.abs(now - iat) > maxAgeSeconds) throw new Error('The signature is too old');
    return jti;
  };
}
