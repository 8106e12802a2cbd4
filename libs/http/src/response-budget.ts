import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppConfig, Metrics } from '#libs/service';

const LONGEST_WAIT_MS = 30_000;
/** For tests: another wait than half a minute, in milliseconds. */
export const RESPONSE_WAIT_MS = Symbol('RESPONSE_WAIT_MS');

/** An answer found no room in time. The same request may find it later. */
export class ResponseBudgetExceeded extends Error {
  override readonly name = 'ResponseBudgetExceeded';

  constructor() {
    super('Too many large answers are under way; try again later');
  }
}

interface Waiting {
  bytes: number;
  enter(): void;
}

/**
 * The bytes of large answers that this process reads and builds at once (ANSWER_LIMIT): whoever finds no room waits in
 * line, so that many readers of large Tasks take turns instead of its memory. One that is larger than all the room is
 * alone in it.
 */
@Injectable()
export class ResponseBudget {
  private taken = 0;
  private line: Waiting[] = [];
  private readonly refusals;

  constructor(
    private readonly config: AppConfig,
    metrics: Metrics,
    @Optional() @Inject(RESPONSE_WAIT_MS) private readonly longestWaitMs = LONGEST_WAIT_MS,
  ) {
    metrics.gauge('parley_answer_bytes', 'Bytes of large answers that are being built', [], () => this.taken);
    metrics.gauge('parley_answers_waiting', 'Large answers that wait for room', [], () => this.line.length);
    this.refusals = metrics.counter('parley_answers_refused_total', 'Large answers that found no room in time', []);
  }

  /**
   * Resolves when there is room. @returns what to call, once, when the answer is gone
   * @throws ResponseBudgetExceeded after half a minute
   */
  async enter(bytes: number): Promise<() => void> {
    const room = Math.min(bytes, this.config.memory.answerBytes);
    if (this.line.length > 0 || !this.fits(room)) await this.wait(room);
    else this.taken += room;
    return () => this.leave(room);
  }

  private fits(bytes: number): boolean {
    return this.taken + bytes <= this.config.memory.answerBytes;
  }

  private wait(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { bytes, enter: (): void => (clearTimeout(timer), resolve()) };
      const giveUp = (): void => {
        this.line = this.line.filter((it) => it !== waiting);
        this.refusals.inc();
        this.next();
        reject(new ResponseBudgetExceeded());
      };
      const timer = setTimeout(giveUp, this.longestWaitMs).unref();
      this.line.push(waiting);
    });
  }

  private leave(bytes: number): void {
    this.taken -= bytes;
    this.next();
  }

  /** In the order in which they came: a large one is not overtaken for ever. */
  private next(): void {
    while (this.line[0] && this.fits(this.line[0].bytes)) {
      const first = this.line.shift()!;
      this.taken += first.bytes;
      first.enter();
    }
  }
}
