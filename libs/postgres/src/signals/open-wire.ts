import { createHash } from 'node:crypto';
import type { AppConfig } from '#libs/service';
import type { Database } from '../database/database.js';
import { serviceSecret } from '../secrets/service-secret.js';
import { NatsWire } from './nats-wire.js';
import { PostgresWire } from './postgres-wire.js';
import type { SignalWire } from './signal-wire.js';

/** Name of the service secret that distinguishes the signals of one database from those of others. */
const SCOPE = 'signals';

/** Opens the transport of this service's signals: `SIGNALS_URL`, else the database. */
export async function openWire({ signalsUrl }: AppConfig, database: Database): Promise<SignalWire> {
  if (signalsUrl === undefined) return new PostgresWire(database);
  const secret = await serviceSecret(database, SCOPE);
  return new NatsWire(signalsUrl, createHash('sha256').update(secret).digest('hex').slice(0, 24));
}
