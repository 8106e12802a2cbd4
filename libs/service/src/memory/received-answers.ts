import { getHeapStatistics } from 'node:v8';
import { PublicFault } from '#libs/faults';
import type { CallerIdentity } from '../load/caller-turns.js';
import { COSTLY_BODY } from '../load/loop-shares.js';
import { FREE, type WorkTurn } from '../load/work-turns.js';
import { AnswerStep, type StepMember, untilGranted } from './answer-step.js';

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
/** Bytes that every answer gets without a request for room. */
const ALWAYS = 64 * KILOBYTE;
/** Unit in which memory is granted, in bytes. */
const UNIT = 64 * KILOBYTE;
/** Maximum bytes of the answers of each step. The last step is unbounded: the limits of a single answer apply there. */
const SIZES = [MEGABYTE, 8 * MEGABYTE, Infinity];
/**
 * Total bytes of the privileged answers, one in each step (see AnswerStep). The privileged answer of the last step may
 * have the default TASK_LIMIT, plus 16 MiB for one event.
 */
const PRIVILEGED = MEGABYTE + 8 * MEGABYTE + 80 * MEGABYTE;
/** Fraction of the heap for large answers. */
const PART_OF_HEAP = 1 / 8;
/** Fraction of the memory for large answers that each step has, in the order of SIZES. */
const PARTS = [1 / 4, 1 / 4, 1 / 2];
/** Maximum total time that the answer of one call waits for memory, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;
/** Milliseconds within which an answer must make progress (LITTLE) while another answer waits for its room. */
const SILENT_MS = 20_000;
/** Minimum bytes that count as progress within SILENT_MS. */
const LITTLE = 16 * KILOBYTE;
const NEVER = new AbortController().signal;

/**
 * Reports that there was no memory for the answer of a call, or that it lost its memory to other answers. The message
 * may be shown to callers.
 */
export class TooManyAnswers extends PublicFault {
  override readonly name = 'TooManyAnswers';

  constructor(message = 'too many large answers are being read at the same time') {
    super(message);
  }

  override get kind(): 'overloaded' {
    return 'overloaded';
  }
}

/** Listener to changes of the memory for one call's answer. */
export interface AnswerListener {
  /** Called when this service pauses reading the answer, which is not the fault of the agent. */
  onPaused?(): void;
  /** Called when reading resumes. */
  onResumed?(): void;
  /** Called when the answer has lost its memory, so the call fails. */
  onEvicted(error: TooManyAnswers): void;
}

/** Sizes and times that tests override. */
export interface ReceivedAnswersOptions {
  /** Bytes of the heap for large answers; by default an eighth of the heap (PART_OF_HEAP). */
  bytes?: number;
  waitMs?: number;
  silentMs?: number;
  /** True while a caller, or all callers together, have too much in memory to read more of the largest answers. */
  isFull?: (whose: CallerIdentity) => boolean;
  /** Returns a caller's turns on the event loop, one for each 16 KiB of an answer; absent: answers take no turns. */
  turnOf?: (whose: CallerIdentity) => WorkTurn;
}

/**
 * Memory of this process for answers of remote agents and models while they are being read.
 *
 * - An answer has 64 KiB without a request. A larger answer holds its bytes, in units of 64 KiB, in the step of its
 *   size: up to 1 MiB, up to 8 MiB, or beyond. Large answers therefore take no room from small ones. An answer that
 *   shrinks returns room.
 * - The steps share an eighth of the heap, less one privileged answer of each step, but at least half of that eighth.
 *   AnswerStep describes how callers share a step, and which answer is privileged.
 * - An answer that needs more room keeps what it has, and waits in its own step or in a higher step. The privileged
 *   answer of a step never waits in it, so one answer can always be read to its end.
 * - Each 16 KiB of an answer take a turn on the event loop, in the share of its caller; answers of anonymous callers do
 *   not.
 * - A waiting answer is not read, so its agent waits as well, and its deadlines pause. After a minute of waiting in
 *   total, the call fails.
 * - While other answers wait, an answer that brings less than 16 KiB in 20 seconds loses its room, and its call fails.
 */
