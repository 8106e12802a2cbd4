import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { AppConfig } from '#libs/service';
import type { Database } from '../database/database.js';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/**
 * Version of the format of sealed secrets. Every sealed secret begins with this version; any other text is never
 * opened.
 */
const FORM = '1';

/**
 * Reports a sealed secret that cannot be opened: the key is unknown, or the sealed text was altered or belongs to
 * another place.
 */
export class UnreadableSecret extends Error {
  override readonly name = 'UnreadableSecret';
}

/**
 * Encrypts (seals) and decrypts (opens) secrets for the database: AES-256-GCM, a random nonce for each secret.
 * - A sealed secret names its key, so that keys can be replaced.
 * - A sealed secret can be opened only for the place for which it was sealed: moved to another row it is unreadable.
 */
export class SecretBox {
  private readonly keys = new Map<string, Buffer>();
  private readonly keyId: string;

  /** @param keys keys of 32 bytes: the first key seals, all keys open */
  constructor(keys: readonly Buffer[]) {
    for (const key of keys.toReversed()) {
      if (key.length !== KEY_BYTES) throw new RangeError(`A key of secrets has ${KEY_BYTES} bytes`);
      this.keys.set(idOf(key), key);
    }
    const [first] = keys;
    if (first === undefined) throw new RangeError('Secrets need a key');
    this.keyId = idOf(first);
  }

  /** Encrypts a secret. @param place what the secret belongs to, such as its table and the key of its row */
  seal(secret: string, place: readonly string[]): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.keys.get(this.keyId)!, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(placeBytes(place));
    const content = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${FORM}.${this.keyId}.${content.toString('base64url')}`;
  }

  /**
   * Decrypts a sealed secret.
   * @param place the place for which it was sealed
   * @throws UnreadableSecret
   */
  open(sealed: string, place: readonly string[]): string {
    const [form, keyId = '', text = ''] = sealed.split('.');
    const key = form === FORM ? this.keys.get(keyId) : undefined;
    if (key === undefined) throw new UnreadableSecret('It was sealed with a key that this service does not have');
    const content = Buffer.from(text, 'base64url');
    if (content.length < NONCE_BYTES + TAG_BYTES) throw new UnreadableSecret('It is cut off');
    const decipher = createDecipheriv(ALGORITHM, key, content.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(placeBytes(place));
    decipher.setAuthTag(content.subarray(-TAG_BYTES));
    try {
      const secret = decipher.update(content.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([secret, decipher.final()]).toString();
    } catch (error) {
      throw new UnreadableSecret('It was changed, or belongs to another place', { cause: error });
    }
  }

  /** Prefixes of the texts that a known key sealed. A text with another prefix cannot be opened. */
  get knownMarks(): string[] {
    return [...this.keys.keys()].map((id) => `${FORM}.${id}.`);
  }

  /**
   * Prefix of every text that the first key sealed. Stored texts with another prefix were sealed by an older key, and
   * are found by that to be sealed again.
   */
  get mark(): string {
    return `${FORM}.${this.keyId}.`;
  }
}

/** Returns an id that distinguishes keys and reveals nothing about them. */
function idOf(key: Buffer): string {
  return createHmac('sha256', key).update('parley-secret-key-id').digest('hex').slice(0, 16);
}

/** Encodes the place of a secret (see `SecretBox.seal`) as bytes, so that different places have different bytes. */
function placeBytes(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place));
}

const BYTES = 32;
/** Name, in the table `service_secret`, of the encryption key that the service created itself. */
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
 * Creates the secret box of this service: the keys of `CREDENTIALS_KEY`, then the key stored in the database. The
 * stored key seals if the operator configured no key, and always opens what it sealed before.
 */
export async function openSecretBox(config: AppConfig, database: Database): Promise<SecretBox> {
  return new SecretBox([...config.credentialsKeys, await serviceSecret(database, OWN_KEY)]);
}
