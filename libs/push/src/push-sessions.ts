import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import type { Pool } from 'pg';

/** Sessions of this process for the queues of webhooks. */
const SESSIONS = 3;

/** Sessions of the database for the queues of webhooks: however many lanes are at work, no Message waits behind them. */
@Injectable()
export class PushSessions {
  readonly pool: Pool;

  constructor(private readonly database: Database) {
    this.pool = database.readPool('push', SESSIONS, {});
  }

  /** A time of this process's clock as the database's will show it. */
  timeThere(at: Date): Date {
    return this.database.timeThere(at);
  }
}
