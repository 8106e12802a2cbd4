import { Controller, Get, Header, Injectable, Logger } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import {
  Column,
  Entity,
  IsNull,
  type MigrationInterface,
  PrimaryColumn,
  type QueryRunner,
  type Repository,
} from 'typeorm';
import { SecretBox, UnreadableSecret } from '#libs/postgres';

@Entity('signing_key')
export class SigningKeyRow {
  @PrimaryColumn('text') kid!: string;
  @Column('text') purpose!: string;
  @Column('json') public_key!: JWK;
  /** Unencrypted private key, as older versions of Parley stored it. */
  @Column('json', { nullable: true }) private_key!: JWK | null;
  @Column('text', { nullable: true }) sealed_private_key!: string | null;
  /**
   * True for the key that creates signatures; at most one for each purpose. Other keys only verify earlier
   * signatures.
   */
  @Column('boolean') signs!: boolean;
  @Column('timestamptz') created_at!: Date;
}

/** Purpose of the key pair. It is named after push notifications, its first use, but now signs everything. */
const PURPOSE = 'push';
const ALGORITHM = 'ES256';

/** Path where a service publishes its signing keys, below its base URL. */
export const JWKS_PATH = '/.well-known/jwks.json';

/**
 * Kinds of signatures, as the `typ` of the protected header (RFC 8725, section 3.11). One key pair signs everything, so
 * verifiers must check the type: a signature of one kind must not pass as another kind.
 */
export const SIGNATURE_TYPES = {
  /** `typ` of an agent card's signature (A2A 1.0, section 8.4.2). */
  card: 'JOSE',
  /** `typ` of the signature of a catalog (AI Catalog 0.9). */
  catalog: 'ai-catalog+jws',
  notification: 'parley-notification+jws',
} as const;

/** Private key that creates signatures, and its id. */
export interface SigningKey {
  kid: string;
  key: CryptoKey | Uint8Array;
}

/**
 * Key pair (ES256) that all replicas on one database share for signatures of cards and push notifications.
 *
 * - The first replica that needs the key pair creates and stores it. The private key is stored encrypted (sealed).
 * - A key pair whose private key can no longer be decrypted is replaced; its existing signatures can still be
 *   verified.
 */
@Injectable()
export class SigningKeys {
  private readonly logger = new Logger(SigningKeys.name);
  private current: Promise<SigningKey> | undefined;

  constructor(
    @InjectRepository(SigningKeyRow) private readonly rows: Repository<SigningKeyRow>,
    private readonly box: SecretBox,
  ) {}

  getSigningKey(): Promise<SigningKey> {
    this.current ??= this.loadKey().catch((error: unknown) => {
      this.current = undefined;
      throw error;
    });
    return this.current;
  }

  /**
   * Encrypts the private key with the current encryption key, if it is unencrypted or was encrypted with an older
   * one.
   */
  async sealAnew(): Promise<void> {
    const row = await this.findKeptKey();
    if (row) await this.openKey(row);
  }

  /** Returns every public key that a signature may name, newest first, as a JWK Set (RFC 7517). */
  async publicSet(): Promise<{ keys: JWK[] }> {
    await this.getSigningKey();
    const select = { kid: true, public_key: true };
    const rows = await this.rows.find({ select, where: { purpose: PURPOSE }, order: { created_at: 'DESC' } });
    return { keys: rows.map(({ public_key }) => public_key) };
  }

  private async loadKey(): Promise<SigningKey> {
    const row = await this.findKeptKey();
    const kept = (row && (await this.openKey(row))) ?? (await this.createKey());
    return { kid: kept.kid, key: await importJWK(kept.privateKey, ALGORITHM) };
  }

