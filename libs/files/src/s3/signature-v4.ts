import { createHash, createHmac } from 'node:crypto';

/** Access key, and region of the requests. */
export interface S3SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** Request to an S3 server. */
export interface UnsignedRequest {
  readonly method: string;
  /** URL with the path escaped as it is sent; its query, if any, has no `+`. */
  readonly url: URL;
  /** Headers by lower-case name. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Digest of the body, hexadecimal: the server refuses another body. */
  readonly bodySha256: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 's3';
const TERMINATOR = 'aws4_request';

/** Digest of an empty body. */
export const EMPTY_SHA256 = createHash('sha256').digest('hex');

/**
 * Returns the headers of a request with its signature (AWS Signature Version 4, in the `Authorization` header). The
 * signature is valid for fifteen minutes around `now`.
 */
export function signRequest(request: UnsignedRequest, key: S3SigningKey, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const headers = {
    ...request.headers,
    host: request.url.host,
    'x-amz-content-sha256': request.bodySha256,
    'x-amz-date': time,
  };
  const names = Object.keys(headers).toSorted();
  const scope = [time.slice(0, 8), key.region, SERVICE, TERMINATOR].join('/');
  const toSign = [ALGORITHM, time, scope, sha256Hex(canonicalRequest(request, headers, names))].join('\n');
  const signature = hmacSha256(scopedKey(key, time.slice(0, 8)), toSign).toString('hex');
  const credential = `Credential=${key.accessKeyId}/${scope}`;
  const authorization = `${ALGORITHM} ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  // The client sets the host itself.
  const { host: _host, ...sent } = headers;
  return { ...sent, authorization };
}

function canonicalRequest(
  { method, url, bodySha256 }: UnsignedRequest,
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
): string {
  const query = [...url.searchParams]
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .toSorted()
    .join('&');
  const lines = names.map((name) => `${name}:${headers[name]!.trim().replace(/\s+/g, ' ')}\n`);
  return [method, url.pathname, query, lines.join(''), names.join(';'), bodySha256].join('\n');
}

function scopedKey({ secretAccessKey, region }: S3SigningKey, date: string): Buffer {
  return [region, SERVICE, TERMINATOR].reduce(hmacSha256, hmacSha256(`AWS4${secretAccessKey}`, date));
}

function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmacSha256(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
