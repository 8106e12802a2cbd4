import { payloadsOf } from './signal-channel.js';

/** The least time between two statements: a hundred a second, however much happens. */
const PAUSE_MS = 10;
/** Keys that may wait while the database does not answer; more are not sent. */
const MAX_WAITING = 10_000;

/** One NOTIFY each, in one transaction: the channels, and a payload for each of them. */
export type Notify = (channels: readonly string[], payloads: readonly string[]) => Promise<unknown>;

/**
 * Sends signals: the first one at once, and what comes within ten milliseconds of a statement together with the next
 * one. What cannot be sent is dropped; whoever waits for it looks by himself.
 */
export class SignalSender {
  private waiting = new Map<string, Set<string>>();
  private count = 0;
  private begun = Number.NEGATIVE_INFINITY;
  private sending: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param onFailure told of each statement that failed */
  constructor(
    private readonly sender: string,
    private readonly notify: Notify,
    private readonly onFailure: (error: unknown) => void = () => undefined,
  ) {}

  send(channel: string, key: string): void {
    const keys = this.waiting.get(channel);
    if (keys?.has(key) || this.count >= MAX_WAITING) return;
    if (keys) keys.add(key);
    else this.waiting.set(channel, new Set([key]));
    this.count += 1;
    this.schedule();
  }

  /** Sends what waits; resolves when there is nothing more to send. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    do {
      this.sending ??= this.sendWaiting();
      await this.sending;
    } while (this.count > 0);
  }

  private schedule(): void {
    if (this.sending || this.timer) return;
    const pause = this.begun + PAUSE_MS - performance.now();
    if (pause <= 0) {
      // What is sent in the same turn goes with it.
      this.sending = Promise.resolve().then(() => this.sendWaiting());
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.sending ??= this.sendWaiting();
    }, pause).unref();
  }

  /** Never rejects. */
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
    if (this.count > 0) this.schedule();
  }
}
