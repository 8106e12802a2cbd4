import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OutboundHttp } from '#libs/http-client';
import { loadConfig } from '#libs/service';
import { ContentUnavailable, newStorageKey, S3_PLACE } from './file-storage.js';
import { S3Storage } from './s3-storage.js';
import { breakingOff, inChunks, whole } from './testing/chunks.js';

const owner = { tenant: 'acme', owner: 'ann' };
const LIMIT = 10_000_000;
const PLACE = '5e6f7a8b';
const objects = new Map<string, Buffer>();
/** Statuses of the responses to the next requests; then the server works. */
let failures: number[] = [];
let requests: IncomingMessage[] = [];
/** Bytes by which the ends of a sent range differ from the requested range. */
let rangeError = { first: 0, last: 0 };
const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
let server: Server;
let folder: string;
let storage: S3Storage;

/** Starts a fake S3 server. It checks requests by those rules of S3 on which S3Storage relies. */
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request);
    void whole(request).then((body) => {
      const status = failures.shift();
      if (status !== undefined) return response.writeHead(status).end('<Error><Code>SlowDown</Code></Error>');
      const { method, url = '', headers } = request;
      if (createHash('sha256').update(body).digest('hex') !== headers['x-amz-content-sha256'])
        return response.writeHead(400).end('<Error><Code>XAmzContentSHA256Mismatch</Code></Error>');
      if (method === 'PUT') objects.set(url, body);
      if (method === 'DELETE') objects.delete(url);
      if (method !== 'GET') return response.writeHead(method === 'PUT' ? 200 : 204).end();
      const content = objects.get(url);
      if (!content) return response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
      if (first === undefined) return response.writeHead(200).end(content);
      const [from, to] = [Number(first) + rangeError.first, Number(last) + rangeError.last];
      response.setHeader('content-range', `bytes ${from}-${to}/${content.length}`);
      return response.writeHead(206).end(content.subarray(from, to + 1));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await outbound.close();
  await new Promise((resolve) => server.close(resolve));
});

