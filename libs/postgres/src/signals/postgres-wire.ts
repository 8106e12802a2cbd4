import type pg from 'pg';
import type { Database } from '../database/database.js';
import { SESSION_SETTINGS } from '../database/session-settings.js';
import type { SignalWire, WireEvents, WireSession } from './signal-wire.js';

/**
 * Carries signals over LISTEN and NOTIFY.
 *
 * NOTIFY takes a database-wide lock until its transaction has committed. It is therefore never part of the transaction
 * that it announces, where it would serialize all commits; it follows on a separate session. A NOTIFY wakes every
 * listening session, and is sent to the sessions of its channel.
 */
export class PostgresWire implements SignalWire {
  readonly name = 'PostgreSQL';
  private readonly pool: pg.Pool;

  constructor(private readonly database: Database) {
    // Signals need no durability: a commit lost in a crash announced nothing that is not found otherwise.
    this.pool = database.tunedPool('notify', 1, { synchronous_commit: 'off' });
  }

  /** Opens a direct connection, or one pooled by session: behind a transaction pooler LISTEN receives nothing. */
  async openSession({ notified, ended }: WireEvents): Promise<WireSession> {
    const client = this.database.createSession('signals');
    client.on('notification', ({ channel, payload }) => notified(channel, payload));
    // Not on `error`, which a cut session emits twice.
    client.once('end', () => ended(new Error('The session ended')));
    try {
      await client.connect();
      await client.query(SESSION_SETTINGS);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    return {
      changeChannels: async (fresh, stale) => {
        await client.query([...fresh.map((it) => `LISTEN ${it}`), ...stale.map((it) => `UNLISTEN ${it}`)].join('; '));
      },
      endSession: () => client.end().catch(() => undefined),
    };
  }

  sendPayloads(channels: readonly string[], payloads: readonly string[]): Promise<unknown> {
    return this.pool.query({ name: 'notify', text: NOTIFY, values: [channels, payloads] });
  }

  onRenewal(listener: () => void): void {
    this.database.onSessionsRenewed(listener);
  }
}

const NOTIFY = 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS signal (channel, payload)';
