import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type HmacAlgorithm, type HmacEncoding, proofHeader, type WebhookSource } from './webhook-source.js';

/** Maximum difference in seconds between a delivery's signed time and the clock of the service. */
const TOLERANCE_S = 300;
/** Maximum number of signatures in a header; senders with two secrets send two. */
const MOST_SIGNATURES = 8;
const LONGEST_HEADER = 4_096;
const TIME = /^\d{1,12}$/;
const BASE64_SECRET = /^whsec_([\w+/-]{1,8192}={0,2})$/;

/** Delivery as it arrived. The body has the bytes as sent, because the signature is computed from bytes. */
export interface SignedDelivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Signatures that a delivery names, and the function that makes the right one with a secret. */
interface SignatureClaim {
  sent: readonly string[];
  makeSignature(secret: string): string;
}

/**
 * True if a delivery has the signature of its scheme, made with one of the secrets. If the scheme signs a time, the
 * time must also be within five minutes of `nowMs`.
 * - The comparison takes the same time for each signature of the right length, and tries each pair.
 */
export function isSigned(
  source: WebhookSource,
  secrets: readonly string[],
  delivery: SignedDelivery,
  nowMs: number,
): boolean {
  const claim = readClaim(source, delivery, nowMs);
  if (!claim) return false;
  let isRight = false;
  for (const secret of secrets) {
    const expected = claim.makeSignature(secret);
    for (const sent of claim.sent) isRight = isEqual(sent, expected) || isRight;
  }
  return isRight;
}

/** Returns the header that proves a delivery; `undefined` if it is missing or too long. */
export function readProof(source: WebhookSource, headers: IncomingHttpHeaders): string | undefined {
  return headerText(headers, proofHeader(source));
}

function readClaim(source: WebhookSource, delivery: SignedDelivery, nowMs: number): SignatureClaim | undefined {
  const proof = readProof(source, delivery.headers);
  if (proof === undefined) return undefined;
  switch (source.scheme) {
    case 'github':
      return hmacClaim(proof, delivery, { prefix: 'sha256=', algorithm: 'sha256', encoding: 'hex' });
    case 'hmac': {
      const { prefix = '', algorithm = 'sha256', encoding = 'hex' } = source;
      return hmacClaim(proof, delivery, { prefix, algorithm, encoding });
    }
    case 'stripe':
      return stripeClaim(proof, delivery, nowMs);
    case 'slack':
      return slackClaim(proof, delivery, nowMs);
    case 'standard-webhooks':
      return standardClaim(proof, delivery, nowMs);
    case 'bearer':
      return tokenClaim(proof, source);
  }
}

function hmacClaim(
  proof: string,
  { body }: SignedDelivery,
  { prefix, algorithm, encoding }: { prefix: string; algorithm: HmacAlgorithm; encoding: HmacEncoding },
): SignatureClaim | undefined {
  if (!proof.startsWith(prefix)) return undefined;
  const digits = proof.slice(prefix.length);
  return {
    // Hexadecimal digits may be of either case.
    sent: [encoding === 'hex' ? digits.toLowerCase() : digits],
    makeSignature: (secret) => createHmac(algorithm, secret).update(body).digest(encoding),
  };
}

/** Reads `t=<seconds>,v1=<hex>`, which may have several `v1`. */
function stripeClaim(proof: string, { body }: SignedDelivery, nowMs: number): SignatureClaim | undefined {
  const entries = proof.split(',', 2 * MOST_SIGNATURES).map((entry) => entry.trim());
  const valuesOf = (name: string): string[] =>
    entries.filter((it) => it.startsWith(`${name}=`)).map((it) => it.slice(name.length + 1));
  const [time = ''] = valuesOf('t');
  if (!isRecent(time, nowMs)) return undefined;
  return {
    sent: valuesOf('v1').slice(0, MOST_SIGNATURES),
    makeSignature: (secret) => createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex'),
  };
}

function slackClaim(proof: string, { headers, body }: SignedDelivery, nowMs: number): SignatureClaim | undefined {
  const time = headerText(headers, 'x-slack-request-timestamp') ?? '';
  if (!isRecent(time, nowMs)) return undefined;
  return {
    sent: [proof],
    makeSignature: (secret) => `v0=${createHmac('sha256', secret).update(`v0:${time}:`).update(body).digest('hex')}`,
  };
}

/** Reads `v1,<base64>`, which may be several, with spaces between them. Other versions are ignored. */
function standardClaim(proof: string, { headers, body }: SignedDelivery, nowMs: number): SignatureClaim | undefined {
  const id = headerText(headers, 'webhook-id');
  const time = headerText(headers, 'webhook-timestamp') ?? '';
  if (id === undefined || !isRecent(time, nowMs)) return undefined;
  const signatures = proof.split(' ', MOST_SIGNATURES).filter((it) => it.startsWith('v1,'));
  return {
    sent: signatures.map((it) => it.slice('v1,'.length)),
    makeSignature: (secret) =>
      createHmac('sha256', standardKey(secret)).update(`${id}.${time}.`).update(body).digest('base64'),
  };
}

/** Returns the key of a secret of Standard Webhooks: the bytes after `whsec_`, or those of the text. */
function standardKey(secret: string): Buffer {
  const [, encoded] = BASE64_SECRET.exec(secret) ?? [];
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
}

function tokenClaim(proof: string, { header }: WebhookSource): SignatureClaim | undefined {
  const [, token] = header === undefined ? (/^Bearer +(\S+)$/i.exec(proof) ?? []) : ['', proof];
  return token === undefined ? undefined : { sent: [token], makeSignature: (secret) => secret };
}

function isRecent(time: string, nowMs: number): boolean {
  return TIME.test(time) && Math.abs(nowMs / 1_000 - Number(time)) <= TOLERANCE_S;
}

/** Compares two texts. The duration depends only on their lengths, so that it reveals nothing about their content. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Returns the value of a header; `undefined` if it is missing, empty or too long. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const [value] = [headers[name]].flat();
  return value === undefined || value === '' || value.length > LONGEST_HEADER ? undefined : value;
}
