import { randomBytes } from 'node:crypto';
import type { Database } from './database.js';

const BYTES = 32;

/** A secret of this service, the same for all replicas on one database; whoever asks first makes it. */
export async function serviceSecret(database: Database, name: string): Promise<Buffer> {
  await database.pool.query('INSERT INTO service_secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
    name,
    randomBytes(BYTES),
  ]);
  const { rows } = await database.pool.query<{ value: Buffer }>('SELECT value FROM service_secret WHERE name = $1', [
    name,
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error(`The secret ${name} is missing`);
  return row.value;
}
