import type { Part } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';

/** Parts with their bytes, which count as memory of their owner until they are disposed of. */
export interface HeldParts extends Disposable {
  readonly parts: Part[];
}

/** Restores Parts until they are recorded. What it has read counts as memory of its owner until it is disposed of. */
export interface PartRestorer extends Disposable {
  /**
   * Returns the Parts as they were sent: kept files of the owner as bytes, up to ARTIFACT_LIMIT together. Further ones stay
   * URLs, and so do Parts that name no kept file, without what they say under `KEPT_FILE`. Waits for a database that is
   * out of reach, before any byte is read until there is room for the bytes in this process, and five minutes for a storage
   * that does not answer.
   * @throws where the storage does not answer then, or the file is gone; the signal's reason
   */
  restore(parts: readonly Part[]): Promise<Part[]>;
}

/**
 * Keeps the bytes of large `raw` Parts in the file storage instead of in the logs of Tasks. A kept Part has a URL of this
 * service in place of its bytes, and says so under `KEPT_FILE` in its metadata. A signed address of a file of the owner
 * becomes the URL of the file, which does not expire.
 *
 * - A content is durable before `keep` resolves; it expires unless a Task names it by then.
 * - Where it cannot be stored, for whatever reason, its Part keeps its bytes.
 */
export abstract class PartKeeper {
  /** True if `keep` may change these Parts: nearly all Parts pass without it. */
  abstract concerns(parts: readonly Part[]): boolean;

  /**
   * Returns the Parts with large bytes kept, and without what they say under `KEPT_FILE` where that is not so.
   * @param signal with it the look at the database waits for one that is out of reach; without it that is an error
   */
  abstract keep(parts: readonly Part[], owner: TaskScope, signal?: AbortSignal): Promise<Part[]>;

  /** Opens the account of Parts that are restored to be recorded at once. */
  abstract restorer(owner: TaskScope, signal: AbortSignal): PartRestorer;

  /**
   * Restores Parts for work that lasts, as `PartRestorer.restore` does, but in a room of its own.
   * @throws as `PartRestorer.restore`
   */
  abstract hold(parts: readonly Part[], owner: TaskScope, signal: AbortSignal): Promise<HeldParts>;
}
