import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppConfig, type InFlightOwner, Metrics } from '#libs/service';
import { ByteRoom } from './byte-room.js';

/**
 * Maximum wait in milliseconds. It exceeds the time that a stalled reader keeps its room (ReaderPace), so waiting calls
 * get that room.
 */
export const LONGEST_WAIT_MS = 45_000;
/** Injection token for another maximum wait in tests, in milliseconds. */
export const RESPONSE_WAIT_MS = Symbol('RESPONSE_WAIT_MS');

/**
 * Room for the bytes of large answers that this process reads, builds and sends at once (ANSWER_LIMIT). An answer
 * without room waits, so many readers of large Tasks take turns. ByteRoom shares the room among callers.
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
   * Resolves when there is room. @returns the function that frees the room; call it once the answer is gone
   * @throws ResponseBudgetExceeded after 45 seconds
   */
  enterAnswer(bytes: number, whose: InFlightOwner): Promise<() => void> {
    return this.room.enterRoom(bytes, whose);
  }
}