export class ReceivedAnswers {
  private readonly steps: readonly AnswerStep[];
  private readonly waitMs: number;
  private readonly turnOf: (whose: CallerIdentity) => WorkTurn;
  private calls = 0;

  constructor({ bytes, waitMs, silentMs = SILENT_MS, isFull, turnOf }: ReceivedAnswersOptions = {}) {
    const all = bytes ?? getHeapStatistics().heap_size_limit * PART_OF_HEAP;
    const shared = Math.max(all - PRIVILEGED, all / 2);
    this.waitMs = waitMs ?? LONGEST_WAIT_MS;
    this.turnOf = turnOf ?? (() => FREE);
    this.steps = PARTS.map((part, step) => {
      const isLast = step === PARTS.length - 1;
      return new AnswerStep({ bytes: shared * part, silentMs, ...(isLast && isFull && { isFull }) });
    });
  }

  /** Creates the memory account of one call's answer, which counts no bytes yet. */
  openPlace(whose: CallerIdentity, listener?: AnswerListener): AnswerPlace {
    this.calls += 1;
    const { steps, waitMs, calls: order } = this;
    return new AnswerPlace({ steps, waitMs, whose, order, listener, turn: this.turnOf(whose) });
  }
}

interface AnswerPlaceOptions {
  readonly steps: readonly AnswerStep[];
  readonly waitMs: number;
  readonly whose: CallerIdentity;
  readonly order: number;
  readonly listener: AnswerListener | undefined;
  readonly turn: WorkTurn;
}

/** Place of one call's answer: the bytes of the answer that are currently in memory, and the room that they hold. */
export class AnswerPlace implements Disposable, StepMember {
  readonly whose: CallerIdentity;
  readonly order: number;
  movedAt = 0;
  private isPaused = false;
  private isConsumed = false;
  private kept = 0;
  private reading = 0;
  /** Index of the step in which the answer holds memory; -1 if it needs none. */
  private step = -1;
  /** Bytes of memory that the answer holds in its step. */
  private held = 0;
  private isOver = false;
  private lost: TooManyAnswers | undefined;
  private stopWaiting: (() => void) | undefined;
  /** Total milliseconds of the waits for room that have ended. */
  private waited = 0;
  /** Bytes read since the last turn on the event loop. */
  private sinceTurn = 0;
  /** Bytes read since `movedAt`. */
  private sinceMoved = 0;

  constructor(private readonly options: AnswerPlaceOptions) {
    this.whose = options.whose;
    this.order = options.order;
  }

  /** Sets the number of bytes that the caller of this method keeps in memory until the call ends. */
  setKept(bytes: number): void {
    this.kept = bytes;
    this.shrinkRoom();
  }

  /** Sets the bytes that were read and are not part of a complete item yet. */
  setPending(bytes: number): void {
    this.reading = bytes;
    this.shrinkRoom();
  }

  /**
   * Counts received bytes; resolves once there is room for them and it is the caller's turn.
   * @returns `undefined` if there is room at once, and no turn is needed
   * @throws TooManyAnswers after a minute of waiting, or if the answer has lost its room; the signal's reason
   */
  countRead(bytes: number, signal: AbortSignal = NEVER): Promise<void> | undefined {
    if (this.lost) return Promise.reject(this.lost);
    this.reading += bytes;
    this.sinceMoved += bytes;
    if (this.sinceMoved >= LITTLE) this.markMoved();
    this.sinceTurn += bytes;
    const isCostly = this.sinceTurn >= COSTLY_BODY && this.options.turn !== FREE;
    const room = this.growRoom(signal);
    return room || isCostly ? this.waitPaused(room, isCostly, signal) : undefined;
  }

