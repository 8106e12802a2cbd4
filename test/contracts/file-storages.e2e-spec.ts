import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ContentUnavailable, FolderStorage, S3Storage } from '#libs/files';
import { OutboundHttp } from '#libs/http-client';
import { loadConfig } from '#libs/service';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { withLockedTable } from '../support/locked-table.js';
import { type Parley, startParley } from '../support/parley.js';
import { peakBytes, resetPeak, residentBytes, TELLS_PEAKS } from '../support/peak-memory.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { describeWithS3, S3_BUCKET, S3_KEYS, S3Server } from '../support/s3-server.js';
import { contentsIn } from '../support/stored-contents.js';
import { takeTurns } from '../support/turns.js';
import { until } from '../support/until.js';
import { endUpkeep, openUpload } from '../support/uploads.js';
import { fileStorageContract } from './file-storage.contract.js';

const MEBIBYTE = 1024 ** 2;
/** Mebibytes that the heap may keep of a large file that passes through; its young generation has 16 more. */
const MOST_KEPT = 8;
/** Mebibytes of a file between two looks at the heap. */
const BETWEEN_LOOKS = 16;
/** What the first upload may make grow for good: the young generation, code, connections. */
const FIRST = 8;
const [ann, eve] = [testCaller('ann'), testCaller('eve')];
const OWNER = { tenant: 'acme', owner: 'ann' };
const LIMIT = 1_000;
// What a busy machine delays is collected later.
takeTurns();

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-storage-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a folder as the storage of files', () => {
  let storage: FolderStorage;
  beforeEach(() => {
    storage = new FolderStorage({ folder, isShared: false, isDurable: true, peers: async () => 0 });
  });

  fileStorageContract(() => storage);
});

interface SentFile {
  id: string;
  size: number;
  sha256: string;
}

/** Looks at a service while it sends or takes a file. */
type Look = () => Promise<void>;
const noLook: Look = async () => undefined;

/** A content that is not in memory: blocks of one mebibyte, each of them another one. */
async function* blocks(count: number, look = noLook): AsyncGenerator<Buffer> {
  for (let index = 0; index < count; index += 1) {
    if (index % BETWEEN_LOOKS === 0) await look();
    const block = Buffer.alloc(MEBIBYTE, `block ${index};`);
    for (let offset = 0; offset < MEBIBYTE; offset += 64 * 1024) yield block.subarray(offset, offset + 64 * 1024);
  }
}

async function digestOf(content: AsyncIterable<Uint8Array>, look = noLook): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256');
  let size = 0;
  let looks = 0;
  for await (const chunk of content) {
    size += chunk.byteLength;
    hash.update(chunk);
    if (size < looks * BETWEEN_LOOKS * MEBIBYTE) continue;
    looks += 1;
    await look();
  }
  return { sha256: hash.digest('hex'), size };
}

/** Uploads a content as one body, of a length that is told or not. */
async function upload({ url }: Parley, count: number, isLengthKnown = true, look = noLook): Promise<SentFile> {
  const length = isLengthKnown ? { 'content-length': String(count * MEBIBYTE) } : {};
  const sending = request(`${url}/api/files`, {
    method: 'POST',
    headers: { ...ann.headers, 'content-type': 'video/mp4', ...length },
  });
  const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
    sending.once('error', reject).once('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject);
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
  });
  const [{ status, text }] = await Promise.all([answered, pipeline(Readable.from(blocks(count, look)), sending)]);
  if (status !== 201) throw new Error(`The upload failed: ${status} ${text}`);
  return (JSON.parse(text) as { files: SentFile[] }).files[0]!;
}

async function download({ url }: Parley, id: string, look = noLook): Promise<{ sha256: string; size: number }> {
  const reply = await fetch(`${url}/api/files/${id}`, { headers: ann.headers });
  expect(reply.status).toBe(200);
  return digestOf(reply.body as unknown as AsyncIterable<Uint8Array>, look);
}

/** @returns bytes by which the memory of a service grew at most, and the outcome of the work */
async function growthDuring<T>(pid: number, work: () => Promise<T>): Promise<{ growth: number; outcome: T }> {
  const before = residentBytes(pid);
  resetPeak(pid);
  const outcome = await work();
  return { growth: peakBytes(pid) - before, outcome };
}

/** Returns the bytes of the heap without its young generation, which is mostly garbage. */
async function keptHeap({ url }: Parley): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const spaces = [...text.matchAll(/^nodejs_heap_space_size_used_bytes\{space="(\w+)".*\} (\d+)$/gm)];
  const kept = spaces.filter(([, space = '']) => !space.startsWith('new'));
  expect(kept.map(([, space]) => space)).toEqual(expect.arrayContaining(['old', 'large_object']));
  return kept.reduce((sum, [, , bytes]) => sum + Number(bytes), 0);
}

