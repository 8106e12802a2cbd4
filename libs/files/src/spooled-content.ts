import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ContentTooLong, ContentUnavailable } from './file-storage.js';
import type { StoredContent } from './stored-file.js';

const RESERVED_SHARE = 1 / 20;
const MOST_RESERVED_BYTES = 1024 ** 3;
/** Bytes written between two checks of the disk. */
const LOOK_EVERY_BYTES = 16 * 1024 ** 2;

/** Free and total bytes of a disk. */
export interface DiskSpace {
  readonly free: number;
  readonly total: number;
}

/**
 * Keeps part of a disk free of uploads: a twentieth, at most 1 GiB. A full disk would stop the database, which may be
 * on the same disk if the service is a single process. All uploads of a process share one reserve; together they
 * write 16 MiB between two checks.
 */
export class DiskReserve {
  /** Bytes that all uploads have written since the last check. */
  private unseen = 0;

  constructor(
    private readonly folder: string,
    private readonly measure: (folder: string) => Promise<DiskSpace> = diskSpace,
  ) {}

  /**
   * Counts the bytes of the next write, and checks the disk every 16 MiB, or at each write once the disk is almost
   * full.
   * @throws ContentUnavailable if only the reserve is left
   */
  async countBytes(bytes: number): Promise<void> {
    this.unseen += bytes;
    if (this.unseen >= LOOK_EVERY_BYTES) await this.checkDisk();
  }

  /**
   * Measures the free space of the disk. To be called before an upload writes anything.
   * @throws ContentUnavailable if only the reserve is left, or if the disk cannot be measured
   */
  async checkDisk(): Promise<void> {
    this.unseen = 0;
    const { free, total } = await this.measure(this.folder).catch((cause: unknown) => {
      throw new ContentUnavailable('The disk of DATA_DIR cannot be measured', { cause });
    });
    if (free - LOOK_EVERY_BYTES >= Math.min(total * RESERVED_SHARE, MOST_RESERVED_BYTES)) return;
    // Every upload under way must find the disk full, not only the one that crosses 16 MiB.
    this.unseen = LOOK_EVERY_BYTES;
    throw new ContentUnavailable('The disk of DATA_DIR is almost full');
  }
}

async function diskSpace(folder: string): Promise<DiskSpace> {
  const { bsize, bavail, blocks } = await statfs(folder);
  return { free: bsize * bavail, total: bsize * blocks };
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/**
 * Age of the last write, in milliseconds, after which a temporary file counts as abandoned. An upload that is still
 * in progress writes more often, because `watchPace` ends slow uploads.
 */
const ABANDONED_MS = 3_600_000;
const SWEEP_EVERY_MS = 3_600_000;

/** Content that has arrived completely in a temporary file, with its size and digest. */
export interface SpooledContent extends StoredContent {
  readonly path: string;
}

/** Temporary files for arriving contents. */
export class Spool {
  private readonly reserve: DiskReserve;
  private sweptAt = 0;

  constructor(private readonly folder: string) {
    this.reserve = new DiskReserve(folder);
  }

  /**
   * Writes a content to a temporary file and syncs it, with at most one chunk in memory. If it rejects, no file
   * remains. Once an hour, it first removes abandoned files.
   * @throws ContentTooLong above `limit` bytes
   * @throws ContentUnavailable if the file cannot be written, or the disk is almost full
   */
  async writeContent(content: AsyncIterable<Uint8Array>, limit: number): Promise<SpooledContent> {
    if (Date.now() - this.sweptAt > SWEEP_EVERY_MS) await this.removeAbandoned();
    const path = join(this.folder, randomUUID());
    const file = await this.createFile(path).catch(throwUnavailable);
    try {
      await this.reserve.checkDisk();
      const written = await copyTo(file, content, limit, this.reserve);
      await file.sync().catch(throwUnavailable);
      await file.close();
      return { path, ...written };
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Removes temporary files of processes that ended in the middle of an upload. Ignores files that cannot be removed.
   */
  async removeAbandoned(): Promise<void> {
    this.sweptAt = Date.now();
    const names = await readdir(this.folder).catch(() => []);
    for (const name of names) {
      const path = join(this.folder, name);
      const modifiedAt = await stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Infinity,
      );
      if (Date.now() - modifiedAt > ABANDONED_MS) await rm(path, { force: true }).catch(() => undefined);
    }
  }

  private async createFile(path: string): Promise<FileHandle> {
    await mkdir(this.folder, { recursive: true, mode: FOLDER_MODE });
    return open(path, 'wx', FILE_MODE);
  }
}

async function copyTo(
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  limit: number,
  reserve: DiskReserve,
): Promise<StoredContent> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of content) {
    size += chunk.byteLength;
    if (size > limit) throw new ContentTooLong(limit);
    await reserve.countBytes(chunk.byteLength);
    hash.update(chunk);
    await writeWhole(file, chunk);
  }
  return { size, sha256: hash.digest('hex') };
}

/** Writes a whole chunk: a single write may accept less. */
async function writeWhole(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let offset = 0; offset < chunk.byteLength;) {
    const { bytesWritten } = await file.write(chunk, offset).catch(throwUnavailable);
    offset += bytesWritten;
  }
}

/**
 * Throws ContentUnavailable for a failure of the disk, for example a full disk. An error of the arriving content is not
 * passed to this function.
 */
function throwUnavailable(cause: unknown): never {
  throw new ContentUnavailable('A temporary file cannot be written', { cause });
}