  /**
   * Decrypts a stored private key. If it was stored unencrypted or with an older encryption key, stores it again,
   * encrypted with the current key. If it cannot be decrypted, returns `undefined`, and marks the key pair so that it
   * creates no more signatures.
   */
  private async openKey({ kid, private_key, sealed_private_key: sealed }: SigningKeyRow): Promise<KeyPair | undefined> {
    try {
      const text = sealed === null ? JSON.stringify(private_key) : this.box.open(sealed, keyPlace(kid));
      if (!sealed?.startsWith(this.box.mark)) {
        const anew = { sealed_private_key: this.box.seal(text, keyPlace(kid)), private_key: null };
        await this.rows.update({ kid, sealed_private_key: sealed ?? IsNull() }, anew);
      }
      return { kid, privateKey: JSON.parse(text) as JWK };
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      this.logger.error({ kid }, 'The signing key cannot be decrypted; a new one replaces it');
      await this.rows.update({ kid }, { signs: false });
      return undefined;
    }
  }

  /** Creates and stores a key pair. If several replicas do so at once, the first stored key pair is used by all. */
  private async createKey(): Promise<KeyPair> {
    const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
    const shown = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(shown);
    const public_key = { ...shown, kid, alg: ALGORITHM, use: 'sig' };
    const sealed_private_key = this.box.seal(JSON.stringify(await exportJWK(privateKey)), keyPlace(kid));
    const values = { kid, purpose: PURPOSE, public_key, sealed_private_key, signs: true };
    await this.rows.createQueryBuilder().insert().values(values).orIgnore().execute();
    const row = await this.findKeptKey();
    const kept = row && (await this.openKey(row));
    if (!kept) throw new Error('A signing key vanished while it was made');
    return kept;
  }

  private findKeptKey(): Promise<SigningKeyRow | null> {
    return this.rows.findOneBy({ purpose: PURPOSE, signs: true });
  }
}

interface KeyPair {
  kid: string;
  privateKey: JWK;
}

function keyPlace(kid: string): string[] {
  return ['signing_key', kid];
}

class KeySetView {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    example: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'k1', use: 'sig' }],
  })
  keys!: JWK[];
}

/** Publishes the keys that verify this service's signatures. */
@ApiTags('signatures')
@Controller(JWKS_PATH)
export class JwksController {
  constructor(private readonly signing: SigningKeys) {}

  @Get()
  @Header('cache-control', 'public, max-age=300')
  @ApiOperation({ summary: 'Returns the public keys that verify agent cards and push notifications (RFC 7517).' })
  @ApiOkResponse({ type: KeySetView })
  listSigningKeys(): Promise<KeySetView> {
    return this.signing.publicSet();
  }
}

/** Creates the table of signing keys, which all replicas share; at most one key for each purpose signs. */
class CreateSigningKey1700000000720 implements MigrationInterface {
  readonly name = 'CreateSigningKey1700000000720';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE signing_key (
        kid text COLLATE "C" PRIMARY KEY,
        purpose text COLLATE "C" NOT NULL,
        public_key json NOT NULL,
        private_key json NOT NULL,
        signs boolean NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE UNIQUE INDEX signing_key_signs ON signing_key (purpose) WHERE signs');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE signing_key');
  }
}

/**
 * Adds the column of the sealed (encrypted) private key. An older, unencrypted key can still be read, and is sealed at
 * its first use.
 */
class SealSigningKey1700000000811 implements MigrationInterface {
  readonly name = 'SealSigningKey1700000000811';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE signing_key ADD COLUMN sealed_private_key text');
    await runner.query('ALTER TABLE signing_key ALTER COLUMN private_key DROP NOT NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM signing_key WHERE private_key IS NULL');
    await runner.query('ALTER TABLE signing_key ALTER COLUMN private_key SET NOT NULL');
    await runner.query('ALTER TABLE signing_key DROP COLUMN sealed_private_key');
  }
}

/** Migrations of the table of SigningKeys, in order. */
export const SIGNING_MIGRATIONS = [CreateSigningKey1700000000720, SealSigningKey1700000000811];
