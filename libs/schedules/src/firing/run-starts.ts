import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { isFinalStartFailure, Processes, type ProcessKind, startFailureText } from '#libs/durable';
import { ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import type { JobContext } from '#libs/jobs';
import { Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { ENDED_TASK, TaskStore } from '#libs/tasks';
import type { Overlap } from './firing-plan.js';
import { START, startJob } from './schedule-clock.js';

const RUN: ProcessKind = { noun: 'run', includes: ({ agent }) => agent.startsWith('workflows/') };
/**
 * Milliseconds that a job waits for the ends of the runs that it cancels. Then it frees its slot, which other work
 * may need, and looks again after the same time.
 */
const CANCEL_MS = 2_000;
/** Maximum number of runs that one job cancels at the same time; the next attempt cancels the next ones. */
const MOST_CANCELED = 20;

/** Firing with the part of its schedule that its run needs. */
interface StartRow {
  schedule_id: string;
  name: string;
  state: string;
  cause: string;
  run_id: string | null;
  tenant: string;
  owner: string;
  workflow: string;
  inputs: JsonObject;
  overlap: Overlap;
}

/** Run of an earlier firing that has not ended, with its tenant and owner. */
interface EarlierRun {
  run_id: string;
  tenant: string;
  owner: string;
}

/**
 * Starts the runs of firings. The id of a run is stored before the run is started, so that a start that is repeated
 * after a crash finds the run.
 */
@Injectable()
export class RunStarts {
  private readonly logger = new Logger(RunStarts.name);

  constructor(
    private readonly jobs: Jobs,
    private readonly database: Database,
    private readonly processes: Processes,
    private readonly tasks: TaskStore,
    private readonly address: ServiceAddress,
  ) {
    jobs.registerHandler(START, {
      read: (payload) => payload as { firingId: string },
      run: async ({ firingId }, context) => void (await this.startFiring(firingId, context)),
    });
  }

  /**
   * Starts the run of a firing, unless the firing has been handled already.
   * - If the start can never succeed, for example because the workflow does not exist, notes the reason in the firing.
   * - Rejects if a later attempt may succeed.
   * @returns the reason why the run can never start; `undefined` otherwise
   */
  async startFiring(firingId: string, { last }: Pick<JobContext, 'last'>): Promise<string | undefined> {
    const [firing] = (await this.database.pool.query<StartRow>(READ, [firingId])).rows;
    if (!firing || firing.state !== 'starting' || firing.run_id === null) return undefined;
    const runId = firing.run_id;
    try {
      if (firing.overlap === 'cancel' && firing.cause === 'time' && !(await this.makeWay(firing, firingId)))
        return undefined;
      await this.startRun(firing, firingId, runId);
    } catch (error) {
      // An attempt whose outcome this process never saw may have started the run.
      if (!(await this.tasks.readHeader(runId))) return this.handleFailure(error, firing, firingId, last);
    }
    await this.database.pool.query(STARTED, [firingId]);
    return undefined;
  }

  /**
   * Cancels the earlier runs of a schedule, for a firing that replaces them.
   * @returns true if they have ended. False if the firing must not start now: a later time has replaced it, or it is
   *   tried again soon.
   */
  private async makeWay(firing: StartRow, firingId: string): Promise<boolean> {
    const { rowCount: replaced } = await this.database.pool.query(REPLACED, [firing.schedule_id, firingId]);
    if (replaced !== 0) return false;
    const earlier = await this.findEarlier(firing, firingId);
    if (earlier.length === 0 && !(await this.isEarlierStarting(firing, firingId))) return true;
    const canceled = Promise.all(earlier.map((run) => this.cancelRun(run)));
    await Promise.race([canceled, delay(CANCEL_MS, undefined, { ref: false })]);
    const left = await this.findEarlier(firing, firingId);
    if (left.length === 0 && !(await this.isEarlierStarting(firing, firingId))) return true;
    await this.jobs.enqueueJobs([startJob(firingId, firing, new Date(Date.now() + CANCEL_MS))]);
    return false;
  }

  private async findEarlier({ schedule_id }: StartRow, firingId: string): Promise<EarlierRun[]> {
    return (await this.database.pool.query<EarlierRun>(EARLIER, [schedule_id, firingId])).rows;
  }

  private async isEarlierStarting({ schedule_id }: StartRow, firingId: string): Promise<boolean> {
    return (await this.database.pool.query(STARTING, [schedule_id, firingId])).rowCount !== 0;
  }

  private async cancelRun({ run_id: runId, ...scope }: EarlierRun): Promise<void> {
    try {
      const process = await this.processes.loadBegun(RUN, runId, scope);
      await this.processes.cancelProcess(process, { scope, baseUrl: this.address.internalUrl });
    } catch (error) {
      this.logger.warn({ err: error, runId }, 'A run of a schedule could not be canceled for a later one');
    }
  }

  private async startRun(
    { tenant, owner, workflow, inputs }: StartRow,
    firingId: string,
    taskId: string,
  ): Promise<void> {
    const request = { agent: `workflows/${workflow}`, data: inputs, namesInputs: true, taskId } as const;
    const call = { scope: { tenant, owner }, baseUrl: this.address.internalUrl };
    await this.processes.startProcess(request, call, `schedule-firing-${firingId}`);
  }

  private async handleFailure(error: unknown, firing: StartRow, firingId: string, last: boolean): Promise<string> {
    if (!last && !isFinalStartFailure(error)) throw error;
    const reason = startFailureText(error, firing.workflow);
    const { rowCount } = await this.database.pool.query(FAILED, [firingId, reason]);
    if (rowCount === 0) return reason;
    const facts = { schedule: firing.name, workflow: firing.workflow, reason };
    if (isFinalStartFailure(error)) this.logger.warn(facts, 'A run of a schedule did not start');
    else this.logger.error({ ...facts, err: error }, 'A run of a schedule did not start');
    return reason;
  }
}

const READ = `
  SELECT firing.schedule_id, schedule.name, firing.state, firing.cause, firing.run_id, schedule.tenant, schedule.owner,
    schedule.workflow, schedule.inputs, schedule.rules->>'overlap' AS overlap
  FROM schedule_firing AS firing JOIN schedule USING (schedule_id) WHERE firing.firing_id = $1`;

// The scope is that of the run: its schedule may have another owner by now.
const EARLIER = `
  SELECT firing.run_id, task.tenant, task.owner
  FROM schedule_firing AS firing JOIN task ON task.task_id = firing.run_id
  WHERE firing.schedule_id = $1 AND firing.is_open AND firing.firing_id < $2 AND NOT ${ENDED_TASK}
  ORDER BY firing.firing_id LIMIT ${MOST_CANCELED}`;

// An earlier firing may be starting its run at this moment, although the run has no Task yet.
const STARTING = `
  SELECT FROM schedule_firing
  WHERE schedule_id = $1 AND is_open AND firing_id < $2 AND state = 'starting' AND cause = 'time' LIMIT 1`;

const REPLACED = `
  UPDATE schedule_firing SET state = 'skipped', is_open = false, run_id = NULL,
    reason = 'A later time came before the run could start.'
  WHERE firing_id = $2 AND state = 'starting'
    AND NOT EXISTS (SELECT FROM task WHERE task.task_id = schedule_firing.run_id)
    AND EXISTS (SELECT FROM schedule_firing AS later
                WHERE later.schedule_id = $1 AND later.is_open AND later.firing_id > $2 AND later.cause = 'time')`;

const STARTED = `UPDATE schedule_firing SET state = 'started' WHERE firing_id = $1 AND state = 'starting'`;

const FAILED = `
  UPDATE schedule_firing SET state = 'failed', is_open = false, outcome = 'failed', run_id = NULL, reason = $2
  WHERE firing_id = $1 AND state = 'starting'`;
