import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ModelProvider } from './model-settings.js';

@Entity('model')
export class ModelRow {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  @Column('text') provider!: ModelProvider;
  /** Model's name at the provider. */
  @Column('text') model!: string;
  @Column('text', { nullable: true }) base_url!: string | null;
  /** Name of a stored credential. */
  @Column('text', { nullable: true }) auth!: string | null;
  @Column('json') input!: string[];
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}
