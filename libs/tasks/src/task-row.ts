import type { TaskState } from '#libs/protocol';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A Task. It is read by this, never written: its rows are the journal's. */
@Entity('task')
export class TaskRow {
  static readonly readOnly = true;

  @PrimaryColumn('text') task_id!: string;
  @Column('text') context_id!: string;
  @Column('text') tenant!: string;
  @Column('text') owner!: string;
  /** The path of its agent; `''` is the service. */
  @Column('text') agent!: string;
  @Column('text') state!: TaskState;
  /** How many events its log has. */
  @Column('integer') last_sequence!: number;
  @Column('text', { nullable: true }) parent_task_id!: string | null;
  @Column('text', { nullable: true }) parent_reference!: string | null;
  /** The replica that executes it. */
  @Column('text', { nullable: true }) replica_id!: string | null;
  @Column('text', { nullable: true }) claim_token!: string | null;
  @Column('timestamptz', { nullable: true }) cancel_requested_at!: Date | null;
  @Column('timestamptz', { nullable: true }) wake_at!: Date | null;
  /** Bytes of its log, and of those the ones of Artifacts; absent where nobody has measured them. */
  @Column('integer', { nullable: true }) log_bytes!: number | null;
  @Column('integer', { nullable: true }) artifact_bytes!: number | null;
  /** Whether a webhook hears of it. */
  @Column('boolean') pushes!: boolean;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}
