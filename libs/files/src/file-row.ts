import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('file')
export class FileRow {
  @PrimaryColumn('text') id!: string;
  @Column('text') tenant!: string;
  @Column('text') owner!: string;
  @Column('text') name!: string;
  @Column('text') media_type!: string;
  @Column('text') sha256!: string;
  /** Integer, which PostgreSQL's driver returns as text. */
  @Column('bigint') size!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
  @Column('timestamptz', { nullable: true }) held_until!: Date | null;
}
