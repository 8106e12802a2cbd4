import { Column, ViewEntity } from 'typeorm';

/** An event of a Task's log, whichever way its row keeps it. It is read by this, never written. */
@ViewEntity({ name: 'task_event', expression: '', synchronize: false })
export class TaskEventView {
  static readonly readOnly = true;

  @Column('text', { nullable: true }) task_id!: string;
  /** From 1, by 1. */
  @Column('integer', { nullable: true }) sequence!: number;
  /** A StreamResponse. Selected as a text, it is as it was written: parsing rounds large numbers. */
  @Column('json', { nullable: true, select: false }) payload!: unknown;
  /** The Message that a status update answers to. */
  @Column('json', { nullable: true, select: false }) received!: unknown;
  @Column('timestamptz', { nullable: true }) recorded_at!: Date;
  /** Whether it is of an Artifact. */
  @Column('boolean', { nullable: true }) artifact!: boolean;
  /** The sequence of the last event that shares its row: rows are found by it, in the order of the log. */
  @Column('integer', { nullable: true }) row_sequence!: number;
}
