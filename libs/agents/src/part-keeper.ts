import type { Part } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';

/** Parts with their bytes. The bytes count toward the memory limit of their owner until the object is disposed of. */
export interface HeldParts extends Disposable {
  readonly parts: Part[];
}

/**
 * Restores the bytes of Parts that will be recorded. The bytes count toward the memory limit of their owner until the
 * restorer is disposed of.
 */
export interface PartRestorer extends Disposable {
  /**
   * Returns the Parts as they were sent.
   *
   * - Stored files of the owner become bytes, up to ARTIFACT_LIMIT in total. Further files stay URLs.
   * - A Part that names no stored file stays a URL, without its `KEPT_FILE` metadata.
   * - Waits for an unreachable database, for memory for the bytes in this process, and at most five minutes for a
   *   file storage that does not answer.
   *
   * @throws Error if the file storage does not answer in time, or the file is gone
   * @throws the reason of the signal if it aborts
   */
  restoreParts(parts: readonly Part[]): Promise<Part[]>;
}

/**
 * Stores the bytes of large `raw` Parts in the file storage instead of in the logs of Tasks. A stored Part has a URL of
 * this service instead of its bytes, and `KEPT_FILE` in its metadata. If a Part has a signed URL of one of the owner's
 * files, the file's permanent URL replaces it.
 *
 * - A file is durable before `keepParts` resolves. At its expiry time it is deleted, unless a Task refers to it by
 *   then.
 * - A Part that cannot be stored keeps its bytes.
 */
export abstract class PartKeeper {
  /** True if `keepParts` may change these Parts. Nearly all Parts need no change. */
  abstract concernsParts(parts: readonly Part[]): boolean;

  /**
   * Returns the Parts with large bytes stored as files. Removes `KEPT_FILE` metadata that names no stored file.
   * @param owner tenant and owner of the files
   * @param signal ends the wait for an unreachable database; without a signal an unreachable database is an error at
   *   once
   */
  abstract keepParts(parts: readonly Part[], owner: TaskScope, signal?: AbortSignal): Promise<Part[]>;

  /**
   * Opens a restorer for Parts that are recorded right after they are restored.
   * @param owner tenant and owner of the files
   */
  abstract restorer(owner: TaskScope, signal: AbortSignal): PartRestorer;

  /**
   * Restores Parts, as `PartRestorer.restoreParts` does, for work that needs them longer. These Parts have a separate
   * memory limit.
   * @throws the same errors as `PartRestorer.restoreParts`
   */
  abstract holdParts(parts: readonly Part[], owner: TaskScope, signal: AbortSignal): Promise<HeldParts>;
}
