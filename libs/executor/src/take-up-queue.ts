import type { TaskClaim, TaskHeader, TaskLog, TaskStore } from '#libs/tasks';

/** Claims whose short logs are read at once: those that are asked for together come with a few queries. */
const SHORT_AT_ONCE = 128;
/** Longer logs that are read at once, and their bytes together; one may be larger than that alone. */
const LONG_AT_ONCE = 8;
const LONG_BYTES_AT_ONCE = 8 * 1024 * 1024;

/** A claim that is to be taken up, and how often that failed before. */
export interface PendingClaim extends TaskClaim {
  failures: number;
}

/** Takes up one claim with what was read for it: nothing where its Task is gone, no events where its log is long. Never rejects. */
export type TakeUpClaim = (claim: PendingClaim, read: TaskLog | undefined) => Promise<void>;

/**
 * Takes up the claims of a replica that died, however many they are.
 *
 * - Short logs come first, read together with their Tasks, many with one query. Longer ones wait until no short one does,
 *   the shortest of them first.
 * - What is read at once is bounded in number and bytes. The claims are not: whoever waits here is claimed already.
 */
export class TakeUpQueue {
  private readonly short: PendingClaim[] = [];
  /** The longest first. */
  private readonly long: { claim: PendingClaim; read: TaskLog; bytes: number }[] = [];
  private shortUnderWay = 0;
  private longUnderWay = 0;
  private longBytes = 0;
  private stopped = false;
  private idleListeners: (() => void)[] = [];

  /** @param failed told of a claim whose Task could not be looked at */
  constructor(
    private readonly store: Pick<TaskStore, 'log'>,
    private readonly takeUp: TakeUpClaim,
    private readonly failed: (claim: PendingClaim, error: unknown) => void,
    private readonly goesOn: (header: TaskHeader) => boolean,
  ) {}

  add(claims: readonly PendingClaim[]): void {
    if (this.stopped) return;
    for (const claim of claims) this.short.push(claim);
    this.startNext();
  }

  /** Starts nothing more: what waits here is left to the replica that adopts it. */
  stop(): void {
    this.stopped = true;
    this.short.length = 0;
    this.long.length = 0;
    this.startNext();
  }

  /** Resolves when nothing waits or is under way. */
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
      read = await this.store.log(claim.taskId);
    } catch (error) {
      return this.failed(claim, error);
    }
    if (read && !read.events && this.goesOn(read.header)) this.postpone(claim, read);
    else await this.takeUp(claim, read);
  }

  private postpone(claim: PendingClaim, read: TaskLog): void {
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
