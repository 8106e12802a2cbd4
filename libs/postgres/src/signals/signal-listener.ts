import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;

export interface ListenerEvents {
  notified(channel: string, payload: string | undefined): void;
  /** These channels are heard from now on; what was sent on them before may have been missed. */
  listening(channels: readonly string[]): void;
  /** The session was lost, or could not be had; told once, and tried again until it is there. */
  lost(error: unknown): void;
}

/**
 * Hears channels of PostgreSQL on a session of its own, which it replaces when it breaks. It must be a direct
 * connection, or one pooled by session: behind a pooler of transactions LISTEN hears nothing.
 */
export class SignalListener {
  private readonly wanted = new Set<string>();
  private readonly listened = new Set<string>();
  private session: pg.Client | undefined;
  private syncing = false;
  private troubled = false;
  private ended = false;

  /** @param open gives a session that is not yet connected */
  constructor(
    private readonly open: () => pg.Client,
    private readonly events: ListenerEvents,
  ) {}

  listen(channel: string): void {
    this.wanted.add(channel);
    void this.sync();
  }

  unlisten(channel: string): void {
    this.wanted.delete(channel);
    void this.sync();
  }

  /** Hears on another session from now on: the one that it has may be that of a server that was replaced. */
  renew(): void {
    if (this.session) this.discard(new Error('The session is replaced: its server only reads'));
  }

  async end(): Promise<void> {
    this.ended = true;
    const { session } = this;
    this.forget();
    await session?.end().catch(() => undefined);
  }

  /** Makes the session hear what is wanted, all that is wanted by now in one statement. Never rejects. */
  private async sync(): Promise<void> {
    if (this.syncing) return;
    this.syncing = true;
    // What is wanted in the same turn is asked for together.
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
    await session.query([...fresh.map((it) => `LISTEN ${it}`), ...stale.map((it) => `UNLISTEN ${it}`)].join('; '));
    // It may have been lost since.
    if (this.session !== session) return;
    this.troubled = false;
    for (const channel of fresh) this.listened.add(channel);
    for (const channel of stale) this.listened.delete(channel);
    if (fresh.length > 0) this.events.listening(fresh);
  }

  private async connect(): Promise<pg.Client> {
    const session = this.open();
    session.on('notification', ({ channel, payload }) => this.events.notified(channel, payload));
    // Not on `error`, which a session that is cut raises twice.
    session.once('end', () => {
      if (this.session === session) this.discard(new Error('The session ended'));
    });
    try {
      await session.connect();
    } catch (error) {
      await session.end().catch(() => undefined);
      throw error;
    }
    if (this.ended) await session.end().catch(() => undefined);
    return session;
  }

  private discard(error: unknown): void {
    const { session } = this;
    this.forget();
    void session?.end().catch(() => undefined);
    if (this.ended) return;
    if (!this.troubled) this.events.lost(error);
    this.troubled = true;
    void this.sync();
  }

  private forget(): void {
    this.session = undefined;
    this.listened.clear();
  }
}
