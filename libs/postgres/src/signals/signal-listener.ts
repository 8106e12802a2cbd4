import { setTimeout as delay } from 'node:timers/promises';
import type { WireEvents, WireSession } from './signal-wire.js';

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;

export interface ListenerEvents {
  onNotified(channel: string, payload: string | undefined): void;
  /** Reports subscribed channels; earlier signals on them may have been missed. */
  onListening(channels: readonly string[]): void;
  /** Reports a lost or failed session, once; the listener retries until a session exists. */
  onLost(error: unknown): void;
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

  listenTo(channel: string): void {
    this.wanted.add(channel);
    void this.syncChannels();
  }

  stopListening(channel: string): void {
    this.wanted.delete(channel);
    void this.syncChannels();
  }

  /** Replaces the session: it may lead to a replaced server. */
  renewSession(): void {
    if (this.session) this.discardSession(new Error('The session is replaced: its server only reads'));
  }

  async endListening(): Promise<void> {
    this.ended = true;
    const { session } = this;
    this.forgetSession();
    await session?.endSession();
  }

  /** Subscribes the session to all wanted channels at once. Never rejects. */
  private async syncChannels(): Promise<void> {
    if (this.syncing) return;
    this.syncing = true;
    // Channels wanted in the same turn are requested together.
    await Promise.resolve();
    for (let pause = FIRST_RETRY_MS; !this.ended && this.isBehind();) {
      try {
        await this.listenToWanted();
        pause = FIRST_RETRY_MS;
      } catch (error) {
        this.discardSession(error);
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
    const session = (this.session ??= await this.openWireSession());
    const fresh = [...this.wanted.difference(this.listened)];
    const stale = [...this.listened.difference(this.wanted)];
    await session.changeChannels(fresh, stale);
    // The session may have been lost since.
    if (this.session !== session) return;
    this.isTroubled = false;
    for (const channel of fresh) this.listened.add(channel);
    for (const channel of stale) this.listened.delete(channel);
    if (fresh.length > 0) this.events.onListening(fresh);
  }

  private async openWireSession(): Promise<WireSession> {
    // The session may end before it is assigned.
    const own: { session?: WireSession } = {};
    const session = await this.open({
      notified: (channel, payload) => this.events.onNotified(channel, payload),
      ended: (error) => {
        if (own.session !== undefined && this.session === own.session) this.discardSession(error);
      },
    });
    own.session = session;
    if (this.ended) await session.endSession();
    return session;
  }

  private discardSession(error: unknown): void {
    const { session } = this;
    this.forgetSession();
    void session?.endSession();
    if (this.ended) return;
    if (!this.isTroubled) this.events.onLost(error);
    this.isTroubled = true;
    void this.syncChannels();
  }

  private forgetSession(): void {
    this.session = undefined;
    this.listened.clear();
  }
}
