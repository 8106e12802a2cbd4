import { Injectable, Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { ProblemError } from '#libs/http-server';
import { AppConfig, Backoff } from '#libs/service';
import { fileTooLarge, quotaExceeded, storageUnavailable, unknownFile } from './file-errors.js';
import { type ByteRange, ContentTooLong, ContentUnavailable, FileStorage } from './file-storage.js';
import { FileStore, type FileTerms } from './file-store.js';
import type { FileDraft, FileLabel, FileOwner, StoredContent, StoredFile } from './stored-file.js';

/** File of an upload whose content is still arriving. */
export interface ArrivingFile extends FileLabel {
  readonly content: AsyncIterable<Uint8Array>;
}

/** Stores, opens and deletes files: their rows in the database and their contents in the storage together. */
@Injectable()
export class FileContents {
  private readonly logger = new Logger(FileContents.name);

  constructor(
    private readonly files: FileStore,
    private readonly storage: FileStorage,
    private readonly config: AppConfig,
  ) {}

  /**
   * Stores files as they arrive, all or none. A content that the owner has already is stored only once; if the
   * storage cannot read that content, the new copy replaces it.
   * @param announcedBytes announced total size in bytes; an upload beyond the quota is refused unread; 0: not
   *   announced
   * @param terms how long the files are kept; absent: the defaults
   * @throws ProblemError 413 above FILE_LIMIT or FILES_QUOTA, 503 if nothing can be stored
   */
  async storeFiles(
    owner: FileOwner,
    files: AsyncIterable<ArrivingFile>,
    announcedBytes = 0,
    terms?: FileTerms,
  ): Promise<StoredFile[]> {
    await this.assertRoom(owner, announcedBytes);
    const keys: string[] = [];
    let isReachable = true;
    try {
      const drafts: FileDraft[] = [];
      let arrived = 0;
      for await (const { content, ...label } of files) {
        const storageKey = await this.storage.newKey(owner);
        await this.files.noteLeftover(storageKey);
        keys.push(storageKey);
        const stored = await this.putContent(storageKey, content, this.config.files.ownerBytes - arrived);
        arrived += stored.size;
        drafts.push({ ...label, storageKey, ...stored });
      }
      return await this.files.commitFiles(owner, drafts, await this.findUnreadable(owner, drafts), terms);
    } catch (error) {
      isReachable = !(error instanceof ContentUnavailable);
      return this.reportUnavailable(error);
    } finally {
      // A failed upload leaves all its contents, a successful one those that the owner had already. Leftovers also
      // decide a commit with unknown outcome. An unreachable storage may still execute earlier requests: those
      // leftovers stay until they are due.
      if (isReachable) await this.discardQuietly(keys);
    }
  }

  /**
   * Opens the content of a file, or a range of it.
   * @throws ProblemError 404 if the file was deleted meanwhile, 503 if the storage is not available
   */
  async openContent(file: StoredFile, range?: ByteRange): Promise<Readable> {
    const key = await this.files.storageKey(file);
    if (key === undefined) throw unknownFile();
    return this.storage.get(key, range).catch(async (error: unknown) => {
      if ((await this.files.get(file, file.id)) === undefined) throw unknownFile();
      return this.reportUnavailable(error);
    });
  }

  /** Deletes a file, and its content if no other file uses it. @returns false if there is no such file */
  async delete(owner: FileOwner, id: string): Promise<boolean> {
    const key = await this.files.delete(owner, id);
    if (typeof key === 'string') await this.discardQuietly([key]);
    return key !== undefined;
  }

  /**
   * Deletes the given contents that no file uses, and makes sure that no upload can use them later. If this replica
   * cannot reach the folder of a content, the content stays a leftover (see FileStore), which another replica deletes.
   * @throws the first failure, after all deletions were tried
   */
  async discardContents(storageKeys: readonly string[]): Promise<void> {
    const doomed = storageKeys.length === 0 ? [] : await this.files.doomLeftovers(storageKeys);
    const outcomes = await Promise.allSettled(doomed.map((key) => this.storage.delete(key)));
    const deleted = doomed.filter((_key, index) => isDeleted(outcomes[index]!));
    if (deleted.length > 0) await this.files.forgetLeftovers(deleted);
    const failure = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (failure) throw failure.reason;
    if (deleted.length < doomed.length)
      this.logger.warn({ contents: doomed.length - deleted.length }, 'Contents to delete are in another folder');
  }

  /**
   * Stores one content.
   * @param room number of bytes that this upload may still store, so that it never exceeds FILES_QUOTA as a whole
   */
  private async putContent(key: string, content: AsyncIterable<Uint8Array>, room: number): Promise<StoredContent> {
    const { fileBytes, ownerBytes } = this.config.files;
    return this.storage.put(key, content, Math.min(fileBytes, room)).catch((error: unknown) => {
      if (error instanceof ContentTooLong) throw room < fileBytes ? quotaExceeded(ownerBytes) : fileTooLarge(fileBytes);
      throw error;
    });
  }

  /** Returns the keys of the owner's existing contents that the storage cannot read completely. */
  private async findUnreadable(owner: FileOwner, drafts: readonly FileDraft[]): Promise<ReadonlySet<string>> {
    const digests = drafts.map(({ sha256 }) => sha256);
    const keys = new Set<string>();
    for (const { storageKey, size } of await this.files.knownContents(owner, digests)) {
      if (await this.isReadable(storageKey, size)) continue;
      this.logger.warn({ storageKey }, 'An unreadable content was replaced by the same content of an upload');
      keys.add(storageKey);
    }
    return keys;
  }

  /** True if the last byte of a content can be read. */
  private async isReadable(key: string, size: number): Promise<boolean> {
    const range = size === 0 ? undefined : { first: size - 1, last: size - 1 };
    try {
      let bytes = 0;
      for await (const chunk of await this.storage.get(key, range)) bytes += (chunk as Uint8Array).byteLength;
      return range === undefined || bytes === 1;
    } catch {
      return false;
    }
  }

  private async assertRoom(owner: FileOwner, bytes: number): Promise<void> {
    const refusal = await this.storage.explainRefusal();
    if (refusal !== undefined) throw storageUnavailable(refusal);
    const { ownerBytes } = this.config.files;
    const stored = await this.files.storedBytes(owner);
    if (stored >= ownerBytes || bytes > ownerBytes) throw quotaExceeded(ownerBytes);
  }

  /** Deletes contents that no file uses. Failures are only logged: FileUpkeepJob tries again later. */
  private async discardQuietly(keys: readonly string[]): Promise<void> {
    await this.discardContents(keys).catch((error: unknown) => {
      this.logger.warn({ err: error, contents: keys.length }, 'Contents of files could not be deleted yet');
    });
  }

  private reportUnavailable(error: unknown): never {
    if (!(error instanceof ContentUnavailable)) throw error;
    this.logger.error({ err: error }, 'The file storage failed');
    throw storageUnavailable('Files cannot be stored or read at the moment; try again later');
  }
}

function isDeleted(outcome: PromiseSettledResult<boolean>): boolean {
  return outcome.status === 'fulfilled' && outcome.value;
}

const BACKOFF = new Backoff(250, 15_000);
/** Maximum milliseconds that an outage is waited for: restarting or moving the storage takes less. */
const LONGEST_OUTAGE_MS = 5 * 60_000;

/**
 * Retries a read while the storage of files, or the database, does not answer: for five minutes, with growing pauses
 * (back-off).
 * @throws the reason of the signal once the signal is aborted
 * @throws the last failure after five minutes; at once, an error whose status is not 503
 */
export function readThroughOutage<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
  longestMs = LONGEST_OUTAGE_MS,
): Promise<T> {
  const deadline = performance.now() + longestMs;
  return BACKOFF.retryWhile(
    read,
    (error, pauseMs) => !isFinal(error) && performance.now() + pauseMs <= deadline,
    signal,
  );
}

/**
 * True if a retry cannot help, such as for a deleted file. (If a content breaks off, its stream reports the error
 * instead.)
 */
function isFinal(error: unknown): boolean {
  return error instanceof ProblemError && error.status !== 503;
}
