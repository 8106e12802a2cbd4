import type { Part } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';

/** Parts with their bytes. They count as memory of their owner until they are disposed of. */
export interface HeldParts extends Disposable {
  readonly parts: Part[];
}

/** Restores Parts that will be recorded. The bytes read count as memory of the owner until disposal. */
export interface PartRestorer extends Disposable {
  /**
   * Returns the Parts as they were sent: the owner's stored files become bytes, up to ARTIFACT_LIMIT in total. Further
   * files stay URLs. A Part that names no stored file stays a URL too, without its `KEPT_FILE` metadata.
   * Waits for an unreachable database, for room for the bytes in this process, and five minutes for a storage that does
   * not answer.
   * @throws if the storage does not answer in time, or the file is gone; the signal's reason
   */
  restoreParts(parts: readonly Part[]): Promise<Part[]>;
}

/**
 * Stores the bytes of large `raw` Parts in the file storage instead of in the logs of Tasks. A stored Part has a URL of
 * this service instead of its bytes, and `KEPT_FILE` in its metadata. A signed address of one of the owner's files
 * becomes the URL of the file, which does not expire.
 *
 * - A file is durable before `keepParts` resolves. It expires unless a Task names it by then.
 * - A Part that cannot be stored keeps its bytes.
 */
export abstract class PartKeeper {
  /** True if `keepParts` may change these Parts. Nearly all Parts need no change. */
  abstract concernsParts(parts: readonly Part[]): boolean;

  /**
   * Returns the Parts with large bytes stored. Removes `KEPT_FILE` metadata that names no stored file.
   * @param signal if given, the lookup waits for an unreachable database; otherwise that is an error
   */
  abstract keepParts(parts: readonly Part[], owner: TaskScope, signal?: AbortSignal): Promise<Part[]>;

  /** Opens a restorer for Parts that are recorded right away. */
  abstract restorer(owner: TaskScope, signal: AbortSignal): PartRestorer;

  /**
   * Restores Parts for longer work like `PartRestorer.restoreParts`, but within a separate memory limit.
   * @throws as `PartRestorer.restoreParts`
   */
  abstract holdParts(parts: readonly Part[], owner: TaskScope, signal: AbortSignal): Promise<HeldParts>;
}
