import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppConfig, type InFlightOwner, Metrics } from '#libs/service';
import { ByteRoom } from './byte-room.js';

/** Longer than a reader that takes nothing keeps its room (ReaderPace): whoever waits for that room gets it. */
export const LONGEST_WAIT_MS = 45_000;
/** For tests: another wait than three quarters of a minute, in milliseconds. */
export const RESPONSE_WAIT_MS = Symbol('RESPONSE_WAIT_MS');

/**
 * The bytes of large answers that this process reads, builds and sends at once (ANSWER_LIMIT). An answer that finds no
 * room waits, so that many readers of large Tasks take turns instead of the process's memory. ByteRoom says how callers
 * share it.
 */
@Injectable()
export class ResponseBudget {
  private readonly room: ByteRoom;

  constructor({ memory }: AppConfig, metrics: Metrics, @Optional() @Inject(RESPONSE_WAIT_MS) waitMs = LONGEST_WAIT_MS) {
    const refusals = metrics.counter('parley_answers_refused_total', 'Large answers that found no room in time', []);
    this.room = new ByteRoom({ bytes: memory.answerBytes, waitMs, refused: () => refusals.inc() });
    metrics.gauge('parley_answer_bytes', 'Bytes of large answers that are built or sent', [], () => this.room.taken);
    metrics.gauge('parley_answers_waiting', 'Large answers that wait for room', [], () => this.room.waiting);
  }

  /**
   * Resolves when there is room. @returns what to call, once, when the answer is gone
   * @throws ResponseBudgetExceeded after three quarters of a minute
   */
  enter(bytes: number, whose: InFlightOwner): Promise<() => void> {
    return this.room.enter(bytes, whose);
  }
}