/** An upload and a download of so many mebibytes in a row, by one service. */
function largeFiles(count: number, most: number, service: () => Parley): void {
  it(`takes and gives ${count} MiB within ${most} MiB of memory, of which its heap keeps ${MOST_KEPT} MiB`, async () => {
    const parley = service();
    const first = await upload(parley, FIRST, false);
    expect(await download(parley, first.id)).toEqual(await digestOf(blocks(FIRST)));
    const heaps: number[] = [];
    const look: Look = async () => void heaps.push(await keptHeap(parley));
    await look();
    const roundTrip = async (): Promise<unknown> => {
      const { id } = await upload(parley, count, true, look);
      return download(parley, id, look);
    };
    const { growth, outcome } = TELLS_PEAKS
      ? await growthDuring(parley.pid, roundTrip)
      : { growth: 0, outcome: await roundTrip() };
    expect(outcome).toEqual(await digestOf(blocks(count)));
    expect(growth).toBeLessThan(most * MEBIBYTE);
    const [before = NaN, ...during] = heaps;
    expect(during.length).toBeGreaterThan((2 * count) / BETWEEN_LOOKS - 2);
    expect(Math.max(...during) - before).toBeLessThan(MOST_KEPT * MEBIBYTE);
  });
}

/** A service with its storage that is killed, and starts again. */
interface KilledService {
  parley: Parley;
  database: TestDatabase;
  dataDir: string;
  /** Returns the number of contents that its storage has. */
  contents(): number;
  restart(): Promise<void>;
}

/** An upload that arrives, and one that is stored and has no row yet, by a service that is killed then. */
function killedUploads(service: () => KilledService): void {
  it('leaves nothing of uploads that a kill interrupts: no row, no content, no temporary file', async () => {
    const { parley, database, dataDir, contents, restart } = service();
    const rows = (): Promise<unknown[]> => database.query('SELECT id FROM file ORDER BY id');
    const before = [await rows(), contents()] as const;
    await withLockedTable(database.url, 'file_account', async (endWaiting) => {
      openUpload(parley.url, ann.key, 1_000_000).on('error', () => undefined);
      const stored = fetch(`${parley.url}/api/files`, { method: 'POST', headers: eve.headers, body: 'x' });
      const answer = stored.catch(() => 'lost');
      const isThere = (): boolean => contents() === before[1] + 1 && incomingOf(dataDir).length === 1;
      await until(isThere, { what: 'both uploads' });
      await parley.kill9();
      expect(await answer).toBe('lost');
      await endWaiting();
    });
    const overAnHourAgo = new Date(Date.now() - 61 * 60_000);
    for (const name of incomingOf(dataDir))
      utimesSync(join(dataDir, 'files', 'incoming', name), overAnHourAgo, overAnHourAgo);
    await restart();
    expect(incomingOf(dataDir)).toEqual([]);
    await database.query('UPDATE file_leftover SET due_at = now()');
    await endUpkeep(database);
    expect([await rows(), contents()]).toEqual(before);
    expect(await database.query('SELECT FROM file_leftover')).toEqual([]);
  });
}

/** A busy machine may take minutes to send the largest file. */
const LIMITS = { ...apiKeyEnv(ann, eve), FILE_LIMIT: '512mb', FILES_QUOTA: '1gb', REQUEST_TIMEOUT: '600s' };

describe('large files in a folder', () => {
  let database: TestDatabase;
  let parley: Parley;
  let dataDir: string;

  const start = async (): Promise<void> => {
    parley = await startParley({ databaseUrl: database.url, dataDir, env: LIMITS, measuresMemory: true });
  };

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'parley-large-'));
    database = await freshDatabase();
    await start();
  });
  afterAll(async () => {
    await parley?.stop();
    await database?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  largeFiles(200, 80, () => parley);

  it('gives nothing of them to a stranger', async () => {
    const { id } = await upload(parley, 1);
    for (const [headers, status] of [
      [eve.headers, 404],
      [{}, 401],
    ] as const)
      expect((await fetch(`${parley.url}/api/files/${id}`, { headers })).status).toBe(status);
  });

  killedUploads(() => ({ parley, database, dataDir, contents: () => contentsIn(dataDir).contents, restart: start }));
});

