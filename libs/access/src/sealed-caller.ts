import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Caller, isPermission } from './caller.js';

/** Who is named: never what his access hangs on. A seal can be read by whoever it is sent through. */
export type SealedCaller = Pick<Caller, 'tenant' | 'owner' | 'permissions'>;

interface Sealed {
  /** Tenant, owner, permissions, and when it ends in Unix milliseconds. */
  t: string;
  o: string;
  p: string[];
  e: number;
}

/** The scheme's name keeps seals of another form, or for another purpose, apart. */
const CONTEXT = 'parley-caller-1:node';
const MAX_LENGTH = 8192;

/**
 * Says on behalf of whom a replica calls a node, so that every replica believes it: the caller and an end, signed with the
 * secret that the replicas share (HMAC-SHA-256). All characters of a seal are those of an HTTP token.
 */
export class CallerSeal {
  constructor(private readonly secret: Buffer) {}

  seal({ tenant, owner, permissions }: SealedCaller, endsAt: number): string {
    const content: Sealed = { t: tenant, o: owner, p: [...permissions], e: endsAt };
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${text}.${this.sign(text).toString('base64url')}`;
  }

  /** `undefined` where it was not sealed by one of us, or has ended. */
  open(seal: string, now = Date.now()): Caller | undefined {
    const [text = '', signature = '', ...rest] = seal.length > MAX_LENGTH ? [] : seal.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.sign(text);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return callerOf(JSON.parse(Buffer.from(text, 'base64url').toString()) as Sealed, now);
  }

  private sign(text: string): Buffer {
    return createHmac('sha256', this.secret).update(`${CONTEXT}:${text}`).digest();
  }
}

function callerOf({ t, o, p, e }: Sealed, now: number): Caller | undefined {
  return now >= e ? undefined : { tenant: t, owner: o, permissions: new Set(p.filter(isPermission)) };
}
