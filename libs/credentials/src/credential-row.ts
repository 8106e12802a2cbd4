import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { CredentialId, CredentialSettings } from './credential.js';

@Entity('credential')
export class CredentialRow implements CredentialId {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  @Column('json') settings!: CredentialSettings;
  /** Sealed secret; read only on explicit selection. */
  @Column('text', { select: false }) secret!: string;
  @Column('uuid') version!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
  @Column('text', { nullable: true }) last_error!: string | null;
  @Column('timestamptz', { nullable: true }) last_error_at!: Date | null;
}
