import { Injectable } from '@nestjs/common';
import { PublicFault } from '#libs/faults';
import { AppConfig } from '../config/app-config.js';
import type { CallerIdentity } from '../load/caller-turns.js';
import { AnswerStep, type StepMember, untilGranted } from './answer-step.js';
import { InFlight, SMALL_REQUEST } from './in-flight.js';

/** Unit in which memory is granted, in bytes. */
const UNIT = 64 * 1024;
/** Fraction of IN_FLIGHT_LIMIT that the contents of one ContentRoom may take. */
const PART_OF_LIMIT = 1 / 2;
/** Maximum total wait of one model call for room, in milliseconds. */
export const CONTENT_WAIT_MS = 60_000;

/**
 * Reports that there was not enough memory for the files that a call has to read. The message may be shown to callers.
 */
export class TooManyContents extends PublicFault {
  override readonly name = 'TooManyContents';

  constructor() {
    super('too many files are in memory for other calls');
  }

  override get kind(): 'overloaded' {
    return 'overloaded';
  }
}

interface RoomOptions {
  /** Fraction of the limits in flight above which no more content is read; absent: half (see `InFlight.isFull`). */
  share?: number;
  /** Maximum total wait for room of one unit of work (ContentPlace), in milliseconds; absent: no limit. */
  waitMs?: number;
}

/**
 * Memory for contents that work reads and keeps, in bytes, such as files that a small Message references.
 *
 * - All contents of a room share half of IN_FLIGHT_LIMIT; AnswerStep divides it among callers and tenants.
 * - One unit of work (ContentPlace) at a time gets all the room that it needs and never waits, so units that wait for
 *   each other cannot deadlock.
 * - Held bytes count in InFlight as kept, towards the limits that refuse requests and delay nodes.
 * - Held bytes are never evicted. A pause without progress proves nothing here, because a model may think for long.
 */
export class ContentRoom {
  private readonly step: AnswerStep;
  private places = 0;

  constructor(
    private readonly inFlight: InFlight,
    bytes: number,
    private readonly options: RoomOptions = {},
  ) {
    const isFull = (whose: CallerIdentity): boolean => inFlight.isFull(InFlight.accountOf(whose), options.share);
    this.step = new AnswerStep({ bytes, silentMs: Infinity, isFull });
  }

  /** Creates the account of one unit of work, which counts no bytes yet. */
  openPlace(whose: CallerIdentity): ContentPlace {
    this.places += 1;
    const { step, inFlight, places: order } = this;
    return new ContentPlace({ step, inFlight, whose, order, waitMs: this.options.waitMs });
  }
}

interface ContentPlaceOptions {
  step: AnswerStep;
  inFlight: InFlight;
  whose: CallerIdentity;
  order: number;
  waitMs: number | undefined;
}

/**
 * Place of one unit of work in a ContentRoom: the bytes of contents that the work holds, until the place is disposed.
 */
export class ContentPlace implements Disposable, StepMember {
  readonly whose: CallerIdentity;
  readonly order: number;
  readonly isWaiting = true;
  readonly movedAt = 0;
  private readonly account: string;
  private bytes = 0;
  /** Bytes that the AnswerStep has granted to this place. */
  private granted = 0;
  /** Total milliseconds of the finished waits for room. */
  private waited = 0;
  private isOver = false;
  private stopWaiting: (() => void) | undefined;

  constructor(private readonly options: ContentPlaceOptions) {
    this.whose = options.whose;
    this.order = options.order;
    this.account = InFlight.accountOf(options.whose);
  }

  /**
   * Raises the held bytes to a total; resolves once there is room. Call it again only after it has resolved. A total of
   * up to 64 KiB needs no room.
   * @throws TooManyContents after the maximum wait; the signal's reason
   */
  async holdBytes(bytes: number, signal: AbortSignal): Promise<void> {
    const needed = bytes <= SMALL_REQUEST ? 0 : Math.ceil(bytes / UNIT) * UNIT;
    if (needed > this.granted) await this.growRoom(needed, signal);
    if (this.isOver) return;
    this.options.inFlight.addBytes(this.account, 0, bytes - this.bytes);
    this.bytes = bytes;
  }

  /** Does nothing, since held contents are never evicted. */
  evict(): void {}

  [Symbol.dispose](): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stopWaiting?.();
    // Release the bytes in flight first: other members wait for those as well.
    this.options.inFlight.addBytes(this.account, 0, -this.bytes);
    this.options.step.shrinkTo(this, 0);
  }

  private async growRoom(needed: number, signal: AbortSignal): Promise<void> {
    const room = Promise.withResolvers<void>();
    if (!this.options.step.requestRoom(this, needed, room.resolve)) await this.waitFor(room, signal);
    if (this.isOver) this.options.step.shrinkTo(this, 0);
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
      step.shrinkTo(this, this.granted);
      throw error;
    } finally {
      this.stopWaiting = undefined;
      this.waited += performance.now() - from;
    }
  }
}

/**
 * Content rooms of this process. Each kind of work has its own room, so that long work takes no room from short work.
 */
@Injectable()
export class ContentRooms {
  /** Room for files that models read, held during their calls. */
  readonly modelFiles: ContentRoom;
  /** Room for large Parts that plugins process, held during their work. */
  readonly workParts: ContentRoom;
  /** Room for large Parts that runs record, held until they are in the log. */
  readonly recordedParts: ContentRoom;

  constructor({ memory }: AppConfig, inFlight: InFlight) {
    const bytes = memory.inFlightBytes * PART_OF_LIMIT;
    this.modelFiles = new ContentRoom(inFlight, bytes, { share: 1, waitMs: CONTENT_WAIT_MS });
    this.workParts = new ContentRoom(inFlight, bytes);
    this.recordedParts = new ContentRoom(inFlight, bytes, { share: 1 });
  }
}
