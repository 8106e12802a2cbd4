import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Caller, isPermission } from './caller.js';

/** Caller named in a seal, without its proof: intermediaries can read a seal. */
export type SealedCaller = Pick<Caller, 'tenant' | 'owner' | 'permissions'>;

interface Sealed {
  /** Tenant, owner, permissions, and expiry in Unix milliseconds. */
  t: string;
  o: string;
  p: string[];
  e: number;
}

/** Context of the signature: it separates seals of other forms and purposes. */
const CONTEXT = 'parley-caller-1:node';
const MAX_LENGTH = 8192;

/**
 * Seals the caller for which a replica calls a node, so that every replica trusts it: the caller and an expiry, signed
 * with the shared secret of the replicas (HMAC-SHA-256). A seal consists of characters of an HTTP token.
 */
export class CallerSeal {
  constructor(private readonly secret: Buffer) {}

  sealCaller({ tenant, owner, permissions }: SealedCaller, endsAt: number): string {
    const content: Sealed = { t: tenant, o: owner, p: [...permissions], e: endsAt };
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${text}.${this.signText(text).toString('base64url')}`;
  }

  /** Opens a seal; returns `undefined` if no replica sealed it, or it has expired. */
  openSeal(seal: string, now = Date.now()): Caller | undefined {
    const [text = '', signature = '', ...rest] = seal.length > MAX_LENGTH ? [] : seal.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.signText(text);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return callerOf(JSON.parse(Buffer.from(text, 'base64url').toString()) as Sealed, now);
  }

  private signText(text: string): Buffer {
    return createHmac('sha256', this.secret).update(`${CONTEXT}:${text}`).digest();
  }
}

function callerOf({ t, o, p, e }: Sealed, now: number): Caller | undefined {
  return now >= e ? undefined : { tenant: t, owner: o, permissions: new Set(p.filter(isPermission)) };
}
