import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ContentUnavailable, FolderStorage, S3Storage } from '#libs/files';
import { OutboundHttp } from '#libs/outbound';
import { loadConfig } from '#libs/service';
import { describeWithS3, S3_BUCKET, S3_KEYS, S3Server } from '../support/s3-server.js';
import { fileStorageContract } from './file-storage.contract.js';

const OWNER = { tenant: 'acme', owner: 'ann' };
const LIMIT = 1_000;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-storage-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a folder as the storage of files', () => {
  let storage: FolderStorage;
  beforeEach(() => {
    storage = new FolderStorage({ folder, isShared: false, peers: async () => 0 });
  });

  fileStorageContract(() => storage);
});

describeWithS3('an S3 server as the storage of files', () => {
  const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
  let server: S3Server;
  let storage: S3Storage;

  const storageWith = (keys: typeof S3_KEYS, bucket = S3_BUCKET): S3Storage =>
    new S3Storage({ endpoint: server.endpoint, bucket, region: 'us-east-1', ...keys, folder, http: outbound.fetch });

  beforeAll(async () => {
    server = await S3Server.start();
  });
  beforeEach(() => {
    storage = storageWith(S3_KEYS);
  });
  afterEach(() => {
    const incoming = join(folder, 'incoming');
    expect(existsSync(incoming) ? readdirSync(incoming) : []).toEqual([]);
  });
  afterAll(async () => {
    await outbound.close();
    await server.remove();
  });

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
