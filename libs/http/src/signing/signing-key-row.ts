import type { JWK } from 'jose';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('signing_key')
export class SigningKeyRow {
  @PrimaryColumn('text') kid!: string;
  @Column('text') purpose!: string;
  @Column('json') public_key!: JWK;
  /** In the open, as it was kept at first. */
  @Column('json', { nullable: true }) private_key!: JWK | null;
  @Column('text', { nullable: true }) sealed_private_key!: string | null;
  /** At most one for a purpose does. */
  @Column('boolean') signs!: boolean;
  @Column('timestamptz') created_at!: Date;
}