describeWithS3('an S3 server', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await S3Server.start();
  });
  afterAll(() => server?.remove());

  describe('as the storage of files', () => {
    const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
    let storage: S3Storage;

    const storageWith = (keys: typeof S3_KEYS, bucket = S3_BUCKET): S3Storage =>
      new S3Storage({
        endpoint: server.endpoint,
        bucket,
        region: 'us-east-1',
        ...keys,
        folder,
        place: '0a1b2c3d',
        http: outbound.fetch,
      });

    beforeEach(() => {
      storage = storageWith(S3_KEYS);
    });
    afterEach(() => {
      const incoming = join(folder, 'incoming');
      expect(existsSync(incoming) ? readdirSync(incoming) : []).toEqual([]);
    });
    afterAll(() => outbound.close());

    fileStorageContract(() => storage);

    it.each([
      ['another secret', { ...S3_KEYS, secretAccessKey: 'An0ther/Secret' }, S3_BUCKET, /403 SignatureDoesNotMatch/],
      ['a key that it does not know', { ...S3_KEYS, accessKeyId: 'UNKNOWN' }, S3_BUCKET, /403 InvalidAccessKeyId/],
      ['a bucket that it does not have', S3_KEYS, 'another-bucket', /404 NoSuchBucket/],
    ])('is told with its code to refuse %s, without a secret', async (_what, keys, bucket, message) => {
      const refusing = storageWith(keys, bucket);
      const put = refusing.put(await refusing.newKey(OWNER), Readable.from([Buffer.from('x')]), LIMIT);
      const error = await put.then(
        () => undefined,
        (reason: unknown) => reason as Error,
      );
      expect(error).toBeInstanceOf(ContentUnavailable);
      expect(error?.message).toMatch(message);
      expect(`${error?.message} ${error?.stack}`).not.toContain(keys.secretAccessKey);
    });

    it('keeps what it stored while the server was away', async () => {
      const key = await storage.newKey(OWNER);
      await storage.put(key, Readable.from([Buffer.from('kept')]), LIMIT);
      await server.stop();
      await expect(storage.get(key)).rejects.toThrow(ContentUnavailable);
      await expect(storage.delete(key)).rejects.toThrow(ContentUnavailable);
      await server.restart();
      const pieces: Buffer[] = [];
      for await (const piece of await storage.get(key)) pieces.push(piece as Buffer);
      expect(Buffer.concat(pieces).toString()).toBe('kept');
    });
  });

  describe('of two replicas, with large files', () => {
    let database: TestDatabase;
    let one: Parley;
    let other: Parley;
    const folders: string[] = [];

    const replica = (dataDir: string): Promise<Parley> => {
      const env = { ...LIMITS, ...server.env() };
      return startParley({ databaseUrl: database.url, dataDir, env, measuresMemory: true });
    };

    beforeAll(async () => {
      database = await freshDatabase();
      for (let index = 0; index < 2; index += 1) folders.push(mkdtempSync(join(tmpdir(), 'parley-large-')));
      [one, other] = (await Promise.all(folders.map(replica))) as [Parley, Parley];
    });
    afterAll(async () => {
      await Promise.all([one?.stop(), other?.stop()]);
      await database?.drop();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });

    largeFiles(192, 128, () => one);

    it('gives by one replica what the other one took, and leaves nothing in their folders', async () => {
      const { id, sha256 } = await upload(one, 2);
      expect(await download(other, id)).toEqual({ sha256, size: 2 * MEBIBYTE });
      for (const folder of folders) expect(incomingOf(folder)).toEqual([]);
      const removed = await fetch(`${other.url}/api/files/${id}`, { method: 'DELETE', headers: ann.headers });
      expect(removed.status).toBe(204);
      expect((await fetch(`${one.url}/api/files/${id}`, { headers: ann.headers })).status).toBe(404);
    });

    killedUploads(() => ({
      parley: one,
      database,
      dataDir: folders[0]!,
      contents: () => server.objects,
      restart: async () => void (one = await replica(folders[0]!)),
    }));

    it('answers 503 while the server is away, and takes the upload once it is back', async () => {
      await server.stop();
      const send = (): Promise<Response> =>
        fetch(`${one.url}/api/files`, { method: 'POST', headers: ann.headers, body: 'x' });
      const refused = await send();
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
      expect(await refused.text()).not.toMatch(/127\.0\.0\.1|S3RVER/);
      await server.restart();
      expect((await send()).status).toBe(201);
      expect(`${one.logs()}${other.logs()}`).not.toContain('Signature=');
    });
  });
});

/** Temporary files of a replica. */
function incomingOf(dataDir: string): string[] {
  const incoming = join(dataDir, 'files', 'incoming');
  return existsSync(incoming) ? readdirSync(incoming) : [];
}
