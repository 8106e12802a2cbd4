import { payloadsOf } from './signal-channel.js';

/** Minimum milliseconds between two statements: at most a hundred per second. */
const PAUSE_MS = 10;
/** Maximum number of waiting keys while the database does not answer; further keys are dropped. */
const MAX_WAITING = 10_000;

/** Sends one NOTIFY per channel, with a payload for each, in one transaction. */
export type Notify = (channels: readonly string[], payloads: readonly string[]) => Promise<unknown>;

/**
 * Sends signals: the first one at once, later ones within ten milliseconds together. Signals that cannot be sent are
 * dropped, since receivers also poll.
 */
export class SignalSender {
  private waiting = new Map<string, Set<string>>();
  private count = 0;
  private begun = Number.NEGATIVE_INFINITY;
  private sending: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param onFailure called with the error of each failed statement */
  constructor(
    private readonly sender: string,
    private readonly notify: Notify,
    private readonly onFailure: (error: unknown) => void = () => undefined,
  ) {}

  queueSignal(channel: string, key: string): void {
    const keys = this.waiting.get(channel);
    if (keys?.has(key) || this.count >= MAX_WAITING) return;
    if (keys) keys.add(key);
    else this.waiting.set(channel, new Set([key]));
    this.count += 1;
    this.scheduleSend();
  }

  /** Sends the waiting signals; resolves when none is left. */
  async sendRemaining(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    do {
      this.sending ??= this.sendWaiting();
      await this.sending;
    } while (this.count > 0);
  }

  private scheduleSend(): void {
    if (this.sending || this.timer) return;
    const pause = this.begun + PAUSE_MS - performance.now();
    if (pause <= 0) {
      // Signals of the same turn share the statement.
      this.sending = Promise.resolve().then(() => this.sendWaiting());
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.sending ??= this.sendWaiting();
    }, pause).unref();
  }

  /** Sends all waiting signals. Never rejects. */
  private async sendWaiting(): Promise<void> {
    const { waiting } = this;
    this.waiting = new Map();
    this.count = 0;
    this.begun = performance.now();
    const channels: string[] = [];
    const payloads: string[] = [];
    for (const [channel, keys] of waiting) {
      for (const payload of payloadsOf(this.sender, keys)) {
        channels.push(channel);
        payloads.push(payload);
      }
    }
    try {
      if (channels.length > 0) await this.notify(channels, payloads);
    } catch (error) {
      this.onFailure(error);
    }
    this.sending = undefined;
    if (this.count > 0) this.scheduleSend();
  }
}
