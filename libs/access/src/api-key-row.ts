import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('api_key')
export class ApiKeyRow {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') tenant!: string;
  /** The caller: what it makes is owned under this name. It may have several keys. */
  @Column('text') name!: string;
  @Column('text') digest!: string;
  @Column('text', { array: true }) scopes!: string[];
  @Column('timestamptz') created_at!: Date;
  /** Absent where the environment brought the key. */
  @Column('text', { nullable: true }) created_by!: string | null;
  /** From then on it is not valid. Rows stay: a revoked key never comes back. */
  @Column('timestamptz', { nullable: true }) ends_at!: Date | null;
}