  /** Yields the events of the answer. The answer counts as waiting until the consumer requests the next event. */
  async *yieldConsumed<T>(events: AsyncIterable<T>): AsyncIterable<T> {
    for await (const event of events) {
      this.beginConsumption();
      try {
        yield event;
      } finally {
        this.endConsumption();
      }
    }
  }

  /**
   * Begins the consumption of an event. Until it ends, the answer counts as waiting: a consumer that waits for its
   * database does not make the agent look silent.
   */
  beginConsumption(): void {
    this.isConsumed = true;
  }

  endConsumption(): void {
    this.isConsumed = false;
    this.markMoved();
  }

  evict(): void {
    this.step = -1;
    this.held = 0;
    this.lost = new TooManyAnswers('the answer came too slowly while others waited for its room');
    this.options.listener?.onEvicted(this.lost);
  }

  [Symbol.dispose](): void {
    this.isOver = true;
    this.stopWaiting?.();
    this.leaveStep();
  }

  get isWaiting(): boolean {
    return this.isPaused || this.isConsumed;
  }

  /** Bytes of memory that the answer needs, rounded up to whole units. */
  private get needed(): number {
    const bytes = this.kept + this.reading;
    return bytes <= ALWAYS ? 0 : Math.ceil(bytes / UNIT) * UNIT;
  }

  private markMoved(): void {
    this.sinceMoved = 0;
    this.movedAt = performance.now();
  }

  private async waitPaused(room: Promise<void> | undefined, isCostly: boolean, signal: AbortSignal): Promise<void> {
    const { listener, turn } = this.options;
    this.isPaused = true;
    listener?.onPaused?.();
    try {
      await room;
      if (!isCostly) return;
      this.sinceTurn = 0;
      await turn.awaitTurn(signal);
    } finally {
      this.isPaused = false;
      this.markMoved();
      listener?.onResumed?.();
    }
  }

  private growRoom(signal: AbortSignal): Promise<void> | undefined {
    const bytes = this.needed;
    if (bytes <= this.held || this.isOver) return undefined;
    const step = Math.max(this.step, stepOf(bytes));
    const granted = Promise.withResolvers<void>();
    if (!this.options.steps[step]!.requestRoom(this, bytes, granted.resolve))
      return this.waitFor(step, bytes, granted, signal);
    this.enterStep(step, bytes);
    return undefined;
  }

  private async waitFor(
    step: number,
    bytes: number,
    granted: PromiseWithResolvers<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const from = performance.now();
    this.stopWaiting = granted.resolve;
    try {
      const ms = this.options.waitMs - this.waited;
      await untilGranted(granted, { ms, signal, tooLong: () => new TooManyAnswers() });
      if (this.isOver) this.options.steps[step]!.shrinkTo(this, 0);
      else this.enterStep(step, bytes);
    } catch (error) {
      this.options.steps[step]!.shrinkTo(this, step === this.step ? this.held : 0);
      throw error;
    } finally {
      this.stopWaiting = undefined;
      this.waited += performance.now() - from;
    }
  }

  private enterStep(step: number, bytes: number): void {
    if (step !== this.step) this.leaveStep();
    this.step = step;
    this.held = bytes;
    this.markMoved();
  }

  /**
   * Returns memory that the answer no longer needs. If a lower step has room for the answer at once, moves it there.
   */
  private shrinkRoom(): void {
    const bytes = this.needed;
    if (bytes >= this.held || this.isPaused) return;
    if (bytes === 0) return this.leaveStep();
    const lower = stepOf(bytes);
    if (lower < this.step && this.options.steps[lower]!.grantIfFree(this, bytes)) {
      this.leaveStep();
      this.step = lower;
    } else this.options.steps[this.step]!.shrinkTo(this, bytes);
    this.held = bytes;
  }

  private leaveStep(): void {
    this.options.steps[this.step]?.shrinkTo(this, 0);
    this.step = -1;
    this.held = 0;
  }
}

function stepOf(bytes: number): number {
  return SIZES.findIndex((size) => bytes <= size);
}
