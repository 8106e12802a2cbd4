import { Injectable, Logger } from '@nestjs/common';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { FileContents } from './file-contents.js';
import { FileHeld, FileInUse } from './file-errors.js';
import { type ExpiredFile, FileStore } from './file-store.js';

const UPKEEP = { name: 'files.upkeep', match: '*/10 * * * *' };
const BATCH = 20;
/** Number of failed batches of deletions that makes the storage count as unreachable. */
const MOST_FAILURES = 3;

/**
 * Deletes expired files (FILE_RETENTION) that no Task refers to, and contents that no file uses, such as contents of
 * uploads whose connection was lost.
 */
@Injectable()
export class FileUpkeepJob {
  private readonly logger = new Logger(FileUpkeepJob.name);

  constructor(
    jobs: Jobs,
    private readonly files: FileStore,
    private readonly contents: FileContents,
  ) {
    scheduleUpkeep(jobs, UPKEEP, (signal) => this.runUpkeep(signal));
  }

  private async runUpkeep(signal: AbortSignal): Promise<void> {
    const expired = await this.deleteExpired(signal);
    await this.discardLeftovers(signal);
    if (expired > 0) this.logger.log({ files: expired }, 'Deleted expired files');
    signal.throwIfAborted();
  }

  /** Deletes expired files; their contents become leftovers (see FileStore). @returns the number of deleted files */
  private async deleteExpired(signal: AbortSignal): Promise<number> {
    let deleted = 0;
    for (let after: ExpiredFile | undefined; !signal.aborted;) {
      const files: ExpiredFile[] = await this.files.listExpired(BATCH, after);
      for (const file of files) {
        if (signal.aborted) return deleted;
        if (await this.deleteUnused(file)) deleted += 1;
      }
      after = files.at(-1);
      if (files.length < BATCH) return deleted;
    }
    return deleted;
  }

  /** Deletes a file. @returns false if it no longer exists, or a Task has come to refer to it */
  private async deleteUnused({ tenant, owner, id }: ExpiredFile): Promise<boolean> {
    try {
      return (await this.files.delete({ tenant, owner }, id)) !== undefined;
    } catch (error) {
      if (error instanceof FileInUse || error instanceof FileHeld) return false;
      throw error;
    }
  }

  /**
   * Deletes the contents of the leftovers that `dueLeftovers` lists. If the storage is unreachable, the job fails and
   * is retried; a single content that cannot be deleted does not stop the deletion of the others.
   */
  private async discardLeftovers(signal: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (let after: string | undefined = ''; after !== undefined && !signal.aborted;) {
      const keys: string[] = await this.files.dueLeftovers(BATCH, after);
      if (keys.length > 0) await this.contents.discardContents(keys).catch((error: unknown) => failures.push(error));
      after = keys.length < BATCH || failures.length >= MOST_FAILURES ? undefined : keys.at(-1);
    }
    if (failures.length > 0) throw failures[0];
  }
}
