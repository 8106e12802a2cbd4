import { Injectable, Logger } from '@nestjs/common';
import { type JobContext, Jobs } from '#libs/jobs';
import { FileContents } from './file-contents.js';
import { FileHeld, FileInUse } from './file-errors.js';
import { type ExpiredFile, FileStore } from './file-store.js';

const NAME = 'files.upkeep';
const EVERY_TEN_MINUTES = '*/10 * * * *';
const BATCH = 20;
/** Batches that may fail until the storage counts as out of reach. */
const MOST_FAILURES = 3;

/** Deletes files whose time is over (FILE_RETENTION) and that no Task names, and contents that uploads left which never ended. */
@Injectable()
export class FileUpkeepJob {
  private readonly logger = new Logger(FileUpkeepJob.name);

  constructor(
    jobs: Jobs,
    private readonly files: FileStore,
    private readonly contents: FileContents,
  ) {
    jobs.register(NAME, {
      purpose: 'upkeep',
      read: () => undefined,
      run: (_payload, { signal }: JobContext) => this.run(signal),
    });
    jobs.every({ name: NAME, match: EVERY_TEN_MINUTES });
  }

  private async run(signal: AbortSignal): Promise<void> {
    const expired = await this.deleteExpired(signal);
    await this.discardLeftovers(signal);
    if (expired > 0) this.logger.log({ files: expired }, 'Deleted files whose time was over');
    signal.throwIfAborted();
  }

  /** Their contents are leftovers then. */
  private async deleteExpired(signal: AbortSignal): Promise<number> {
    let deleted = 0;
    for (let after: ExpiredFile | undefined; !signal.aborted;) {
      const files: ExpiredFile[] = await this.files.expired(BATCH, after);
      for (const file of files) {
        if (signal.aborted) return deleted;
        if (await this.deleteUnused(file)) deleted += 1;
      }
      after = files.at(-1);
      if (files.length < BATCH) return deleted;
    }
    return deleted;
  }

  /** @returns false where it is gone, or a Task has named it meanwhile */
  private async deleteUnused({ tenant, owner, id }: ExpiredFile): Promise<boolean> {
    try {
      return (await this.files.delete({ tenant, owner }, id)) !== undefined;
    } catch (error) {
      if (error instanceof FileInUse || error instanceof FileHeld) return false;
      throw error;
    }
  }

  /** A storage that is out of reach fails the job, which is tried again; contents that it refuses to delete do not stop it. */
  private async discardLeftovers(signal: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (let after: string | undefined = ''; after !== undefined && !signal.aborted;) {
      const keys: string[] = await this.files.dueLeftovers(BATCH, after);
      if (keys.length > 0) await this.contents.discard(keys).catch((error: unknown) => failures.push(error));
      after = keys.length < BATCH || failures.length >= MOST_FAILURES ? undefined : keys.at(-1);
    }
    if (failures.length > 0) throw failures[0];
  }
}
