import { Injectable } from '@nestjs/common';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { callerFlagSql, enqueueForCallersFrom } from '#libs/jobs';
import { Database } from '#libs/postgres';
import { ENDED_TASK, TASK_OUTCOME } from '#libs/tasks';
import { START, START_ATTEMPTS } from '../storage/delivery-writer.js';

const SWEEP = { name: 'triggers.sweep', match: '* * * * *' };
/** Maximum number of rows that one statement changes or deletes. */
const BATCH = 10_000;

/**
 * Keeps the deliveries of triggers in order, once a minute in the cluster:
 * - Notes the ends of runs, before their Tasks may be purged.
 * - Enqueues again the starts whose jobs were lost, for example because all attempts ended with a dead replica.
 * - Deletes deliveries that are neither open nor among the newest of their trigger, four days after they came: until
 *   then a repetition is recognized.
 */
@Injectable()
export class DeliveryUpkeep {
  constructor(
    jobs: Jobs,
    private readonly database: Database,
  ) {
    scheduleUpkeep(jobs, SWEEP, (signal) => this.sweepDeliveries(signal));
  }

  private async sweepDeliveries(signal: AbortSignal): Promise<void> {
    await this.repeatInBatches(CLOSE, signal);
    await this.database.pool.query(ENQUEUE_LOST);
    await this.repeatInBatches(PURGE, signal);
  }

  private async repeatInBatches(statement: string, signal: AbortSignal): Promise<void> {
    let changed = BATCH;
    while (changed === BATCH && !signal.aborted) changed = (await this.database.pool.query(statement)).rowCount ?? 0;
  }
}

// Runs that were purged before their end was noted count as ended.
const CLOSE = `
  WITH ended AS (
    SELECT delivery.number, ${TASK_OUTCOME} AS outcome
    FROM trigger_delivery AS delivery LEFT JOIN task ON task.task_id = delivery.run_id
    WHERE delivery.is_open AND delivery.state = 'started' AND (task.task_id IS NULL OR ${ENDED_TASK}) LIMIT ${BATCH}
  )
  UPDATE trigger_delivery AS delivery SET is_open = false, outcome = ended.outcome
  FROM ended WHERE delivery.number = ended.number AND delivery.is_open`;

const ENQUEUE_LOST = enqueueForCallersFrom(`(
  SELECT '${START}', json_build_object('number', number::text), '${START}/' || number, NULL::timestamptz,
    ${START_ATTEMPTS}, NULL::int, ${callerFlagSql('tenant', 'owner')}
  FROM trigger_delivery AS delivery
  WHERE is_open AND state = 'starting' AND received_at < now() - interval '2 minutes'
    AND NOT EXISTS (SELECT FROM graphile_worker.jobs AS job
      WHERE job.key = '${START}/' || delivery.number AND job.attempts < job.max_attempts)
  LIMIT 1000)`);

const PURGE = `
  DELETE FROM trigger_delivery WHERE number IN (
    SELECT number FROM trigger_delivery
    WHERE NOT is_open AND NOT is_recent AND received_at < now() - interval '4 days'
    ORDER BY received_at LIMIT ${BATCH})`;
