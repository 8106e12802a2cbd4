import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { setTimeout as delay } from 'node:timers/promises';
import type { OutboundFetch } from '#libs/outbound';
import type { S3Config } from '#libs/service';
import {
  type ByteRange,
  ContentUnavailable,
  FileStorage,
  newStorageKey,
  placeOfKey,
  S3_PLACE,
} from '../file-storage.js';
import { freeChunk } from '../spent-memory.js';
import { Spool, type SpooledContent } from '../spooled-content.js';
import type { FileOwner, StoredContent } from '../stored-file.js';
import { EMPTY_SHA256, signRequest } from './signature-v4.js';

const TRIES = 3;
/** Chunk size above the buffer of a socket, which then requests a pause. */
const CHUNK_BYTES = 128 * 1024;
const FIRST_PAUSE_MS = 250;
const TIMES = { firstByteMs: 60_000, idleMs: 60_000 };
/** Statuses of S3 servers after which the same request may succeed. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

export interface S3StorageOptions extends S3Config {
  /** Absolute path of the folder in which contents arrive. */
  folder: string;
  /** Eight hexadecimal digits of the installation: other installations may share the bucket. */
  place: string;
  /** `fetch` that may reach the endpoint. */
  http: OutboundFetch;
}

interface S3Request {
  method: 'GET' | 'PUT' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  content?: SpooledContent;
}

/**
 * Stores contents as objects of an S3-compatible server. A content arrives in a temporary file first, so its length and
 * digest are known: the server verifies both, a truncated upload never becomes an object, and requests can be repeated.
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

  /** Removes temporary files of uploads that ended with their process. */
  async removeAbandoned(): Promise<void> {
    await this.spool.removeAbandoned();
  }

  /** Sends a request, with retries. All requests are repeatable: a PUT of the same content changes nothing. */
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
      await delay(FIRST_PAUSE_MS * 2 ** (tries - 1) * (1 + Math.random()));
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
 * Returns the requested part of a body: a server may send more than that (RFC 9110, section 14.4).
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
