import type { TaskState } from '#libs/protocol';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Row of a Task. Read-only: the journal writes the rows. */
@Entity('task')
export class TaskRow {
  static readonly readOnly = true;

  @PrimaryColumn('text') task_id!: string;
  @Column('text') context_id!: string;
  @Column('text') tenant!: string;
  @Column('text') owner!: string;
  /** Path of its agent; `''` is the service. */
  @Column('text') agent!: string;
  @Column('text') state!: TaskState;
  /** Number of events in its log. */
  @Column('integer') last_sequence!: number;
  @Column('text', { nullable: true }) parent_task_id!: string | null;
  @Column('text', { nullable: true }) parent_reference!: string | null;
  /** Replica that executes it. */
  @Column('text', { nullable: true }) replica_id!: string | null;
  @Column('text', { nullable: true }) claim_token!: string | null;
  @Column('timestamptz', { nullable: true }) cancel_requested_at!: Date | null;
  @Column('timestamptz', { nullable: true }) wake_at!: Date | null;
  /** Bytes of its log, and those of Artifacts among them; null if they have not been measured. */
  @Column('integer', { nullable: true }) log_bytes!: number | null;
  @Column('integer', { nullable: true }) artifact_bytes!: number | null;
  /** True if a webhook receives its events. */
  @Column('boolean') pushes!: boolean;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}
