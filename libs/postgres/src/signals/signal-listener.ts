import { setTimeout as delay } from 'node:timers/promises';
import type { WireEvents, WireSession } from './signal-wire.js';

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;

export interface ListenerEvents {
  notified(channel: string, payload: string | undefined): void;
  /** Reports subscribed channels; earlier signals on them may have been missed. */
  listening(channels: readonly string[]): void;
  /** Reports a lost or failed session, once; the listener retries until a session exists. */
  lost(error: unknown): void;
}

/** Receives signals on a separate session, which it replaces when it breaks. */
export class SignalListener {
  private readonly wanted = new Set<string>();
  private readonly listened = new Set<string>();
  private session: WireSession | undefined;
  private syncing = false;
  private isTroubled = false;
  private ended = false;

  constructor(
    private readonly open: (events: WireEvents) => Promise<WireSession>,
    private readonly events: ListenerEvents,
  ) {}

  /** True if the session was lost, or could not be opened, and there is none yet. */
  get troubled(): boolean {
    return this.isTroubled;
  }

  listen(channel: string): void {
    this.wanted.add(channel);
    void this.sync();
  }

  unlisten(channel: string): void {
    this.wanted.delete(channel);
    void this.sync();
  }

  /** Replaces the session: it may lead to a replaced server. */
  renew(): void {
    if (this.session) this.discard(new Error('The session is replaced: its server only reads'));
  }

  async end(): Promise<void> {
    this.ended = true;
    const { session } = this;
    this.forget();
    await session?.end();
  }

  /** Subscribes the session to all wanted channels at once. Never rejects. */
  private async sync(): Promise<void> {
    if (this.syncing) return;
    this.syncing = true;
    // Channels wanted in the same turn are requested together.
    await Promise.resolve();
    for (let pause = FIRST_RETRY_MS; !this.ended && this.isBehind();) {
      try {
        await this.listenToWanted();
        pause = FIRST_RETRY_MS;
      } catch (error) {
        this.discard(error);
        await delay(pause, undefined, { ref: false });
        pause = Math.min(pause * 2, LAST_RETRY_MS);
      }
    }
    this.syncing = false;
  }

  private isBehind(): boolean {
    return this.wanted.symmetricDifference(this.listened).size > 0;
  }

  private async listenToWanted(): Promise<void> {
    const session = (this.session ??= await this.connect());
    const fresh = [...this.wanted.difference(this.listened)];
    const stale = [...this.listened.difference(this.wanted)];
    await session.listen(fresh, stale);
    // The session may have been lost since.
    if (this.session !== session) return;
    this.isTroubled = false;
    for (const channel of fresh) this.listened.add(channel);
    for (const channel of stale) this.listened.delete(channel);
    if (fresh.length > 0) this.events.listening(fresh);
  }

  private async connect(): Promise<WireSession> {
    // The session may end before it is assigned.
    const own: { session?: WireSession } = {};
    const session = await this.open({
      notified: (channel, payload) => this.events.notified(channel, payload),
      ended: (error) => {
        if (own.session !== undefined && this.session === own.session) this.discard(error);
      },
    });
    own.session = session;
    if (this.ended) await session.end();
    return session;
  }

  private discard(error: unknown): void {
    const { session } = this;
    this.forget();
    void session?.end();
    if (this.ended) return;
    if (!this.isTroubled) this.events.lost(error);
    this.isTroubled = true;
    void this.sync();
  }

  private forget(): void {
    this.session = undefined;
    this.listened.clear();
  }
}
