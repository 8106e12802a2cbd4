import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import type { Caller } from '../load/caller-turns.js';
import { AnswerStep, type StepMember } from './answer-step.js';
import { InFlight, SMALL_REQUEST } from './in-flight.js';
import { untilGranted } from './room-wait.js';

/** Bytes in which room is given. */
const UNIT = 64 * 1024;
/** Part of IN_FLIGHT_LIMIT that the contents of one room may have. */
const PART_OF_LIMIT = 1 / 2;
/** Milliseconds that a model call waits for room, all its waits together. */
export const CONTENT_WAIT_MS = 60_000;

/** A call found no room for what it has to read. The message may be shown to callers. */
export class TooManyContents extends Error {
  override readonly name = 'TooManyContents';

  constructor() {
    super('too many files are in memory for other calls');
  }
}

interface RoomOptions {
  /** Share of the limits in flight beyond which nothing more is read; absent: that for work which can wait. */
  share?: number;
  /** Milliseconds of all waits of one place; absent: a place waits until there is room. */
  waitMs?: number;
}

/**
 * Memory for contents that small Messages name and that work reads and keeps, in bytes.
 *
 * - All contents of a room have half of IN_FLIGHT_LIMIT; callers, tenants and turns share it as an AnswerStep says.
 * - One place at a time has what it needs, whatever others have. It never waits, so places that wait for each other all
 *   come to an end.
 * - What is held counts in InFlight as kept, so a caller's requests and nodes wait for it as for all else.
 * - Nothing that is held is taken away: a model that thinks is silent as well.
 */
export class ContentRoom {
  private readonly step: AnswerStep;
  private places = 0;

  constructor(
    private readonly inFlight: InFlight,
    bytes: number,
    private readonly options: RoomOptions = {},
  ) {
    const isFull = (whose: Caller): boolean => inFlight.isFull(InFlight.accountOf(whose), options.share);
    this.step = new AnswerStep({ bytes, silentMs: Infinity, isFull });
  }

  /** Opens the account of one work. */
  open(whose: Caller): ContentPlace {
    this.places += 1;
    const { step, inFlight, places: order } = this;
    return new ContentPlace({ step, inFlight, whose, order, waitMs: this.options.waitMs });
  }
}

interface PlaceOptions {
  step: AnswerStep;
  inFlight: InFlight;
  whose: Caller;
  order: number;
  waitMs: number | undefined;
}

/** Bytes of contents that one work holds, until it is disposed of. */
export class ContentPlace implements Disposable, StepMember {
  readonly whose: Caller;
  readonly order: number;
  readonly isWaiting = true;
  readonly movedAt = 0;
  private readonly account: string;
  private bytes = 0;
  /** Bytes of room in the step. */
  private granted = 0;
  /** Milliseconds of the waits that are over. */
  private waited = 0;
  private isOver = false;
  private stopWaiting: (() => void) | undefined;

  constructor(private readonly options: PlaceOptions) {
    this.whose = options.whose;
    this.order = options.order;
    this.account = InFlight.accountOf(options.whose);
  }

  /**
   * Raises what is held to so many bytes in all; resolves when there is room for them. One call at a time. Up to 64 KiB
   * need no room.
   * @throws TooManyContents where there was none in time; the signal's reason
   */
  async hold(bytes: number, signal: AbortSignal): Promise<void> {
    const needed = bytes <= SMALL_REQUEST ? 0 : Math.ceil(bytes / UNIT) * UNIT;
    if (needed > this.granted) await this.grow(needed, signal);
    if (this.isOver) return;
    this.options.inFlight.add(this.account, 0, bytes - this.bytes);
    this.bytes = bytes;
  }

  /** Holds nothing that may be taken away. */
  evict(): void {}

  [Symbol.dispose](): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stopWaiting?.();
    // First: others wait for what is in flight as well.
    this.options.inFlight.add(this.account, 0, -this.bytes);
    this.options.step.shrink(this, 0);
  }

  private async grow(needed: number, signal: AbortSignal): Promise<void> {
    const room = Promise.withResolvers<void>();
    if (!this.options.step.take(this, needed, room.resolve)) await this.waitFor(room, signal);
    if (this.isOver) this.options.step.shrink(this, 0);
    else this.granted = needed;
  }

  private async waitFor(room: PromiseWithResolvers<void>, signal: AbortSignal): Promise<void> {
    const { waitMs, step } = this.options;
    const from = performance.now();
    this.stopWaiting = room.resolve;
    try {
      const ms = waitMs === undefined ? undefined : waitMs - this.waited;
      await untilGranted(room, { ms, signal, tooLong: () => new TooManyContents() });
    } catch (error) {
      step.shrink(this, this.granted);
      throw error;
    } finally {
      this.stopWaiting = undefined;
      this.waited += performance.now() - from;
    }
  }
}

/** The rooms of this process. Each kind of work has its own, so that long work takes no room from short work. */
@Injectable()
export class ContentRooms {
  /** Files that models read, while their calls last. */
  readonly modelFiles: ContentRoom;
  /** Large Parts that plugins work on, while their work lasts. */
  readonly workParts: ContentRoom;
  /** Large Parts that runs put into their logs, until they are there. */
  readonly recordedParts: ContentRoom;

  constructor({ memory }: AppConfig, inFlight: InFlight) {
    const bytes = memory.inFlightBytes * PART_OF_LIMIT;
    this.modelFiles = new ContentRoom(inFlight, bytes, { share: 1, waitMs: CONTENT_WAIT_MS });
    this.workParts = new ContentRoom(inFlight, bytes);
    this.recordedParts = new ContentRoom(inFlight, bytes, { share: 1 });
  }
}
