import { statfs } from 'node:fs/promises';
import { ContentUnavailable } from './file-storage.js';

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
 * Keeps part of a disk free of uploads: a twentieth, at most 1 GiB. The database of a single service may share the
 * disk, and cannot commit on a full one. All uploads of a process share one reserve: together they write 16 MiB between
 * two checks.
 */
export class DiskReserve {
  /** Bytes that all uploads have written since the last check. */
  private unseen = 0;

  constructor(
    private readonly folder: string,
    private readonly measure: (folder: string) => Promise<DiskSpace> = diskSpace,
  ) {}

  /**
   * Counts the bytes of the next write, and checks the disk every 16 MiB, or at each write once it is almost full.
   * @throws ContentUnavailable if only the reserve is left
   */
  async countBytes(bytes: number): Promise<void> {
    this.unseen += bytes;
    if (this.unseen >= LOOK_EVERY_BYTES) await this.checkDisk();
  }

  /** Checks the disk; call it before an upload writes anything. @throws ContentUnavailable */
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
