import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type ByteRange, ContentUnavailable, FileStorage, STORAGE_KEY } from './file-storage.js';
import { Spool } from './spooled-content.js';
import type { StoredContent } from './stored-file.js';

const FOLDER_MODE = 0o700;
const NOT_SHARED =
  'Several replicas serve here, and files lie in a folder of one of them: set FILES_DIR_SHARED=true where all replicas ' +
  'share DATA_DIR/files, or FILES_S3_ENDPOINT';

export interface FolderStorageOptions {
  /** Absolute. Made with the first content. */
  folder: string;
  /** True if every replica sees the same folder. */
  isShared: boolean;
  /** Returns the number of other replicas that live. */
  peers: () => number;
}

/** Keeps contents as files of a folder. A content is written to a temporary file, synced, and renamed to its key. */
export class FolderStorage extends FileStorage {
  private readonly spool: Spool;

  constructor(private readonly options: FolderStorageOptions) {
    super();
    this.spool = new Spool(join(options.folder, 'incoming'));
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, limit: number): Promise<StoredContent> {
    const path = this.pathOf(key);
    const { path: from, ...stored } = await this.spool.write(content, limit);
    try {
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
      await rename(from, path);
      // The names are durable only when their folders are: that of the content, and that of the owner's folder.
      await syncFolder(dirname(path));
      await syncFolder(this.options.folder);
    } catch (cause) {
      await rm(from, { force: true });
      throw new ContentUnavailable(`The content ${key} cannot be written`, { cause });
    }
    return stored;
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    const file = await open(this.pathOf(key), 'r').catch((cause: unknown) => {
      throw new ContentUnavailable(`The content ${key} cannot be read`, { cause });
    });
    return file.createReadStream(range && { start: range.first, end: range.last });
  }

  async delete(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true }).catch((cause: unknown) => {
      throw new ContentUnavailable(`The content ${key} cannot be deleted`, { cause });
    });
  }

  refusal(): string | undefined {
    return this.options.isShared || this.options.peers() === 0 ? undefined : NOT_SHARED;
  }

  /** Removes temporary files of uploads that ended with their process. */
  async removeAbandoned(): Promise<void> {
    await this.spool.removeAbandoned();
  }

  private pathOf(key: string): string {
    if (!STORAGE_KEY.test(key)) throw new RangeError('This is no key of a content');
    return join(this.options.folder, key);
  }
}

/** Windows knows no such thing: opening a folder is refused there, and names are durable without it. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
