import { Injectable } from '@nestjs/common';
import { SIGNATURE_TYPES, SigningKeys } from '#libs/http';
import { CompactSign } from 'jose';
import type { Notification } from './notification-request.js';

/** Each attempt is signed anew, so this is the time on the way and the difference between two clocks. */
const VALID_SECONDS = 300;

/**
 * Signs notifications: a JWS with detached content over the body's bytes (RFC 7515, appendix F). Its protected header
 * says what it is (`typ`), to which URL it goes (`aud`, as the config has it), which notification it is (`jti`, and `nid`
 * as receivers from before `jti` know it) and from when to when it is good (`iat`, `exp`; RFC 7519): a signature fits no
 * other notification, no other receiver and no other day. The key is one of `/.well-known/jwks.json`.
 */
@Injectable()
export class NotificationSigner {
  constructor(private readonly keys: SigningKeys) {}

  /** @param receiver the webhook's URL, as its config has it */
  async sign({ id, body }: Pick<Notification, 'id' | 'body'>, receiver: string): Promise<string> {
    const { kid, key } = await this.keys.signing();
    const iat = Math.floor(Date.now() / 1000);
    const said = { jti: id, nid: id, aud: receiver, iat, exp: iat + VALID_SECONDS };
    const header = { alg: 'ES256', typ: SIGNATURE_TYPES.notification, kid, ...said };
    const jws = await new CompactSign(Buffer.from(body)).setProtectedHeader(header).sign(key);
    const [head, , signature] = jws.split('.');
    return `${head}..${signature}`;
  }
}
