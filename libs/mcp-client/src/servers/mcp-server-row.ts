import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('mcp_server')
export class McpServerRow {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  @Column('text') url!: string;
  /** Name of a credential. */
  @Column('text', { nullable: true }) auth!: string | null;
  @Column('text', { array: true, nullable: true }) allow!: string[] | null;
  @Column('text', { array: true, nullable: true }) approve!: string[] | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}
