import { randomBytes } from 'node:crypto';
import type { AppConfig } from '#libs/service';
import type { Database } from '../database/database.js';
import { SecretBox } from './secret-box.js';

const BYTES = 32;
/** Name of the service's own key among its secrets. */
const OWN_KEY = 'secrets';

/** Returns a secret that all replicas on one database share; the first caller creates it. */
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

/**
 * Opens the secret box of this service: the keys of `CREDENTIALS_KEY`, then the key stored in the database. The stored
 * key seals if the operator configured none, and keeps opening what it sealed before.
 */
export async function openSecretBox(config: AppConfig, database: Database): Promise<SecretBox> {
  return new SecretBox([...config.credentialsKeys, await serviceSecret(database, OWN_KEY)]);
}