beforeEach(() => {
  [failures, requests] = [[], []];
  rangeError = { first: 0, last: 0 };
  folder = mkdtempSync(join(tmpdir(), 'parley-s3-'));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keys = { accessKeyId: 'key', secretAccessKey: 'secret' };
  storage = new S3Storage({
    endpoint,
    bucket: 'files',
    region: 'eu-central-1',
    ...keys,
    folder,
    place: PLACE,
    http: outbound.fetch,
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Resolves once this process has no open file in a folder; at once on systems that do not report open files. */
async function closed(path: string): Promise<void> {
  const shown = '/proc/self/fd';
  const isOpen = (fd: string): boolean => {
    try {
      return readlinkSync(join(shown, fd)).startsWith(path);
    } catch {
      return false;
    }
  };
  while (existsSync(shown) && readdirSync(shown).some(isOpen)) await new Promise((resolve) => setImmediate(resolve));
}

const spooled = (): string[] => readdirSync(join(folder, 'incoming'));

describe('S3Storage', () => {
  it('deletes contents of its own installation, and those whose keys tell none, and never those of another', async () => {
    const [own, old, foreign] = [
      await storage.newKey(owner),
      ...[S3_PLACE, '99999999'].map((it) => newStorageKey(it, owner)),
    ];
    for (const key of [own, old!, foreign!]) await storage.put(key, inChunks(Buffer.from(key), 8), LIMIT);
    const outcomes = [await storage.delete(own), await storage.delete(old!), await storage.delete(foreign!)];
    expect(outcomes).toEqual([true, true, false]);
    expect((await whole(await storage.get(foreign!))).toString()).toBe(foreign);
    await expect(storage.get(own)).rejects.toThrow(ContentUnavailable);
  });

  it('gives back what it was given, whole and in part, and leaves no temporary file', async () => {
    const content = randomBytes(700_000);
    const key = newStorageKey(S3_PLACE, owner);
    const stored = await storage.put(key, inChunks(content, 64 * 1024), LIMIT);
    expect(stored.size).toBe(content.length);
    expect((await whole(await storage.get(key))).equals(content)).toBe(true);
    expect((await whole(await storage.get(key, { first: 10, last: 19 }))).equals(content.subarray(10, 20))).toBe(true);
    expect(spooled()).toEqual([]);
    expect(requests[0]!.headers).toMatchObject({ 'content-length': '700000' });
    expect(requests[0]!.headers).not.toHaveProperty('transfer-encoding');
    expect(requests.map(({ url }) => url)).toEqual([1, 2, 3].map(() => `/files/${key}`));
    expect(requests[0]!.headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/eu-central-1\/s3\//,
    );
  });

  it('gives no more of a content than it was asked for where the server sends more, and nothing of another part', async () => {
    const key = newStorageKey(S3_PLACE, owner);
    await storage.put(key, inChunks(randomBytes(300_000), 64 * 1024), LIMIT);
    const all = await whole(await storage.get(key));
    rangeError = { first: 0, last: 150_000 };
    const part = await whole(await storage.get(key, { first: 5, last: 100_004 }));
    expect(part.equals(all.subarray(5, 100_005))).toBe(true);
    for (const wrong of [
      { first: 1, last: 1 },
      { first: 0, last: -1 },
    ]) {
      rangeError = wrong;
      await expect(storage.get(key, { first: 5, last: 10 })).rejects.toThrow(ContentUnavailable);
    }
  });

  it('keeps an empty content', async () => {
    const key = newStorageKey(S3_PLACE, owner);
    await storage.put(key, inChunks(Buffer.alloc(0), 1), LIMIT);
    expect(await whole(await storage.get(key))).toHaveLength(0);
  });

  it('sends nothing of a content that breaks off', async () => {
    const put = storage.put(newStorageKey(S3_PLACE, owner), breakingOff(Buffer.alloc(10), new Error('gone')), LIMIT);
    await expect(put).rejects.toThrow('gone');
    expect([requests, spooled()]).toEqual([[], []]);
  });

  it('has nothing of an upload whose process ended in the middle, once its temporary file is an hour old', async () => {
    const killed = join(folder, 'incoming', 'killed');
    mkdirSync(join(folder, 'incoming'));
    writeFileSync(killed, 'x');
    const at = new Date(Date.now() - 61 * 60_000);
    utimesSync(killed, at, at);
    await storage.removeAbandoned();
    expect([requests, spooled()]).toEqual([[], []]);
  });

  it('repeats a request that may succeed later, with the whole content', async () => {
    failures = [503, 500];
    const key = newStorageKey(S3_PLACE, owner);
    await storage.put(key, inChunks(Buffer.from('content'), 3), LIMIT);
    expect(requests).toHaveLength(3);
    expect((await whole(await storage.get(key))).toString()).toBe('content');
  });

  it('gives up after three tries, and says with which code', async () => {
    failures = [503, 503, 503];
    const put = storage.put(newStorageKey(S3_PLACE, owner), inChunks(Buffer.from('x'), 1), LIMIT);
    await expect(put).rejects.toThrow(new ContentUnavailable('The S3 server answered 503 SlowDown'));
    expect(spooled()).toEqual([]);
  });

  it('does not repeat what the server refuses', async () => {
    failures = [403];
    await expect(storage.get(newStorageKey(S3_PLACE, owner))).rejects.toThrow(/403/);
    expect(requests).toHaveLength(1);
  });

  it('deletes a content, and one that is not there', async () => {
    const key = newStorageKey(S3_PLACE, owner);
    await storage.put(key, inChunks(Buffer.from('x'), 1), LIMIT);
    expect([await storage.delete(key), await storage.delete(key)]).toEqual([true, true]);
    await expect(storage.get(key)).rejects.toThrow(/404 NoSuchKey/);
  });

  it('deletes nothing of a folder, and does not count it as deleted', async () => {
    expect(await storage.delete(newStorageKey('0a1b2c3d', owner))).toBe(false);
    expect(requests).toEqual([]);
  });

  it('closes the file of a content that it could not send', async () => {
    const opened: string[] = [];
    const http = async (_url: unknown, { body }: RequestInit = {}): Promise<Response> => {
      opened.push((body as ReadableStream).locked ? 'locked' : 'unread');
      throw new Error('connect ECONNREFUSED');
    };
    const options = { endpoint: 'http://127.0.0.1:1', bucket: 'files', region: 'us-east-1', folder, place: PLACE };
    const broken = new S3Storage({ ...options, accessKeyId: 'key', secretAccessKey: 'secret', http });
    // More than a stream takes in before it is read: a shorter file is closed at its end.
    const put = broken.put(newStorageKey(S3_PLACE, owner), inChunks(Buffer.alloc(2_000_000), 64 * 1024), LIMIT);
    await expect(put).rejects.toThrow(ContentUnavailable);
    expect(opened).toEqual(['unread', 'unread', 'unread']);
    await closed(folder);
  });
});
