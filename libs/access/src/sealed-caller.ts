import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Caller, isPermission } from './caller.js';

/** What a seal is for: one for a node call opens no WebSocket. */
export type SealPurpose = 'node' | 'ticket';

interface Sealed {
  /** Tenant, owner, permissions, and when it ends in Unix milliseconds. */
  t: string;
  o: string;
  p: string[];
  e: number;
  /** What the caller's access hangs on: the digest of a key, the end of a token. */
  k?: string;
  x?: number;
}

/** The scheme's name keeps seals of another form apart. */
const CONTEXT = 'parley-caller-1';
const MAX_LENGTH = 8192;

/**
 * Says on behalf of whom a request is made, so that every replica believes it: the caller and an end, signed with the
 * secret that the replicas share (HMAC-SHA-256). All characters of a seal are those of an HTTP token.
 */
export class CallerSeal {
  constructor(private readonly secret: Buffer) {}

  seal(purpose: SealPurpose, { tenant, owner, permissions, proof }: Caller, endsAt: number): string {
    const content: Sealed = { t: tenant, o: owner, p: [...permissions], e: endsAt, k: proof?.key, x: proof?.endsAt };
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${text}.${this.sign(purpose, text).toString('base64url')}`;
  }

  /** `undefined` where it was not sealed for this purpose by one of us, or has ended. */
  open(purpose: SealPurpose, seal: string, now = Date.now()): Caller | undefined {
    const [text = '', signature = '', ...rest] = seal.length > MAX_LENGTH ? [] : seal.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.sign(purpose, text);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return callerOf(JSON.parse(Buffer.from(text, 'base64url').toString()) as Sealed, now);
  }

  private sign(purpose: SealPurpose, text: string): Buffer {
    return createHmac('sha256', this.secret).update(`${CONTEXT}:${purpose}:${text}`).digest();
  }
}

function callerOf({ t, o, p, e, k, x }: Sealed, now: number): Caller | undefined {
  if (now >= e) return undefined;
  const proof = k === undefined && x === undefined ? undefined : { key: k, endsAt: x };
  return { tenant: t, owner: o, permissions: new Set(p.filter(isPermission)), proof };
}
