import type { AppConfig } from '../config/app-config.js';
import type { Database } from '../database/database.js';
import { serviceSecret } from '../database/service-secret.js';
import { SecretBox } from './secret-box.js';

/** The name of the service's own key among its secrets. */
const OWN_KEY = 'secrets';

/**
 * The box of this service: `CREDENTIALS_KEY`, and after it the key that lies in the database itself. That one seals
 * where the operator gave none, and still opens what it sealed before.
 */
export async function openSecretBox(config: AppConfig, database: Database): Promise<SecretBox> {
  return new SecretBox([...config.credentialsKeys, await serviceSecret(database, OWN_KEY)]);
}
