import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type ByteRange, ContentUnavailable, FileStorage, newStorageKey, placeOfKey } from './file-storage.js';
import { Spool } from './spooled-content.js';
import type { FileOwner, StoredContent } from './stored-file.js';

const FOLDER_MODE = 0o700;
const PLACE = /^[\da-f]{8}$/;
const PLACE_BYTES = 4;
const NOT_SHARED =
  'Several replicas run, but files are in a folder of one of them: set FILES_DIR_SHARED=true if all replicas ' +
  'share DATA_DIR/files, or FILES_S3_ENDPOINT';
const NOT_DURABLE = 'No storage for files that outlives the service is configured: set FILES_S3_ENDPOINT';

export interface FolderStorageOptions {
  /** Absolute path of the folder, which is created with the first content. */
  folder: string;
  /** True if all replicas share the folder. */
  isShared: boolean;
  /** True if the folder remains when this process ends. */
  isDurable: boolean;
  /** Returns the number of other living replicas. */
  peers: () => Promise<number>;
}

/**
 * Stores contents as files of a folder. A content is written to a temporary file, synced, and renamed to its key.
 *
 * The contents are in a subfolder with a random name (the place), with which their keys begin. Replicas with
 * different folders thus have different places: a replica can tell a content in another replica's folder from a
 * deleted content.
 */
export class FolderStorage extends FileStorage {
  private readonly spool: Spool;
  private place: Promise<string> | undefined;

  constructor(private readonly options: FolderStorageOptions) {
    super();
    this.spool = new Spool(join(options.folder, 'incoming'));
  }

  async newKey(owner: FileOwner): Promise<string> {
    this.place ??= this.findPlace();
    try {
      return newStorageKey(await this.place, owner);
    } catch (cause) {
      this.place = undefined;
      throw new ContentUnavailable('The folder of files cannot be made', { cause });
    }
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, limit: number): Promise<StoredContent> {
    const path = this.contentPath(key);
    const { path: from, ...stored } = await this.spool.writeContent(content, limit);
    try {
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
      await rename(from, path);
      // Names are durable only once their folders are synced: those of the content, of the owner's folder, and of the
      // place.
      for (const name of [path, dirname(path), dirname(dirname(path))]) await syncFolder(dirname(name));
    } catch (cause) {
      await rm(from, { force: true });
      throw new ContentUnavailable(`The content ${key} cannot be written`, { cause });
    }
    return stored;
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const file = await open(this.contentPath(key), 'r').catch((cause: unknown) => {
      throw new ContentUnavailable(`The content ${key} cannot be read`, { cause });
    });
    return file.createReadStream(range && { start: range.first, end: range.last });
  }

  async delete(key: string): Promise<boolean> {
    const path = this.contentPath(key);
    try {
      if (!(await pathExists(join(this.options.folder, placeOfKey(key))))) return false;
      await rm(path, { force: true });
      return true;
    } catch (cause) {
      throw new ContentUnavailable(`The content ${key} cannot be deleted`, { cause });
    }
  }

  async explainRefusal(): Promise<string | undefined> {
    const { isShared, isDurable, peers } = this.options;
    if (!isDurable) return NOT_DURABLE;
    return isShared || (await peers()) === 0 ? undefined : NOT_SHARED;
  }

  /** Removes temporary files of uploads whose process has ended. */
  async removeAbandoned(): Promise<void> {
    await this.spool.removeAbandoned();
  }

  /**
   * Finds or creates the subfolder of contents (the place). If replicas that share the folder create two of them at
   * once, all replicas reach both.
   */
  private async findPlace(): Promise<string> {
    const { folder } = this.options;
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    const known = (await readdir(folder)).filter((name) => PLACE.test(name)).toSorted();
    const place = known[0] ?? randomBytes(PLACE_BYTES).toString('hex');
    await mkdir(join(folder, place), { recursive: true, mode: FOLDER_MODE });
    return place;
  }

  private contentPath(key: string): string {
    placeOfKey(key);
    return join(this.options.folder, key);
  }
}

async function pathExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Syncs a folder, so that the names in it are durable. On Windows this is neither possible nor needed. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
