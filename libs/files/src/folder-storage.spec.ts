import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContentTooLong, ContentUnavailable, newStorageKey } from './file-storage.js';
import { FolderStorage } from './folder-storage.js';
import { breakingOff, inChunks, whole } from './testing/chunks.js';

const owner = { tenant: 'acme', owner: 'ann' };
const LIMIT = 1_000_000;
let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'parley-files-'));
  folder = join(root, 'files');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const storage = (peers = 0, isShared = false): FolderStorage =>
  new FolderStorage({ folder, isShared, isDurable: true, peers: async () => peers });
const incoming = (): string[] => (existsSync(join(folder, 'incoming')) ? readdirSync(join(folder, 'incoming')) : []);

describe('FolderStorage', () => {
  it('gives back what it was given, with its size and digest, and leaves no temporary file', async () => {
    const content = randomBytes(300_000);
    const key = await storage().newKey(owner);
    const stored = await storage().put(key, inChunks(content, 64 * 1024), LIMIT);
    expect(stored).toEqual({ size: content.length, sha256: createHash('sha256').update(content).digest('hex') });
    expect((await whole(await storage().get(key))).equals(content)).toBe(true);
    expect(incoming()).toEqual([]);
  });

  it('gives back a range with both ends', async () => {
    const key = await storage().newKey(owner);
    await storage().put(key, inChunks(Buffer.from('0123456789'), 4), LIMIT);
    expect((await whole(await storage().get(key, { first: 2, last: 5 }))).toString()).toBe('2345');
  });

  it('keeps an empty content', async () => {
    const key = await storage().newKey(owner);
    expect((await storage().put(key, inChunks(Buffer.alloc(0), 1), LIMIT)).size).toBe(0);
    expect(await whole(await storage().get(key))).toHaveLength(0);
  });

  it('takes a content of exactly the limit, and nothing of one that is a byte longer', async () => {
    const [fits, tooLong] = [await storage().newKey(owner), await storage().newKey(owner)];
    await storage().put(fits, inChunks(Buffer.alloc(100), 33), 100);
    await expect(storage().put(tooLong, inChunks(Buffer.alloc(101), 33), 100)).rejects.toThrow(ContentTooLong);
    await expect(storage().get(tooLong)).rejects.toThrow(ContentUnavailable);
    expect(incoming()).toEqual([]);
  });

  it('leaves nothing of a content that breaks off, and passes its error on', async () => {
    const broken = new Error('the client left');
    const key = await storage().newKey(owner);
    await expect(storage().put(key, breakingOff(Buffer.alloc(10), broken), LIMIT)).rejects.toBe(broken);
    await expect(storage().get(key)).rejects.toThrow(ContentUnavailable);
    expect(incoming()).toEqual([]);
  });

  it('deletes a content, and one that is not there', async () => {
    const key = await storage().newKey(owner);
    await storage().put(key, inChunks(Buffer.from('x'), 1), LIMIT);
    expect([await storage().delete(key), await storage().delete(key)]).toEqual([true, true]);
    await expect(storage().get(key)).rejects.toThrow(ContentUnavailable);
  });

  it('takes no content of the folder of another replica for deleted', async () => {
    const elsewhere = new FolderStorage({
      folder: join(root, 'elsewhere'),
      isShared: false,
      isDurable: true,
      peers: async () => 0,
    });
    const key = await elsewhere.newKey(owner);
    await elsewhere.put(key, inChunks(Buffer.from('x'), 1), LIMIT);
    await storage().newKey(owner);
    expect(await storage().delete(key)).toBe(false);
    expect((await whole(await elsewhere.get(key))).toString()).toBe('x');
    expect(await elsewhere.delete(key)).toBe(true);
  });

  it('keeps to the place of a folder that another process made', async () => {
    const [one, other] = [await storage().newKey(owner), await storage().newKey(owner)];
    expect(other.split('/', 1)).toEqual(one.split('/', 1));
  });

  it.each(['../outside', 'a/b', `0a1b2c3d/${'0'.repeat(32)}/../../x`, `../0a1b2c3d/${'0'.repeat(32)}/x`])(
    'refuses the key %s',
    async (key) => {
      await expect(storage().get(key)).rejects.toThrow(RangeError);
    },
  );

  it('has nothing of an upload whose process ended in the middle, once its temporary file is an hour old', async () => {
    await mkdir(join(folder, 'incoming'), { recursive: true });
    const key = await storage().newKey(owner);
    for (const [name, minutes] of [
      ['killed', 61],
      ['under way', 59],
    ] as const) {
      const path = join(folder, 'incoming', name);
      writeFileSync(path, 'x');
      const at = new Date(Date.now() - minutes * 60_000);
      utimesSync(path, at, at);
    }
    await storage().removeAbandoned();
    expect(incoming()).toEqual(['under way']);
    await expect(storage().get(key)).rejects.toThrow(ContentUnavailable);
  });

  it('reports a folder that cannot be written as unavailable', async () => {
    writeFileSync(folder, 'a file where the folder would be');
    const put = storage().put(newStorageKey('0a1b2c3d', owner), inChunks(Buffer.from('x'), 1), LIMIT);
    await expect(put).rejects.toThrow(ContentUnavailable);
    await expect(storage().newKey(owner)).rejects.toThrow(ContentUnavailable);
  });

  it('refuses uploads beside other replicas unless they share the folder', async () => {
    expect([await storage(0).explainRefusal(), await storage(1, true).explainRefusal()]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await storage(1).explainRefusal()).toMatch(/FILES_DIR_SHARED=true/);
  });

  it('refuses uploads where the folder ends with its process, whoever shares it', async () => {
    const passing = new FolderStorage({ folder, isShared: true, isDurable: false, peers: async () => 0 });
    expect(await passing.explainRefusal()).toMatch(/FILES_S3_ENDPOINT/);
  });

  it('keeps contents of one owner together, under keys that do not tell the owner', () => {
    const digestOf = (it: typeof owner): string | undefined => newStorageKey('0a1b2c3d', it).split('/')[1];
    const one = digestOf(owner);
    expect(digestOf(owner)).toBe(one);
    expect(digestOf({ tenant: 'acmea', owner: 'nn' })).not.toBe(one);
    expect(one).not.toContain('ann');
  });
});
