import { addCount, type CallerIdentity, callerKey } from '../load/caller-turns.js';

/** Conditions that end a wait for memory before the memory is granted. */
export interface RoomWaitEnds {
  /** Maximum wait in milliseconds; absent: no limit. */
  ms?: number | undefined;
  signal: AbortSignal;
  /** Creates the error that the wait throws after `ms`. */
  tooLong: () => Error;
}

/**
 * Waits until `promise` resolves, which means that the requested memory (room) is granted. If `ms` pass or the signal
 * aborts first, rejects `promise` and throws the same error.
 * @throws the error that `tooLong` creates, after `ms`; the signal's reason
 */
export async function untilGranted(
  { promise, reject }: PromiseWithResolvers<void>,
  { ms, signal, tooLong }: RoomWaitEnds,
): Promise<void> {
  const timer = ms === undefined ? undefined : setTimeout(() => reject(tooLong()), ms);
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Fraction of the memory of an AnswerStep that one caller may hold. */
const OF_A_CALLER = 1 / 2;
/** Fraction of the memory of an AnswerStep that the callers of one tenant may hold together. */
const OF_A_TENANT = 3 / 4;
/** Milliseconds between two checks of the answers in an AnswerStep while an answer waits for memory. */
const LOOK_MS = 250;

/**
 * Answer of a remote agent or model (or content, see ContentRoom) that holds memory in an AnswerStep, or waits for it.
 */
export interface StepMember {
  readonly whose: CallerIdentity;
  /** Position in the order of arrival: lower for answers that began earlier. */
  readonly order: number;
  /** True while this service has paused reading the answer, so that silence is not the fault of the agent. */
  readonly isWaiting: boolean;
  /** Time of the last progress of the answer, as of `performance.now()`. */
  readonly movedAt: number;
  /** Aborts the answer and releases its memory. */
  evict(): void;
}

/** Options of an AnswerStep, the memory for answers of one range of sizes. */
export interface AnswerStepOptions {
  bytes: number;
  /** Milliseconds without notable progress before an answer is evicted while another answer waits. */
  silentMs: number;
  /** Returns true while a caller, or all callers together, have too much in memory for further answers of this step. */
  isFull?: (whose: CallerIdentity) => boolean;
}

interface Wish {
  readonly member: StepMember;
  readonly bytes: number;
  readonly since: number;
  readonly grant: () => void;
}

/**
 * Limit that denies an answer more room: its caller's share, its tenant's share, the size of the step, or full memory.
 */
type Obstacle = 'caller' | 'tenant' | 'step' | 'memory';

/**
 * Step: memory for answers of one range of sizes, in bytes. Callers and tenants share its room.
 *
 * - A caller holds at most half of the room, the callers of one tenant three quarters, or a single answer of any size.
 *   An anonymous caller may hold all of the room while no other caller waits.
 * - Callers take turns; the oldest answer of a caller comes first.
 * - One answer at a time is privileged: it gets all the room that it needs, uncounted, and never waits in this step.
 *   While no answer is privileged, the next answer without room becomes privileged. Answers that wait for each other
 *   can therefore not deadlock.
 * - An answer that has made no notable progress for `silentMs` is evicted if another answer has waited for its room for
 *   as long.
 */
export class AnswerStep {
  private used = 0;
  /** Granted bytes of each answer, except the privileged one. */
  private readonly members = new Map<StepMember, number>();
  private readonly ofCallers = new Map<string, number>();
  private readonly ofTenants = new Map<string, number>();
  /**
   * Requests for memory by caller, in the order in which callers are served. Requests of one caller are sorted by age.
   */
  private readonly wishes = new Map<string, Wish[]>();
  private privileged: { readonly member: StepMember; bytes: number } | undefined;
  private looks: NodeJS.Timeout | undefined;

  constructor(private readonly options: AnswerStepOptions) {}

  /**
   * Requests a total number of bytes for a member.
   * @param grant called once there is room, unless there is room at once
   * @returns true if there is room at once
   */
  requestRoom(member: StepMember, bytes: number, grant: () => void): boolean {
    if (member === this.privileged?.member) {
      this.privileged.bytes = bytes;
      return true;
    }
    let isLate = false;
    let isGranted = false;
    const onGrant = (): void => {
      isGranted = true;
      if (isLate) grant();
    };
    this.enqueueRequest({ member, bytes, since: performance.now(), grant: onGrant });
    this.grantWaiting();
    isLate = true;
    return isGranted;
  }

  /** Grants a member a total number of bytes if there is room and no member waits. @returns true if granted */
  grantIfFree(member: StepMember, bytes: number): boolean {
    if (this.wishes.size > 0 || this.obstacleOf(member, bytes)) return false;
    this.set(member, bytes);
    return true;
  }

  /** Reduces a member to a total number of bytes, and cancels its request for more. */
  shrinkTo(member: StepMember, bytes: number): void {
    this.withdrawRequest(member);
    this.set(member, bytes);
    this.grantWaiting();
  }

  private withdrawRequest(member: StepMember): void {
    const key = callerKey(member.whose);
    const queue = this.wishes.get(key);
    if (!queue) return;
    const rest = queue.filter((wish) => wish.member !== member);
    if (rest.length > 0) this.wishes.set(key, rest);
    else this.wishes.delete(key);
  }

  private enqueueRequest(wish: Wish): void {
    const key = callerKey(wish.member.whose);
    const queue = this.wishes.get(key) ?? [];
    const younger = queue.findIndex(({ member }) => member.order > wish.member.order);
    queue.splice(younger < 0 ? queue.length : younger, 0, wish);
    this.wishes.set(key, queue);
  }

  private grantWaiting(): void {
    this.endPrivilege();
    while (this.serveNext());
    this.looks ??= this.wishes.size > 0 ? setInterval(() => this.recheckWaiting(), LOOK_MS).unref() : undefined;
    if (this.wishes.size > 0) return;
    clearInterval(this.looks);
    this.looks = undefined;
  }

  /** Ends the privilege once the step has regular room for the bytes of the privileged answer. */
  private endPrivilege(): void {
    if (!this.privileged) return;
    const { member, bytes } = this.privileged;
    if (this.obstacleOf(member, bytes)) return;
    this.privileged = undefined;
    this.set(member, bytes);
  }

  /**
   * Grants the next request for which there is room. If there is no room for the first request and no answer is
   * privileged, makes its answer privileged.
   * @returns false if neither is possible
   */
  private serveNext(): boolean {
    for (const [key, queue] of this.wishes) {
      const { member, bytes, grant } = queue[0]!;
      const obstacle = this.obstacleOf(member, bytes);
      // A small request must not overtake a large one indefinitely.
      if (obstacle === 'step' && this.privileged) return false;
      if (obstacle && this.privileged) continue;
      // Requeue the caller behind all others that wait.
      this.wishes.delete(key);
      if (queue.length > 1) this.wishes.set(key, queue.slice(1));
      this.set(member, obstacle ? 0 : bytes);
      if (obstacle) this.privileged = { member, bytes };
      grant();
      return true;
    }
    return false;
  }

  private obstacleOf(member: StepMember, bytes: number): Obstacle | undefined {
    const { whose } = member;
    const size = this.options.bytes;
    const own = this.members.get(member) ?? 0;
    const key = callerKey(whose);
    const exceedsPart = (others: number, part: number): boolean => others > 0 && others + bytes > size * part;
    if (this.hasShare(whose, key) && exceedsPart((this.ofCallers.get(key) ?? 0) - own, OF_A_CALLER)) return 'caller';
    const ofTenant = whose.tenant === '' ? 0 : (this.ofTenants.get(whose.tenant) ?? 0) - own;
    if (exceedsPart(ofTenant, OF_A_TENANT)) return 'tenant';
    if (this.used - own + bytes > size) return 'step';
    return this.options.isFull?.(whose) ? 'memory' : undefined;
  }

  private hasShare({ tenant, owner }: CallerIdentity, key: string): boolean {
    return tenant !== '' || owner !== '' || this.wishes.size > (this.wishes.has(key) ? 1 : 0);
  }

  private set(member: StepMember, bytes: number): void {
    if (member === this.privileged?.member) {
      if (bytes > 0) this.privileged.bytes = bytes;
      else this.privileged = undefined;
      return;
    }
    const more = bytes - (this.members.get(member) ?? 0);
    if (bytes > 0) this.members.set(member, bytes);
    else this.members.delete(member);
    this.used += more;
    addCount(this.ofCallers, callerKey(member.whose), more);
    addCount(this.ofTenants, member.whose.tenant, more);
  }

  /**
   * Grants waiting requests for which there is room. If the first request of a caller has waited for at least
   * `silentMs`, evicts one answer that holds the memory which the request lacks: the answer without progress for the
   * longest time, if that is at least `silentMs`.
   */
  private recheckWaiting(): void {
    this.grantWaiting();
    const now = performance.now();
    for (const queue of this.wishes.values()) {
      const { member, bytes, since } = queue[0]!;
      const obstacle = now - since < this.options.silentMs ? undefined : this.obstacleOf(member, bytes);
      const silent = obstacle && this.mostSilent(member.whose, obstacle, now);
      if (!silent) continue;
      silent.evict();
      return this.shrinkTo(silent, 0);
    }
  }

  private mostSilent({ tenant, owner }: CallerIdentity, obstacle: Obstacle, now: number): StepMember | undefined {
    const inTheWay = [...this.members.keys()].filter(({ whose }) => {
      if (obstacle === 'caller' || obstacle === 'tenant')
        return whose.tenant === tenant && (obstacle === 'tenant' || whose.owner === owner);
      return obstacle === 'step';
    });
    if (this.privileged) inTheWay.push(this.privileged.member);
    return inTheWay
      .filter(({ isWaiting, movedAt }) => !isWaiting && now - movedAt >= this.options.silentMs)
      .reduce<StepMember | undefined>((most, it) => (most && most.movedAt <= it.movedAt ? most : it), undefined);
  }
}
