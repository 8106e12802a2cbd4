import { setTimeout as delay } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { type Caller, CallerTurns, NoTurnInTime } from '../load/caller-turns.js';
import { COSTLY_BODY } from '../load/loop-shares.js';
import { FREE, type WorkTurn } from '../load/work-turns.js';

/** Bytes that an answer may always have. */
const ALWAYS = 64 * 1024;
const MEGABYTE = 1024 * 1024;
/** Bytes of an answer by the steps of its growth; the last step has no end, for the limits of one answer hold there. */
const STEPS = [MEGABYTE, 8 * MEGABYTE, Infinity];
/** Bytes that one answer of the last step is taken for: `TASK_LIMIT` by its default, and an event of a stream. */
const WHOLE = 80 * MEGABYTE;
/** Part of the heap that large answers may take, and how it is shared among the steps. */
const PART_OF_HEAP = 1 / 8;
const PARTS = [1 / 4, 1 / 4, 1 / 2];
/** Part of a step's places that one caller, and one tenant, may have. */
const OF_A_CALLER = 1 / 2;
const OF_A_TENANT = 3 / 4;
/** Milliseconds that an answer waits for a step at most. */
const LONGEST_WAIT_MS = 60_000;
const LOOK_MS = 250;
const NEVER = new AbortController().signal;
const ALIVE_MS = 1_000;

/** What ends a wait for room, and what is told that the silence meanwhile is not the agent's. */
interface Wait {
  readonly signal?: AbortSignal | undefined;
  readonly alive?: (() => void) | undefined;
}

/** An answer found no room for a minute, behind other large ones. The message may be shown to callers. */
export class TooManyAnswers extends Error {
  override readonly name = 'TooManyAnswers';

  constructor(options?: ErrorOptions) {
    super('too many large answers are being read at the same time', options);
  }
}

/** Sizes and times that differ in tests. */
export interface ReceivedAnswersOptions {
  /** Bytes of the heap that large answers may take. */
  bytes?: number;
  waitMs?: number;
  /** True while a caller, or all callers together, have so much in memory that no largest answer is read. */
  isFull?: (whose: Caller) => boolean;
  /** A caller's turns on the event loop, for answers that bring much; absent: nobody waits for them. */
  turnOf?: (whose: Caller) => WorkTurn;
}

/**
 * The memory of this process for answers of agents elsewhere, and of models, that are being read.
 *
 * - An answer has 64 KiB without asking. Above that it takes a place of the first step (1 MiB), then one of the second
 *   (8 MiB), then one without an end; it holds one place at a time.
 * - The steps have a sum each, and a place is only waited for while one of the step before is held, so that answers never
 *   wait for each other in a circle. The largest answers always have at least one place.
 * - Callers take turns for the places, and have half of them at most; the callers of one tenant have three quarters.
 * - What is read takes turns on the event loop, for each 16 KiB one, in its caller's share.
 * - While an answer waits, nothing of it is read, so its agent waits as well. After a minute the call fails.
 */
export class ReceivedAnswers {
  private readonly steps: readonly CallerTurns[];
  private readonly waitMs: number;
  private readonly isFull: (whose: Caller) => boolean;
  private readonly turnOf: (whose: Caller) => WorkTurn;

  constructor(options: ReceivedAnswersOptions = {}) {
    const bytes = options.bytes ?? getHeapStatistics().heap_size_limit * PART_OF_HEAP;
    const waitMs = (this.waitMs = options.waitMs ?? LONGEST_WAIT_MS);
    this.isFull = options.isFull ?? (() => false);
    this.turnOf = options.turnOf ?? (() => FREE);
    this.steps = STEPS.map((size, step) => {
      const places = Math.max(1, Math.floor((bytes * PARTS[step]!) / Math.min(size, WHOLE)));
      const part = (share: number): number => Math.ceil(places * share);
      return new CallerTurns({
        ...{ places, placesOfACaller: part(OF_A_CALLER), placesOfATenant: part(OF_A_TENANT), waitMs },
      });
    });
  }

  /** Opens the account of one call. */
  place(whose: Caller): AnswerPlace {
    return new AnswerPlace((step, wait) => this.enter(whose, step, wait), this.turnOf(whose));
  }

  /** @returns what gives the place back */
  private async enter(whose: Caller, step: number, wait: Wait): Promise<() => void> {
    const beating = setInterval(() => wait.alive?.(), ALIVE_MS).unref();
    try {
      if (step === STEPS.length - 1) await this.untilRoom(whose, wait.signal);
      const entered = Promise.withResolvers<void>();
      const left = Promise.withResolvers<void>();
      const turn = this.steps[step]!.run(whose, () => (entered.resolve(), left.promise), wait.signal);
      turn.catch(entered.reject);
      await entered.promise;
      return left.resolve;
    } catch (error) {
      if (error instanceof NoTurnInTime) throw new TooManyAnswers({ cause: error });
      throw error;
    } finally {
      clearInterval(beating);
    }
  }

  private async untilRoom(whose: Caller, signal: AbortSignal | undefined): Promise<void> {
    const until = performance.now() + this.waitMs;
    while (this.isFull(whose)) {
      if (performance.now() > until) throw new TooManyAnswers();
      await delay(LOOK_MS, undefined, { signal });
    }
  }
}

/** The bytes of one call's answer that are in memory now. */
export class AnswerPlace implements Disposable {
  private kept = 0;
  private reading = 0;
  /** Index of the step that the answer has a place of; -1 where it needs none. */
  private step = -1;
  private leave: (() => void) | undefined;
  private isOver = false;
  /** Bytes that were read since the last turn on the event loop. */
  private sinceTurn = 0;

  constructor(
    private readonly enter: (step: number, wait: Wait) => Promise<() => void>,
    private readonly turn: WorkTurn,
  ) {}

  /** Sets the bytes that stay until the call is over. */
  keep(bytes: number): void {
    this.kept = bytes;
  }

  /** Sets the bytes that were read and belong to nothing whole yet. */
  pending(bytes: number): void {
    this.reading = bytes;
  }

  /**
   * Counts bytes that were read, and resolves when there is room for them and it is the caller's turn.
   * @returns `undefined` where there is room at once
   * @throws TooManyAnswers where there was none for a minute
   */
  read(bytes: number, wait: Wait): Promise<void> | undefined {
    this.reading += bytes;
    this.sinceTurn += bytes;
    const isCostly = this.sinceTurn >= COSTLY_BODY && this.turn !== FREE;
    return this.kept + this.reading > this.size || isCostly ? this.wait(wait, isCostly) : undefined;
  }

  [Symbol.dispose](): void {
    this.isOver = true;
    this.leave?.();
  }

  private get size(): number {
    return this.step < 0 ? ALWAYS : STEPS[this.step]!;
  }

  private async wait(wait: Wait, isCostly: boolean): Promise<void> {
    await this.grow(wait);
    if (!isCostly) return;
    this.sinceTurn = 0;
    await this.turn.next(wait.signal ?? NEVER);
  }

  private async grow(wait: Wait): Promise<void> {
    while (this.kept + this.reading > this.size) {
      const leave = await this.enter(this.step + 1, wait);
      this.leave?.();
      this.leave = leave;
      this.step += 1;
      if (this.isOver) return leave();
    }
  }
}
