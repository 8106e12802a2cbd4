import type { TaskClaim, TaskHeader, TaskLog, TaskStore } from '#libs/tasks';

/** Claims whose short logs are read at once; a few queries read them together. */
const SHORT_AT_ONCE = 128;
/** Longer logs that are read at once, and their total bytes; a single log may be larger. */
const LONG_AT_ONCE = 8;
const LONG_BYTES_AT_ONCE = 8 * 1024 * 1024;

/** Claim to adopt, with the number of failed attempts. */
export interface PendingClaim extends TaskClaim {
  failures: number;
}

/** Adopts one claim. `read` is absent if the Task is gone, and has no events if the log is long. Never rejects. */
export type TakeUpClaim = (claim: PendingClaim, read: TaskLog | undefined) => Promise<void>;

/**
 * Adopts the claims of a dead replica, however many they are.
 * - Short logs come first, read together with their Tasks, many with one query. Longer ones wait for all short ones,
 *   the shortest first.
 * - Concurrent reads are bounded in number and bytes. The queue is not: its Tasks are claimed already.
 */
export class TakeUpQueue {
  private readonly short: PendingClaim[] = [];
  /** Claims with long logs, the longest first. */
  private readonly long: { claim: PendingClaim; read: TaskLog; bytes: number }[] = [];
  private shortUnderWay = 0;
  private longUnderWay = 0;
  private longBytes = 0;
  private stopped = false;
  private idleListeners: (() => void)[] = [];

  /** @param failed called for a claim whose Task could not be read */
  constructor(
    private readonly store: Pick<TaskStore, 'readLog'>,
    private readonly takeUp: TakeUpClaim,
    private readonly failed: (claim: PendingClaim, error: unknown) => void,
    private readonly goesOn: (header: TaskHeader) => boolean,
  ) {}

  add(claims: readonly PendingClaim[]): void {
    if (this.stopped) return;
    for (const claim of claims) this.short.push(claim);
    this.startNext();
  }

  /** Starts no further claims. The rest is left to the replica that adopts them. */
  stop(): void {
    this.stopped = true;
    this.short.length = 0;
    this.long.length = 0;
    this.startNext();
  }

  /** Resolves when no claim waits or is being adopted. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.idleListeners.push(resolve));
  }

  private get isIdle(): boolean {
    return this.short.length + this.long.length + this.shortUnderWay + this.longUnderWay === 0;
  }

  private startNext(): void {
    while (!this.stopped && this.shortUnderWay < SHORT_AT_ONCE && this.short.length > 0)
      this.startShort(this.short.shift()!);
    if (this.short.length + this.shortUnderWay === 0) while (this.mayStartLong()) this.startLong();
    if (this.isIdle) for (const resolve of this.idleListeners.splice(0)) resolve();
  }

  private startShort(claim: PendingClaim): void {
    this.shortUnderWay += 1;
    void this.lookAt(claim).finally(() => {
      this.shortUnderWay -= 1;
      this.startNext();
    });
  }

  private async lookAt(claim: PendingClaim): Promise<void> {
    let read: TaskLog | undefined;
    try {
      read = await this.store.readLog(claim.taskId);
    } catch (error) {
      return this.failed(claim, error);
    }
    if (read && !read.events && this.goesOn(read.header)) this.postponeClaim(claim, read);
    else await this.takeUp(claim, read);
  }

  private postponeClaim(claim: PendingClaim, read: TaskLog): void {
    if (this.stopped) return;
    const bytes = read.header.size?.log ?? 0;
    const before = this.long.findIndex((other) => other.bytes <= bytes);
    this.long.splice(before < 0 ? this.long.length : before, 0, { claim, read, bytes });
  }

  private mayStartLong(): boolean {
    const next = this.long.at(-1);
    if (!next || this.longUnderWay >= LONG_AT_ONCE) return false;
    return this.longUnderWay === 0 || this.longBytes + next.bytes <= LONG_BYTES_AT_ONCE;
  }

  private startLong(): void {
    const { claim, read, bytes } = this.long.pop()!;
    this.longUnderWay += 1;
    this.longBytes += bytes;
    void this.takeUp(claim, read).finally(() => {
      this.longUnderWay -= 1;
      this.longBytes -= bytes;
      this.startNext();
    });
  }
}
