import { Injectable } from '@nestjs/common';
import { SIGNATURE_TYPES, SigningKeys } from '#libs/http';
import { CompactSign } from 'jose';
import type { Notification } from './notification-request.js';

/**
 * Validity in seconds. Each attempt is signed again, so this covers the transmission and the difference of two clocks.
 */
const VALID_SECONDS = 300;

/**
 * Signs notifications: a JWS with detached content over the body's bytes (RFC 7515, appendix F).
 * - The protected header names the type (`typ`), the URL of the config (`aud`), the notification (`jti`, and `nid` for
 *   receivers older than `jti`), and the validity (`iat`, `exp`; RFC 7519).
 * - A signature therefore fits no other notification, receiver or time.
 * - The key is published in `/.well-known/jwks.json`.
 */
@Injectable()
export class NotificationSigner {
  constructor(private readonly keys: SigningKeys) {}

  /** Signs a notification. @param receiver URL of the webhook in its config */
  async signNotification({ id, body }: Pick<Notification, 'id' | 'body'>, receiver: string): Promise<string> {
    const { kid, key } = await this.keys.getSigningKey();
    const iat = Math.floor(Date.now() / 1000);
    const said = { jti: id, nid: id, aud: receiver, iat, exp: iat + VALID_SECONDS };
    const header = { alg: 'ES256', typ: SIGNATURE_TYPES.notification, kid, ...said };
    const jws = await new CompactSign(Buffer.from(body)).setProtectedHeader(header).sign(key);
    const [head, , signature] = jws.split('.');
    return `${head}..${signature}`;
  }
}
