import { Injectable } from '@nestjs/common';
import { SigningKeys } from '#libs/platform';
import { CompactSign } from 'jose';
import type { Notification } from './notification-request.js';

/**
 * Signs notifications: a JWS with detached content over the body's bytes (RFC 7515, appendix F). Its protected header
 * also carries the notification's id and the time, so that a signature fits neither another notification nor another
 * day. The key is one of `/.well-known/jwks.json`.
 */
@Injectable()
export class NotificationSigner {
  constructor(private readonly keys: SigningKeys) {}

  async sign({ id, body }: Pick<Notification, 'id' | 'body'>): Promise<string> {
    const { kid, key } = await this.keys.signing();
    const header = { alg: 'ES256', kid, nid: id, iat: Math.floor(Date.now() / 1000) };
    const jws = await new CompactSign(Buffer.from(body)).setProtectedHeader(header).sign(key);
    const [head, , signature] = jws.split('.');
    return `${head}..${signature}`;
  }
}
