import type pg from 'pg';
import type { Database } from '../database/database.js';
import { SESSION_SETTINGS } from '../database/session-settings.js';
import type { SignalWire, WireEvents, WireSession } from './signal-wire.js';

/**
 * Signals over LISTEN and NOTIFY.
 *
 * NOTIFY takes a lock over the whole database until its transaction has committed, so it is never part of the
 * transaction it tells of, where it would put all commits in a row: it follows on a session of its own. A NOTIFY wakes
 * every session that listens at all, and is sent to those that hear its channel.
 */
export class PostgresWire implements SignalWire {
  readonly name = 'PostgreSQL';
  private readonly pool: pg.Pool;

  constructor(private readonly database: Database) {
    // Nothing to be kept: a commit that a crash loses told of nothing that is not found otherwise.
    this.pool = database.tunedPool('notify', 1, { synchronous_commit: 'off' });
  }

  /** A direct connection, or one pooled by session: behind a pooler of transactions LISTEN hears nothing. */
  async open({ notified, ended }: WireEvents): Promise<WireSession> {
    const client = this.database.session('signals');
    client.on('notification', ({ channel, payload }) => notified(channel, payload));
    // Not on `error`, which a session that is cut raises twice.
    client.once('end', () => ended(new Error('The session ended')));
    try {
      await client.connect();
      await client.query(SESSION_SETTINGS);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    return {
      listen: async (fresh, stale) => {
        await client.query([...fresh.map((it) => `LISTEN ${it}`), ...stale.map((it) => `UNLISTEN ${it}`)].join('; '));
      },
      end: () => client.end().catch(() => undefined),
    };
  }

  send(channels: readonly string[], payloads: readonly string[]): Promise<unknown> {
    return this.pool.query({ name: 'notify', text: NOTIFY, values: [channels, payloads] });
  }

  onRenewal(listener: () => void): void {
    this.database.onSessionsRenewed(listener);
  }
}

const NOTIFY = 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS signal (channel, payload)';
