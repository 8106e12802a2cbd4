import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';
import { createMarkMigration } from '#libs/configuration';
import type { CredentialId, CredentialSettings } from './credential.js';

@Entity('credential')
export class CredentialRow implements CredentialId {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  @Column('json') settings!: CredentialSettings;
  /** Encrypted (sealed) secret; read only if a query selects it explicitly. */
  @Column('text', { select: false }) secret!: string;
  @Column('uuid') version!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
  @Column('text', { nullable: true }) last_error!: string | null;
  @Column('timestamptz', { nullable: true }) last_error_at!: Date | null;
  /**
   * Mark that identifies the folder of files from which `apply` last wrote the credential; null if the credential was
   * never written from files.
   */
  @Column('text', { nullable: true }) mark!: string | null;
}

/** Creates the table of credentials for calls to agents, by tenant and name. */
class CreateCredential1700000000800 implements MigrationInterface {
  readonly name = 'CreateCredential1700000000800';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE credential (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        -- What is no secret: the kind, and what belongs to it.
        settings json NOT NULL,
        -- Encrypted; it begins with the id of its key.
        secret text NOT NULL,
        -- Another one after each change: tokens that were made of it before are used no more.
        version uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        last_used_at timestamptz,
        last_error text,
        last_error_at timestamptz,
        PRIMARY KEY (tenant, name)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE credential');
  }
}

export const CREDENTIAL_MIGRATIONS = [
  CreateCredential1700000000800,
  createMarkMigration('credential', 'MarkCredential1700000001402'),
];
