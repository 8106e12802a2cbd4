import { Readable } from 'node:stream';
import { FileContents } from './file-contents.js';
import { type ByteRange, ContentTooLong, ContentUnavailable, FileStorage, newStorageKey } from './file-storage.js';
import type { FileDraft, StoredContent } from './stored-file.js';

const owner = { tenant: 'acme', owner: 'ann' };
const [HERE, ELSEWHERE] = ['0a1b2c3d', 'ffffffff'];

/** Storage that holds contents in memory, and fails where the test says so. */
class MemoryStorage extends FileStorage {
  readonly contents = new Map<string, Buffer>();
  readonly deleted: string[] = [];
  readonly undeletable = new Set<string>();
  isFull = false;

  override async newKey(): Promise<string> {
    return newStorageKey(HERE, owner);
  }

  override async put(key: string, content: AsyncIterable<Uint8Array>, limit: number): Promise<StoredContent> {
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    const whole = Buffer.concat(pieces);
    if (whole.length > limit) throw new ContentTooLong(limit);
    if (this.isFull) throw new ContentUnavailable('The disk is full');
    this.contents.set(key, whole);
    return { size: whole.length, sha256: whole.toString('hex') };
  }

  override async get(key: string, range?: ByteRange): Promise<Readable> {
    const content = this.contents.get(key);
    if (content === undefined) throw new ContentUnavailable('There is no such content');
    return Readable.from([range ? content.subarray(range.first, range.last + 1) : content]);
  }

  override async delete(key: string): Promise<boolean> {
    if (this.undeletable.has(key)) throw new ContentUnavailable('The server answered 403');
    this.deleted.push(key);
    this.contents.delete(key);
    return key.startsWith(HERE);
  }

  override async explainRefusal(): Promise<undefined> {
    return undefined;
  }
}

/** Implements, in memory, the part of FileStore that FileContents uses. */
class MemoryStore {
  readonly leftovers = new Set<string>();
  readonly committed: FileDraft[] = [];
  /** Contents that the owner has already stored. */
  known: { storageKey: string; size: number }[] = [];
  unreadable: ReadonlySet<string> = new Set();
  stored = 0;
  /** False once the file is deleted. */
  isThere = true;

  get = async (_owner: unknown, id: string): Promise<object | undefined> => (this.isThere ? { id } : undefined);
  storageKey = async (): Promise<string> => newStorageKey(HERE, owner);

  noteLeftover = async (key: string): Promise<void> => void this.leftovers.add(key);
  storedBytes = async (): Promise<number> => this.stored;
  doomLeftovers = async (keys: readonly string[]): Promise<string[]> => keys.filter((key) => this.leftovers.has(key));
  forgetLeftovers = async (keys: readonly string[]): Promise<void> => keys.forEach((key) => this.leftovers.delete(key));
  knownContents = async (): Promise<{ storageKey: string; size: number }[]> => this.known;
  commitFiles = async (
    _owner: unknown,
    drafts: readonly FileDraft[],
    unreadable: ReadonlySet<string>,
  ): Promise<FileDraft[]> => {
    this.unreadable = unreadable;
    for (const draft of drafts) {
      this.leftovers.delete(draft.storageKey);
      this.committed.push(draft);
    }
    return [...drafts];
  };
}

let storage: MemoryStorage;
let store: MemoryStore;
let contents: FileContents;

beforeEach(() => {
  storage = new MemoryStorage();
  store = new MemoryStore();
  const config = { files: { fileBytes: 10, ownerBytes: 16 } };
  contents = new FileContents(store as never, storage, config as never);
});

async function* files(...sizes: number[]) {
  for (const size of sizes) yield { name: 'x', mediaType: 'text/plain', content: Readable.from([Buffer.alloc(size)]) };
}

describe('FileContents', () => {
  it('answers 404 where a file was deleted between the look at its row and its content, and 503 where it was not', async () => {
    const file = { ...owner, id: 'f' } as never;
    await expect(contents.openContent(file)).rejects.toMatchObject({ status: 503 });
    store.isThere = false;
    await expect(contents.openContent(file)).rejects.toMatchObject({ status: 404 });
  });

  it('stores the files of an upload, and leaves nothing that no file has', async () => {
    expect(await contents.storeFiles(owner, files(10, 6))).toHaveLength(2);
    expect([store.leftovers.size, storage.contents.size, storage.deleted]).toEqual([0, 2, []]);
  });

  it.each([
    ['a file beyond FILE_LIMIT', [11], 'FILE_TOO_LARGE'],
    ['an upload that brings more than FILES_QUOTA', [10, 7], 'QUOTA_EXCEEDED'],
  ])('refuses %s before its end, and deletes what it brought', async (_what, sizes, reason) => {
    await expect(contents.storeFiles(owner, files(...sizes, 1))).rejects.toMatchObject({ status: 413, reason });
    expect([store.committed, store.leftovers.size, storage.contents.size]).toEqual([[], 0, 0]);
  });

  it('answers 503 where nothing can be written, and leaves the rest to the upkeep', async () => {
    storage.isFull = true;
    await expect(contents.storeFiles(owner, files(1))).rejects.toMatchObject({
      status: 503,
      reason: 'STORAGE_UNAVAILABLE',
    });
    expect([storage.deleted, store.leftovers.size]).toEqual([[], 1]);
  });

  it('uses a content that the owner has already only where the storage gives it back to its end', async () => {
    const [whole, gone, cut] = [HERE, ELSEWHERE, HERE].map((it) => newStorageKey(it, owner));
    storage.contents.set(whole!, Buffer.alloc(3)).set(cut!, Buffer.alloc(2));
    store.known = [whole!, gone!, cut!].map((storageKey) => ({ storageKey, size: 3 }));
    await contents.storeFiles(owner, files(3));
    expect(store.unreadable).toEqual(new Set([gone, cut]));
  });

  it('deletes all contents that can be deleted, and forgets those alone', async () => {
    const [gone, failing, other, elsewhere] = [HERE, HERE, HERE, ELSEWHERE].map((it) => newStorageKey(it, owner));
    for (const key of [gone, failing, other, elsewhere]) store.leftovers.add(key!);
    storage.undeletable.add(failing!);
    await expect(contents.discardContents([gone!, failing!, other!, elsewhere!])).rejects.toThrow(
      'The server answered 403',
    );
    expect([...store.leftovers]).toEqual([failing, elsewhere]);
  });
});
