import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppConfig, InFlight, type InFlightOwner, Metrics } from '#libs/service';

/** Longer than a reader that takes nothing keeps its room (ReaderPace): whoever waits for that room gets it. */
const LONGEST_WAIT_MS = 45_000;
/** For tests: another wait than three quarters of a minute, in milliseconds. */
export const RESPONSE_WAIT_MS = Symbol('RESPONSE_WAIT_MS');
/** The share of the room that one caller with a name may have, unless a single answer of it is larger. */
const CALLER_SHARE = 1 / 2;

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
 * The bytes of large answers that this process reads, builds and sends at once (ANSWER_LIMIT). An answer that finds no
 * room waits, so that many readers of large Tasks take turns instead of the process's memory.
 *
 * - All answers together have at most the limit; one that is larger is alone.
 * - A caller with a name has at most half of the limit, or a single answer that is larger.
 * - Callers that wait take turns, each in the order of its own requests. A large answer is not overtaken forever.
 */
@Injectable()
export class ResponseBudget {
  private taken = 0;
  private readonly takenBy = new Map<string, number>();
  /** Waiting answers by caller; the caller whose turn is next comes first. */
  private readonly lines = new Map<string, Waiting[]>();
  private readonly refusals;

  constructor(
    private readonly config: AppConfig,
    metrics: Metrics,
    @Optional() @Inject(RESPONSE_WAIT_MS) private readonly longestWaitMs = LONGEST_WAIT_MS,
  ) {
    metrics.gauge('parley_answer_bytes', 'Bytes of large answers that are built or sent', [], () => this.taken);
    metrics.gauge('parley_answers_waiting', 'Large answers that wait for room', [], () => this.waiting);
    this.refusals = metrics.counter('parley_answers_refused_total', 'Large answers that found no room in time', []);
  }

  /**
   * Resolves when there is room. @returns what to call, once, when the answer is gone
   * @throws ResponseBudgetExceeded after three quarters of a minute
   */
  async enter(bytes: number, whose: InFlightOwner): Promise<() => void> {
    const room = Math.min(bytes, this.config.memory.answerBytes);
    const account = whose.owner === '' ? '' : InFlight.accountOf(whose);
    await this.wait(room, account);
    return () => this.leave(room, account);
  }

  private get waiting(): number {
    return this.lines.values().reduce((sum, line) => sum + line.length, 0);
  }

  private wait(bytes: number, account: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { bytes, enter: (): void => (clearTimeout(timer), resolve()) };
      const giveUp = (): void => {
        this.drop(account, waiting);
        this.refusals.inc();
        this.admitNext();
        reject(new ResponseBudgetExceeded());
      };
      const timer = setTimeout(giveUp, this.longestWaitMs).unref();
      const line = this.lines.get(account);
      if (line) line.push(waiting);
      else this.lines.set(account, [waiting]);
      this.admitNext();
    });
  }

  private leave(bytes: number, account: string): void {
    this.add(account, -bytes);
    this.admitNext();
  }

  private add(account: string, bytes: number): void {
    this.taken += bytes;
    const held = (this.takenBy.get(account) ?? 0) + bytes;
    if (held === 0) this.takenBy.delete(account);
    else this.takenBy.set(account, held);
  }

  /** Lets in every answer that may enter now. */
  private admitNext(): void {
    for (let next = this.nextAccount(); next !== undefined; next = this.nextAccount()) {
      const line = this.lines.get(next)!;
      const first = line.shift()!;
      // Back to the end: the others come first now.
      this.lines.delete(next);
      if (line.length > 0) this.lines.set(next, line);
      this.add(next, first.bytes);
      first.enter();
    }
  }

  /** The caller whose first answer may enter. Those that have their share are passed over; one that needs room is not. */
  private nextAccount(): string | undefined {
    const { answerBytes } = this.config.memory;
    for (const [account, [first]] of this.lines) {
      if (!first || this.exceedsShare(account, first.bytes)) continue;
      return this.taken + first.bytes <= answerBytes ? account : undefined;
    }
    return undefined;
  }

  private exceedsShare(account: string, bytes: number): boolean {
    const held = this.takenBy.get(account) ?? 0;
    return account !== '' && held > 0 && held + bytes > this.config.memory.answerBytes * CALLER_SHARE;
  }

  private drop(account: string, waiting: Waiting): void {
    const line = this.lines.get(account)?.filter((it) => it !== waiting) ?? [];
    if (line.length === 0) this.lines.delete(account);
    else this.lines.set(account, line);
  }
}
