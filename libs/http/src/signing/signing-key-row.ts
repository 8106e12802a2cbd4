import type { JWK } from 'jose';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('signing_key')
export class SigningKeyRow {
  @PrimaryColumn('text') kid!: string;
  @Column('text') purpose!: string;
  @Column('json') public_key!: JWK;
  /** Unsealed private key of older versions. */
  @Column('json', { nullable: true }) private_key!: JWK | null;
  @Column('text', { nullable: true }) sealed_private_key!: string | null;
  /** True for the key that signs; at most one for each purpose. */
  @Column('boolean') signs!: boolean;
  @Column('timestamptz') created_at!: Date;
}
