import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('api_key')
export class ApiKeyRow {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') tenant!: string;
  /** Name of the caller, which owns what it creates. A caller may have several keys. */
  @Column('text') name!: string;
  @Column('text') digest!: string;
  @Column('text', { array: true }) scopes!: string[];
  @Column('timestamptz') created_at!: Date;
  /** Owner of the creating key; null if the environment defined the key. */
  @Column('text', { nullable: true }) created_by!: string | null;
  /** Time at which the key expires. Rows stay, so that a revoked key never comes back. */
  @Column('timestamptz', { nullable: true }) ends_at!: Date | null;
}
