import { Injectable } from '@nestjs/common';
import { decodeProtectedHeader, flattenedVerify, type FlattenedVerifyGetKey } from 'jose';
import { OutboundHttp } from '#libs/http-client';
import { JWKS_PATH, SIGNATURE_TYPES } from '#libs/http-server';
import { CardKeys, isKeyFailure } from '#libs/remote-agents';
import type { RegisteredAgent } from '../agents/registered-agents.js';

/** Notification as it was received: its body, and the headers that contain its signature and its id. */
export interface SignedNotification {
  /** URL of the webhook, as the agent knows it. */
  url: string;
  body: Buffer;
  /** JWS with detached content over the body. */
  signature: string;
  /** Id of the notification. */
  id: string | undefined;
}

/**
 * Result of the verification of a notification.
 *
 * - `valid`: the agent signed this notification.
 * - `wrong`: the signature is malformed or expired, is for another notification, or has a key that the agent's JWK Set
 *   does not contain.
 * - `unverified`: the agent's JWK Set could not be read, so that a later attempt may succeed.
 */
export type NotificationSignatureState = 'valid' | 'wrong' | 'unverified';

/** Maximum difference, in seconds, between the clocks of the agent and of this process. */
const SKEW_S = 60;
const SECOND_MS = 1_000;

/**
 * Verifies the notifications of agents that sign them, as Parley does.
 * - The key must be in the agent's own JWK Set: the set that its card names (`jku`), if that is at the agent's origin,
 *   else the set at the well-known path of the origin. The same limits apply as to JWK Sets for card signatures
 *   (CardKeys).
 * - A signature is valid for one body, one webhook and one id, and only for some minutes.
 */
@Injectable()
export class NotificationSignatures {
  private readonly keys: CardKeys;

  constructor(http: OutboundHttp) {
    this.keys = new CardKeys(http, []);
  }

  /** Verifies the signature of a notification. Never rejects. */
  async verifyNotification(
    agent: Pick<RegisteredAgent, 'url' | 'card'>,
    notification: SignedNotification,
  ): Promise<NotificationSignatureState> {
    const { signature, body, url, id } = notification;
    const [head = '', payload, proof = '', ...more] = signature.split('.');
    if (payload !== '' || more.length > 0) return 'wrong';
    try {
      const jws = { protected: head, payload: body.toString('base64url'), signature: proof };
      const { protectedHeader } = await flattenedVerify(jws, this.keysOf(agent), { algorithms: ['ES256'] });
      const { typ, aud, jti, exp, iat } = (protectedHeader ?? {}) as Record<string, unknown>;
      const now = Date.now() / SECOND_MS;
      const isFresh = typeof exp === 'number' && exp > now - SKEW_S && typeof iat === 'number' && iat < now + SKEW_S;
      const isForThis = typ === SIGNATURE_TYPES.notification && aud === url && id !== undefined && jti === id;
      return isFresh && isForThis ? 'valid' : 'wrong';
    } catch (error) {
      return isKeyFailure(error) ? 'unverified' : 'wrong';
    }
  }

  private keysOf(agent: Pick<RegisteredAgent, 'url' | 'card'>): FlattenedVerifyGetKey {
    const [source] = this.keys.findSources(keySetUrl(agent), agent.url);
    return source!.key;
  }
}

/** Returns the URL of an agent's JWK Set, which is always at the origin of the agent. */
function keySetUrl({ url, card }: Pick<RegisteredAgent, 'url' | 'card'>): string {
  const { origin } = new URL(url);
  const named = (card.signatures ?? []).map((it) => jkuOf(it.protected));
  return named.find((it) => it !== undefined && new URL(it).origin === origin) ?? `${origin}${JWKS_PATH}`;
}

function jkuOf(header: string): string | undefined {
  try {
    const { jku } = decodeProtectedHeader({ protected: header });
    return jku !== undefined && URL.canParse(jku) ? jku : undefined;
  } catch {
    return undefined;
  }
}
