import { createHash, createHmac } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { setTimeout as delay } from 'node:timers/promises';
import type { OutboundFetch } from '#libs/http-client';
import { Backoff, type S3Config } from '#libs/service';
import {
  type ByteRange,
  ContentUnavailable,
  FileStorage,
  newStorageKey,
  placeOfKey,
  S3_PLACE,
} from './file-storage.js';
import { freeChunk } from './spent-memory.js';
import { Spool, type SpooledContent } from './spooled-content.js';
import type { FileOwner, StoredContent } from './stored-file.js';

/** Access key, and the region that requests are signed for. */
export interface S3SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** Request to an S3 server, before it is signed. */
export interface UnsignedRequest {
  readonly method: string;
  /** URL with the path escaped as it is sent; its query, if any, has no `+`. */
  readonly url: URL;
  /** Headers by lower-case name. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Digest of the body (SHA-256), hexadecimal: the server refuses any other body. */
  readonly bodySha256: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 's3';
const TERMINATOR = 'aws4_request';

/** Digest of an empty body. */
export const EMPTY_SHA256 = createHash('sha256').digest('hex');

/**
 * Returns the headers of a request with its signature (AWS Signature Version 4, in the `Authorization` header). The
 * server accepts the signature for fifteen minutes before and after `now`.
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

const TRIES = 3;
/**
 * Bytes of one chunk of a request's body. A chunk is larger than the socket's buffer, so the client requests the next
 * chunk only after this chunk has left. The memory of the chunk can then be freed.
 */
const CHUNK_BYTES = 128 * 1024;
/** Pauses between attempts: 250 to 500 ms, then 500 ms to a second. */
const BACKOFF = new Backoff(500, Infinity, 0.5);
const TIMES = { firstByteMs: 60_000, idleMs: 60_000 };
/** Statuses of S3 servers that permit the same request to be repeated. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

export interface S3StorageOptions extends S3Config {
  /** Absolute path of the folder in which contents arrive before they are sent to the server. */
  folder: string;
  /** Eight hexadecimal digits that name this installation of the service: other installations may share the bucket. */
  place: string;
  /** `fetch` that is permitted to call the endpoint of the S3 server. */
  http: OutboundFetch;
}

interface S3Request {
  method: 'GET' | 'PUT' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  content?: SpooledContent;
}

/**
 * Stores contents as objects of an S3-compatible server. A content first arrives in a temporary file, so that its
 * length and digest are known. The server verifies both, so a truncated upload never becomes an object, and requests
 * can be repeated.
 */
export class S3Storage extends FileStorage {
  private readonly spool: Spool;

  constructor(private readonly options: S3StorageOptions) {
    super();
    this.spool = new Spool(join(options.folder, 'incoming'));
  }

  async newKey(owner: FileOwner): Promise<string> {
    return newStorageKey(this.options.place, owner);
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, limit: number): Promise<StoredContent> {
    const spooled = await this.spool.writeContent(content, limit);
    try {
      const { size, sha256 } = spooled;
      const answer = await this.sendRequest(key, {
        method: 'PUT',
        headers: { 'content-length': String(size) },
        content: spooled,
      });
      await expectStatus(answer, [200, 201, 204]);
      await answer.body?.cancel();
      return { size, sha256 };
    } finally {
      await rm(spooled.path, { force: true });
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const headers: Record<string, string> = range ? { range: `bytes=${range.first}-${range.last}` } : {};
    const answer = await this.sendRequest(key, { method: 'GET', headers });
    // A server without support for ranges would send the whole content as the part.
    await expectStatus(answer, [range ? 206 : 200]);
    const body =
      answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body as NodeReadableStream<Uint8Array>);
    return range ? sentRange(body, answer.headers.get('content-range'), range) : body;
  }

  async delete(key: string): Promise<boolean> {
    // Keys of a folder, or of the installation whose database was copied.
    if (![this.options.place, S3_PLACE].includes(placeOfKey(key))) return false;
    const answer = await this.sendRequest(key, { method: 'DELETE' });
    await expectStatus(answer, [200, 204, 404]);
    await answer.body?.cancel();
    return true;
  }

  async explainRefusal(): Promise<undefined> {
    return undefined;
  }

  /** Removes temporary files of uploads whose process has ended. */
  async removeAbandoned(): Promise<void> {
    await this.spool.removeAbandoned();
  }

  /**
   * Sends a request, and retries it after temporary failures. A repeated request does no harm: a PUT of the same
   * content changes nothing.
   */
  private async sendRequest(key: string, request: S3Request): Promise<Response> {
    placeOfKey(key);
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await this.sendOnce(key, request);
        if (!PASSING.has(answer.status) || tries === TRIES) return answer;
        await answer.body?.cancel();
      } catch (cause) {
        if (tries === TRIES) throw new ContentUnavailable('The S3 server does not answer', { cause });
      }
      await delay(BACKOFF.pauseAfter(tries - 1));
    }
  }

  private async sendOnce(key: string, { method, headers = {}, content }: S3Request): Promise<Response> {
    const { endpoint, bucket, http } = this.options;
    const url = new URL(`${endpoint}/${bucket}/${key}`);
    const signed = signRequest(
      { method, url, headers, bodySha256: content?.sha256 ?? EMPTY_SHA256 },
      this.options,
      new Date(),
    );
    const body = content && (content.size > 0 ? fileChunks(content.path) : new Uint8Array(0));
    return http(url, { method, headers: signed, redirect: 'error', ...(body && { body }), ...TIMES });
  }
}

/** Reads a file; it is opened when the first chunk is requested. */
async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    yield chunk as Buffer;
    // The socket is full, so the client requests the next chunk only after this one has left.
    if ((chunk as Buffer).byteLength === CHUNK_BYTES) freeChunk(chunk as Buffer);
  }
}

/**
 * Returns the requested range of a body that the server sent: it may be more than was requested (RFC 9110, section
 * 14.4).
 * @param header value of `Content-Range`
 * @throws ContentUnavailable if the server sent another part
 */
function sentRange(body: Readable, header: string | null, { first, last }: ByteRange): Readable {
  const [, from, to] = /^bytes (\d{1,15})-(\d{1,15})\//.exec(header ?? '') ?? [];
  if (from !== undefined && Number(from) === first && Number(to) === last) return body;
  if (from !== undefined && Number(from) === first && Number(to) > last)
    return Readable.from(firstBytes(body, last - first + 1), { objectMode: false });
  body.destroy();
  throw new ContentUnavailable('The S3 server sent another range than it was asked for');
}

async function* firstBytes(body: Readable, count: number): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    yield chunk.subarray(0, left);
    left -= chunk.byteLength;
    if (left <= 0) return;
  }
}

/** Asserts the status of a response. @throws ContentUnavailable with the server's own code, for the log */
async function expectStatus(answer: Response, expected: readonly number[]): Promise<void> {
  if (expected.includes(answer.status)) return;
  throw new ContentUnavailable(`The S3 server answered ${answer.status} ${await errorCode(answer)}`.trimEnd());
}

/** Returns the code in the first piece of an error document; '' if there is none. */
async function errorCode({ body }: Response): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  try {
    const { value } = await reader.read();
    return /<Code>(\w{1,64})<\/Code>/.exec(Buffer.from(value ?? []).toString())?.[1] ?? '';
  } catch {
    return '';
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
