import { Inject, Injectable, Optional } from '@nestjs/common';
import { PublicFault } from '#libs/faults';
import { addCount, AppConfig, InFlight, type InFlightOwner, Metrics } from '#libs/service';
import { ProblemError } from '../problem.js';

/** Share of a ByteRoom that one authenticated caller may hold. */
const CALLER_SHARE = 1 / 2;
/** Share of a ByteRoom that all callers of one tenant may hold together. */
const TENANT_SHARE = 3 / 4;

/** Error of an answer or a frame that waited too long for memory (ByteRoom). The same request may succeed later. */
export class ResponseBudgetExceeded extends PublicFault {
  override readonly name = 'ResponseBudgetExceeded';

  constructor() {
    super('Too many large answers are under way; try again later');
  }

  override get kind(): 'overloaded' {
    return 'overloaded';
  }
}

interface WaitingBytes {
  bytes: number;
  enter(): void;
}

/** Caller and tenant to whom the bytes of an item are counted. */
interface RoomAccount {
  caller: string;
  tenant: string;
}

/** Options of a ByteRoom: its size in bytes, how long items wait, and a callback. */
export interface ByteRoomOptions {
  bytes: number;
  /** Maximum wait for room, in milliseconds. */
  waitMs: number;
  /** Called when an item has waited for `waitMs` without getting room. */
  onRefused(): void;
}

/**
 * Limited memory for items, such as answers, that are in memory until their readers have taken them. An item for
 * which there is no room waits. There are two such rooms: in ResponseBudget (whole answers) and in FrameRoom (frames
 * of streams).
 *
 * - All items together have at most `bytes`; a larger item enters when the room is empty.
 * - An authenticated caller has at most half of the room, or a single larger item.
 * - All callers of a tenant have at most three quarters of the room, or a single larger item.
 * - Waiting callers take turns; the items of each caller enter in the order of its requests. A large item is not
 *   overtaken forever.
 */
export class ByteRoom {
  private held = 0;
  private readonly heldBy = { caller: new Map<string, number>(), tenant: new Map<string, number>() };
  /** Waiting items by caller; the caller whose turn is next comes first. */
  private readonly lines = new Map<string, { account: RoomAccount; waiting: WaitingBytes[] }>();

  constructor(private readonly options: ByteRoomOptions) {}

  /** Number of bytes that admitted items hold. */
  get taken(): number {
    return this.held;
  }

  /** Number of items that wait. */
  get waiting(): number {
    return this.lines.values().reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /**
   * Resolves when there is room for an item of `bytes` bytes.
   * @param whose caller to whom the bytes are counted
   * @returns the function that frees the room, to call once
   * @throws ResponseBudgetExceeded after `waitMs`
   */
  async enterRoom(bytes: number, whose: InFlightOwner): Promise<() => void> {
    const room = Math.min(bytes, this.options.bytes);
    const account = { caller: whose.owner === '' ? '' : InFlight.accountOf(whose), tenant: whose.tenant };
    await this.waitForRoom(room, account);
    return () => this.leaveRoom(room, account);
  }

  private waitForRoom(bytes: number, account: RoomAccount): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { bytes, enter: (): void => (clearTimeout(timer), resolve()) };
      const giveUpWaiting = (): void => {
        this.dropWaiting(account, waiting);
        this.options.onRefused();
        this.admitNext();
        reject(new ResponseBudgetExceeded());
      };
      const timer = setTimeout(giveUpWaiting, this.options.waitMs).unref();
      const line = this.lines.get(account.caller);
      if (line) line.waiting.push(waiting);
      else this.lines.set(account.caller, { account, waiting: [waiting] });
      this.admitNext();
    });
  }

  private leaveRoom(bytes: number, account: RoomAccount): void {
    this.addHeld(account, -bytes);
    this.admitNext();
  }

  private addHeld({ caller, tenant }: RoomAccount, bytes: number): void {
    this.held += bytes;
    addCount(this.heldBy.caller, caller, bytes);
    addCount(this.heldBy.tenant, tenant, bytes);
  }

  /** Admits every item that may enter now. */
  private admitNext(): void {
    for (let account = this.nextAccount(); account; account = this.nextAccount()) {
      const { waiting } = this.lines.get(account.caller)!;
      const first = waiting.shift()!;
      // Rotates the caller to the end: the others come first now.
      this.lines.delete(account.caller);
      if (waiting.length > 0) this.lines.set(account.caller, { account, waiting });
      this.addHeld(account, first.bytes);
      first.enter();
    }
  }

  /**
   * Returns the next caller whose first item may enter; `undefined` if no item may enter now. Callers that have used
   * their share are skipped. A caller whose item needs more room than is free is not skipped: otherwise other items
   * could overtake it forever.
   */
  private nextAccount(): RoomAccount | undefined {
    const { bytes: size } = this.options;
    for (const {
      account,
      waiting: [first],
    } of this.lines.values()) {
      if (!first || this.exceedsShare(account, first.bytes)) continue;
      return this.held + first.bytes <= size ? account : undefined;
    }
    return undefined;
  }

  private exceedsShare({ caller, tenant }: RoomAccount, bytes: number): boolean {
    const exceedsPart = (held = 0, share: number): boolean => held > 0 && held + bytes > this.options.bytes * share;
    if (caller !== '' && exceedsPart(this.heldBy.caller.get(caller), CALLER_SHARE)) return true;
    return tenant !== '' && exceedsPart(this.heldBy.tenant.get(tenant), TENANT_SHARE);
  }

  private dropWaiting({ caller }: RoomAccount, dropped: WaitingBytes): void {
    const line = this.lines.get(caller);
    if (!line) return;
    line.waiting = line.waiting.filter((it) => it !== dropped);
    if (line.waiting.length === 0) this.lines.delete(caller);
  }
}

