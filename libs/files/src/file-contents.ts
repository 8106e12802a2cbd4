import { Injectable, Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { AppConfig } from '#libs/service';
import { fileTooLarge, quotaExceeded, storageUnavailable, unknownFile } from './file-errors.js';
import { type ByteRange, ContentTooLong, ContentUnavailable, FileStorage, newStorageKey } from './file-storage.js';
import { FileStore } from './file-store.js';
import type { FileDraft, FileLabel, FileOwner, StoredFile } from './stored-file.js';

/** One file of an upload, as it arrives. */
export interface ArrivingFile extends FileLabel {
  readonly content: AsyncIterable<Uint8Array>;
}

/** Stores, opens and deletes files: rows and contents together. */
@Injectable()
export class FileContents {
  private readonly logger = new Logger(FileContents.name);

  constructor(
    private readonly files: FileStore,
    private readonly storage: FileStorage,
    private readonly config: AppConfig,
  ) {}

  /**
   * Stores files as they arrive, all or none.
   * @param announcedBytes how much is coming, where that is known; more than the owner may store is refused unread
   * @throws ProblemError 413 beyond FILE_LIMIT or FILES_QUOTA, 503 where nothing can be stored
   */
  async store(owner: FileOwner, files: AsyncIterable<ArrivingFile>, announcedBytes = 0): Promise<StoredFile[]> {
    await this.assertRoom(owner, announcedBytes);
    const keys: string[] = [];
    try {
      const drafts: FileDraft[] = [];
      for await (const { content, ...label } of files) {
        const storageKey = newStorageKey(owner);
        await this.files.noteLeftover(storageKey);
        keys.push(storageKey);
        drafts.push({ ...label, storageKey, ...(await this.put(storageKey, content)) });
      }
      return await this.files.commit(owner, drafts);
    } finally {
      // Of an upload that failed all, of one that succeeded what the owner had already. A commit of which nobody knows
      // whether it came about is told by its leftovers, too.
      await this.discardQuietly(keys);
    }
  }

  /** Opens the content of a file, or a range of it. @throws ProblemError 404 where it was deleted meanwhile, 503 */
  async open(file: StoredFile, range?: ByteRange): Promise<Readable> {
    const key = await this.files.storageKey(file);
    if (key === undefined) throw unknownFile();
    return this.storage.get(key, range).catch((error: unknown) => this.reportUnavailable(error));
  }

  /** Deletes a file, and its content where no other file has it. @returns false where there is no such file */
  async delete(owner: FileOwner, id: string): Promise<boolean> {
    const key = await this.files.delete(owner, id);
    if (typeof key === 'string') await this.discardQuietly([key]);
    return key !== undefined;
  }

  /** Deletes those contents that no file has, and that no upload will have any more. */
  async discard(storageKeys: readonly string[]): Promise<void> {
    const doomed = await this.files.doom(storageKeys);
    await Promise.all(doomed.map((key) => this.storage.delete(key)));
    if (doomed.length > 0) await this.files.forgetLeftovers(doomed);
  }

  private async put(key: string, content: AsyncIterable<Uint8Array>): Promise<{ size: number; sha256: string }> {
    const { fileBytes } = this.config.files;
    return this.storage.put(key, content, fileBytes).catch((error: unknown) => {
      if (error instanceof ContentTooLong) throw fileTooLarge(fileBytes);
      return this.reportUnavailable(error);
    });
  }

  private async assertRoom(owner: FileOwner, bytes: number): Promise<void> {
    const refusal = this.storage.refusal();
    if (refusal !== undefined) throw storageUnavailable(refusal);
    const { ownerBytes } = this.config.files;
    const stored = await this.files.storedBytes(owner);
    if (stored >= ownerBytes || bytes > ownerBytes) throw quotaExceeded(ownerBytes);
  }

  /** What is not discarded now is, once it is due, by the upkeep. */
  private async discardQuietly(keys: readonly string[]): Promise<void> {
    await this.discard(keys).catch((error: unknown) => {
      this.logger.warn({ err: error, contents: keys.length }, 'Contents of files could not be deleted yet');
    });
  }

  private reportUnavailable(error: unknown): never {
    if (!(error instanceof ContentUnavailable)) throw error;
    this.logger.error({ err: error }, 'The storage of files does not answer as it should');
    throw storageUnavailable('Files cannot be stored or read at the moment; try again later');
  }
}
