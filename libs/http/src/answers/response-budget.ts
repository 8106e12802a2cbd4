import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppConfig, InFlight, type InFlightOwner, Metrics } from '#libs/service';

/** Longer than a reader that takes nothing keeps its room (ReaderPace): whoever waits for that room gets it. */
const LONGEST_WAIT_MS = 45_000;
/** For tests: another wait than three quarters of a minute, in milliseconds. */
export const RESPONSE_WAIT_MS = Symbol('RESPONSE_WAIT_MS');
/** The shares of the room that one caller with a name, and all callers of one tenant, may have. */
const CALLER_SHARE = 1 / 2;
const TENANT_SHARE = 3 / 4;

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

/** Whose answers are counted together. */
interface Account {
  caller: string;
  tenant: string;
}

/**
 * The bytes of large answers that this process reads, builds and sends at once (ANSWER_LIMIT). An answer that finds no
 * room waits, so that many readers of large Tasks take turns instead of the process's memory.
 *
 * - All answers together have at most the limit; one that is larger is alone.
 * - A caller with a name has at most half of the limit, or a single answer that is larger; all callers of a tenant have
 *   three quarters, where there are tenants.
 * - Callers that wait take turns, each in the order of its own requests. A large answer is not overtaken forever.
 */
@Injectable()
export class ResponseBudget {
  private taken = 0;
  private readonly takenBy = { caller: new Map<string, number>(), tenant: new Map<string, number>() };
  /** Waiting answers by caller; the caller whose turn is next comes first. */
  private readonly lines = new Map<string, { account: Account; waiting: Waiting[] }>();
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
    const account = { caller: whose.owner === '' ? '' : InFlight.accountOf(whose), tenant: whose.tenant };
    await this.wait(room, account);
    return () => this.leave(room, account);
  }

  private get waiting(): number {
    return this.lines.values().reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  private wait(bytes: number, account: Account): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { bytes, enter: (): void => (clearTimeout(timer), resolve()) };
      const giveUp = (): void => {
        this.drop(account, waiting);
        this.refusals.inc();
        this.admitNext();
        reject(new ResponseBudgetExceeded());
      };
      const timer = setTimeout(giveUp, this.longestWaitMs).unref();
      const line = this.lines.get(account.caller);
      if (line) line.waiting.push(waiting);
      else this.lines.set(account.caller, { account, waiting: [waiting] });
      this.admitNext();
    });
  }

  private leave(bytes: number, account: Account): void {
    this.add(account, -bytes);
    this.admitNext();
  }

  private add({ caller, tenant }: Account, bytes: number): void {
    this.taken += bytes;
    addTo(this.takenBy.caller, caller, bytes);
    addTo(this.takenBy.tenant, tenant, bytes);
  }

  /** Lets in every answer that may enter now. */
  private admitNext(): void {
    for (let account = this.nextAccount(); account; account = this.nextAccount()) {
      const { waiting } = this.lines.get(account.caller)!;
      const first = waiting.shift()!;
      // Back to the end: the others come first now.
      this.lines.delete(account.caller);
      if (waiting.length > 0) this.lines.set(account.caller, { account, waiting });
      this.add(account, first.bytes);
      first.enter();
    }
  }

  /** The caller whose first answer may enter. Those that have their share are passed over; one that needs room is not. */
  private nextAccount(): Account | undefined {
    const { answerBytes } = this.config.memory;
    for (const {
      account,
      waiting: [first],
    } of this.lines.values()) {
      if (!first || this.exceedsShare(account, first.bytes)) continue;
      return this.taken + first.bytes <= answerBytes ? account : undefined;
    }
    return undefined;
  }

  private exceedsShare({ caller, tenant }: Account, bytes: number): boolean {
    const { answerBytes } = this.config.memory;
    const exceeds = (held = 0, share: number): boolean => held > 0 && held + bytes > answerBytes * share;
    if (caller !== '' && exceeds(this.takenBy.caller.get(caller), CALLER_SHARE)) return true;
    return tenant !== '' && exceeds(this.takenBy.tenant.get(tenant), TENANT_SHARE);
  }

  private drop({ caller }: Account, dropped: Waiting): void {
    const line = this.lines.get(caller);
    if (!line) return;
    line.waiting = line.waiting.filter((it) => it !== dropped);
    if (line.waiting.length === 0) this.lines.delete(caller);
  }
}

/** Adds to a sum; one that is nothing is not kept. */
function addTo(sums: Map<string, number>, key: string, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes;
  if (sum === 0) sums.delete(key);
  else sums.set(key, sum);
}