/**
 * Maximum wait for room, in milliseconds. It is longer than the time after which ReaderPace disconnects a reader that
 * takes nothing, so waiting calls still get the room that this reader held.
 */
export const LONGEST_WAIT_MS = 45_000;
/** Injection token by which tests set another maximum wait for room, in milliseconds. */
export const RESPONSE_WAIT_MS = Symbol('RESPONSE_WAIT_MS');

/**
 * Memory for large answers that this process reads, builds and sends at the same time (ANSWER_LIMIT). An answer without
 * room waits, so many readers of large Tasks take turns. ByteRoom shares the room among callers.
 */
@Injectable()
export class ResponseBudget {
  private readonly room: ByteRoom;

  constructor({ memory }: AppConfig, metrics: Metrics, @Optional() @Inject(RESPONSE_WAIT_MS) waitMs = LONGEST_WAIT_MS) {
    const refusals = metrics.counter('parley_answers_refused_total', 'Large answers that found no room in time', []);
    this.room = new ByteRoom({ bytes: memory.answerBytes, waitMs, onRefused: () => refusals.inc() });
    metrics.gauge('parley_answer_bytes', 'Bytes of large answers that are built or sent', [], () => this.room.taken);
    metrics.gauge('parley_answers_waiting', 'Large answers that wait for room', [], () => this.room.waiting);
  }

  /**
   * Resolves when there is room for an answer of `bytes` bytes.
   * @param whose caller to whom the bytes are counted
   * @returns the function that frees the room, to call once the answer is sent or will not be sent
   * @throws ResponseBudgetExceeded after 45 seconds
   */
  enterAnswer(bytes: number, whose: InFlightOwner): Promise<() => void> {
    return this.room.enterRoom(bytes, whose);
  }
}

/**
 * Maximum number of bytes of large Task logs that are read for one page of a list, whatever page size was requested.
 */
const MOST_PAGE_BYTES = 8 * 1024 * 1024;

/** Call whose answer is made from the logs of Tasks. */
interface AnsweredCall {
  scope: InFlightOwner;
  /**
   * Registers a callback that is called once, when the answer is sent or the caller has left; returns false if the
   * caller has already left. Absent for calls inside this process, which are not limited.
   */
  whenAnswered?: (done: () => void) => boolean;
}

/**
 * Room of one call in ResponseBudget, taken before large logs of Tasks are read.
 *
 * - The room is freed when the answer is sent, the caller has left, or this object is disposed of.
 * - A further read of no more bytes uses the room that the call already has. A larger read frees that room first, then
 *   takes room for all of its bytes.
 */
export class ResponseAdmission implements Disposable {
  /** Maximum number of bytes of large Task logs that are read for one page of a list; a page has at least one Task. */
  readonly bytes: number = MOST_PAGE_BYTES;
  private admitted = 0;
  private readonly leaves = new Set<() => void>();

  constructor(
    private readonly budget: ResponseBudget | undefined,
    private readonly call: AnsweredCall,
  ) {}

  /**
   * Takes room for bytes; waits until there is room.
   * @throws an error with status 503 if there is no room in time, or the caller has left
   */
  async admitBytes(bytes: number): Promise<void> {
    const { scope, whenAnswered } = this.call;
    if (!this.budget || !whenAnswered || bytes <= this.admitted) return;
    // Frees the room first: otherwise a call that needs more would wait for itself.
    this[Symbol.dispose]();
    const leave = await this.budget.enterAnswer(bytes, scope).catch((error: unknown) => {
      throw error instanceof ResponseBudgetExceeded ? this.createRefusal(error.message) : error;
    });
    this.admitted = bytes;
    this.leaves.add(leave);
    if (whenAnswered(() => this.leaveRoom(leave))) return;
    this.leaveRoom(leave);
    throw this.createRefusal('The caller has left');
  }

  /** Frees all room of the call. */
  [Symbol.dispose](): void {
    this.admitted = 0;
    for (const leave of this.leaves) this.leaveRoom(leave);
  }

  /** Creates the error of a call that gets no memory in time, or whose caller has left. */
  protected createRefusal(message: string): Error {
    return new ProblemError(503, message, [], 'OVERLOADED');
  }

  private leaveRoom(leave: () => void): void {
    if (this.leaves.delete(leave)) leave();
  }
}
