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
}

/** The scheme's name keeps seals of another form apart. */
const CONTEXT = 'parley-caller-1';
const MAX_LENGTH = 4096;

/**
 * Says on behalf of whom a request is made, so that every replica believes it: the caller and an end, signed with the
 * secret that the replicas share (HMAC-SHA-256). All characters of a seal are those of an HTTP token.
 */
export class CallerSeal {
  constructor(private readonly secret: Buffer) {}

  seal(purpose: SealPurpose, { tenant, owner, permissions }: Caller, endsAt: number): string {
    const content: Sealed = { t: tenant, o: owner, p: [...permissions], e: endsAt };
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${text}.${this.sign(purpose, text).toString('base64url')}`;
  }

  /** `undefined` where it was not sealed for this purpose by one of us, or has ended. */
  open(purpose: SealPurpose, seal: string, now = Date.now()): Caller | undefined {
    const [text = '', signature = '', ...rest] = seal.length > MAX_LENGTH ? [] : seal.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.sign(purpose, text);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const { t, o, p, e } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Sealed;
    return now < e ? { tenant: t, owner: o, permissions: new Set(p.filter(isPermission)) } : undefined;
  }

  private sign(purpose: SealPurpose, text: string): Buffer {
    return createHmac('sha256', this.secret).update(`${CONTEXT}:${purpose}:${text}`).digest();
  }
}
