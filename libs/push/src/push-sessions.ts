import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import type { Pool } from 'pg';

/** Number of sessions of this process for the queues of webhooks. */
const SESSIONS = 3;

/** Database sessions for the queues of webhooks: no Message waits behind them, however many lanes work. */
@Injectable()
export class PushSessions {
  readonly pool: Pool;

  constructor(private readonly database: Database) {
    this.pool = database.readPool('push', SESSIONS, {});
  }

  /** Converts a time of this process's clock to the database's clock. */
  timeThere(at: Date): Date {
    return this.database.timeThere(at);
  }
}
