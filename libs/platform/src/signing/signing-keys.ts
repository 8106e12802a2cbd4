import { Injectable } from '@nestjs/common';
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { Database } from '../database/database.js';

/** Push notifications were the first to be signed with it. */
const PURPOSE = 'push';
const ALGORITHM = 'ES256';

/** Where a service publishes the keys that it signs with, below its base URL. */
export const JWKS_PATH = '/.well-known/jwks.json';

/** A key to sign with. */
export interface SigningKey {
  kid: string;
  key: CryptoKey | Uint8Array;
}

/**
 * The key pair (ES256) of all replicas on one database: made by the first one that needs it and kept there. Its private
 * half leaves the database for the memory of replicas alone.
 */
@Injectable()
export class SigningKeys {
  private current: Promise<SigningKey> | undefined;

  constructor(private readonly database: Database) {}

  signing(): Promise<SigningKey> {
    this.current ??= this.load().catch((error: unknown) => {
      this.current = undefined;
      throw error;
    });
    return this.current;
  }

  /** Every public key that a signature may name, the newest first, as a JWK Set (RFC 7517). */
  async publicSet(): Promise<{ keys: JWK[] }> {
    await this.signing();
    const { rows } = await this.database.pool.query<{ public_key: JWK }>(PUBLIC, [PURPOSE]);
    return { keys: rows.map(({ public_key }) => public_key) };
  }

  private async load(): Promise<SigningKey> {
    const kept = (await this.kept()) ?? (await this.made());
    return { kid: kept.kid, key: await importJWK(kept.private_key, ALGORITHM) };
  }

  /** Of several replicas that make one at once, the first wins. */
  private async made(): Promise<KeyRow> {
    const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    const shown = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(shown);
    const named = { ...shown, kid, alg: ALGORITHM, use: 'sig' };
    await this.database.pool.query(KEEP, [kid, PURPOSE, named, await exportJWK(privateKey)]);
    const kept = await this.kept();
    if (!kept) throw new Error('A signing key vanished while it was made');
    return kept;
  }

  private async kept(): Promise<KeyRow | undefined> {
    const { rows } = await this.database.pool.query<KeyRow>(SIGNING, [PURPOSE]);
    return rows[0];
  }
}

interface KeyRow {
  kid: string;
  private_key: JWK;
}

const SIGNING = 'SELECT kid, private_key FROM signing_key WHERE purpose = $1 AND signs';
const PUBLIC = 'SELECT public_key FROM signing_key WHERE purpose = $1 ORDER BY created_at DESC';
const KEEP = `
  INSERT INTO signing_key (kid, purpose, public_key, private_key, signs) VALUES ($1, $2, $3, $4, true)
  ON CONFLICT DO NOTHING`;
