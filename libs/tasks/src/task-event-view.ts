import { Column, ViewEntity } from 'typeorm';

/** Event of a Task's log, in either row layout. Read-only. */
@ViewEntity({ name: 'task_event', expression: '', synchronize: false })
export class TaskEventView {
  static readonly readOnly = true;

  @Column('text', { nullable: true }) task_id!: string;
  /** Sequence in the Task's log, from 1 without gaps. */
  @Column('integer', { nullable: true }) sequence!: number;
  /** StreamResponse. Select it as text to get it as written: parsing rounds large numbers. */
  @Column('json', { nullable: true, select: false }) payload!: unknown;
  /** Message that a status update received. */
  @Column('json', { nullable: true, select: false }) received!: unknown;
  @Column('timestamptz', { nullable: true }) recorded_at!: Date;
  /** True for an event of an Artifact. */
  @Column('boolean', { nullable: true }) artifact!: boolean;
  /** Sequence of the last event in the same row. It finds rows by index, in the order of the log. */
  @Column('integer', { nullable: true }) row_sequence!: number;
}
