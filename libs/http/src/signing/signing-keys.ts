import { Injectable, Logger } from '@nestjs/common';
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { Database, SecretBox, UnreadableSecret } from '#libs/postgres';

/** Push notifications were the first to be signed with it. */
const PURPOSE = 'push';
const ALGORITHM = 'ES256';

/** Where a service publishes the keys that it signs with, below its base URL. */
export const JWKS_PATH = '/.well-known/jwks.json';

/**
 * What a signature is for, as the `typ` of its protected header says (RFC 8725, section 3.11). One key pair signs
 * everything, so whoever verifies has to ask for the type: a signature of one kind is never one of the other.
 */
export const SIGNATURE_TYPES = {
  /** A2A 1.0, section 8.4.2. */
  card: 'JOSE',
  notification: 'parley-notification+jws',
} as const;

/** A key to sign with. */
export interface SigningKey {
  kid: string;
  key: CryptoKey | Uint8Array;
}

/**
 * The key pair (ES256) of all replicas on one database: made by the first one that needs it and kept there, its private half
 * sealed. Where that cannot be opened any more a new pair takes its place; what the old one signed can still be verified.
 */
@Injectable()
export class SigningKeys {
  private readonly logger = new Logger(SigningKeys.name);
  private current: Promise<SigningKey> | undefined;

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  signing(): Promise<SigningKey> {
    this.current ??= this.load().catch((error: unknown) => {
      this.current = undefined;
      throw error;
    });
    return this.current;
  }

  /** Seals the key pair anew where an older key sealed it, or nobody did. */
  async sealAnew(): Promise<void> {
    const row = await this.kept();
    if (row) await this.opened(row);
  }

  /** Every public key that a signature may name, the newest first, as a JWK Set (RFC 7517). */
  async publicSet(): Promise<{ keys: JWK[] }> {
    await this.signing();
    const { rows } = await this.database.pool.query<{ public_key: JWK }>(PUBLIC, [PURPOSE]);
    return { keys: rows.map(({ public_key }) => public_key) };
  }

  private async load(): Promise<SigningKey> {
    const row = await this.kept();
    const kept = (row && (await this.opened(row))) ?? (await this.made());
    return { kid: kept.kid, key: await importJWK(kept.privateKey, ALGORITHM) };
  }

  /** Seals what is in the open, or under an older key. `undefined` where it cannot be opened: it signs no more. */
  private async opened({ kid, private_key: plain, sealed_private_key: sealed }: KeyRow): Promise<KeyPair | undefined> {
    try {
      const text = sealed === null ? JSON.stringify(plain) : this.box.open(sealed, placeOf(kid));
      if (!sealed?.startsWith(this.box.mark)) {
        await this.database.pool.query(SEAL, [kid, this.box.seal(text, placeOf(kid)), sealed]);
      }
      return { kid, privateKey: JSON.parse(text) as JWK };
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      this.logger.error({ kid }, 'The key that this service signs with cannot be decrypted; a new one takes its place');
      await this.database.pool.query(RETIRE, [kid]);
      return undefined;
    }
  }

  /** Of several replicas that make one at once, the first wins. */
  private async made(): Promise<KeyPair> {
    const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    const shown = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(shown);
    const named = { ...shown, kid, alg: ALGORITHM, use: 'sig' };
    const sealed = this.box.seal(JSON.stringify(await exportJWK(privateKey)), placeOf(kid));
    await this.database.pool.query(KEEP, [kid, PURPOSE, named, sealed]);
    const row = await this.kept();
    const kept = row && (await this.opened(row));
    if (!kept) throw new Error('A signing key vanished while it was made');
    return kept;
  }

  private async kept(): Promise<KeyRow | undefined> {
    const { rows } = await this.database.pool.query<KeyRow>(SIGNING, [PURPOSE]);
    return rows[0];
  }
}

interface KeyPair {
  kid: string;
  privateKey: JWK;
}

interface KeyRow {
  kid: string;
  private_key: JWK | null;
  sealed_private_key: string | null;
}

function placeOf(kid: string): string[] {
  return ['signing_key', kid];
}

const SIGNING = 'SELECT kid, private_key, sealed_private_key FROM signing_key WHERE purpose = $1 AND signs';
const PUBLIC = 'SELECT public_key FROM signing_key WHERE purpose = $1 ORDER BY created_at DESC';
const KEEP = `
  INSERT INTO signing_key (kid, purpose, public_key, sealed_private_key, signs) VALUES ($1, $2, $3, $4, true)
  ON CONFLICT DO NOTHING`;
const SEAL = `
  UPDATE signing_key SET sealed_private_key = $2, private_key = NULL
  WHERE kid = $1 AND sealed_private_key IS NOT DISTINCT FROM $3`;
const RETIRE = 'UPDATE signing_key SET signs = false WHERE kid = $1';
