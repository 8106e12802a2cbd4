import { Injectable, Logger } from '@nestjs/common';
import { UnknownAgent } from '#libs/agents';
import { Processes, type ProcessKind } from '#libs/durable';
import { ParleyFault } from '#libs/faults';
import { ProblemError, ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import type { JobContext } from '#libs/jobs';
import { Database } from '#libs/postgres';
import { type JsonObject, textStart } from '#libs/protocol';
import { TaskStore } from '#libs/tasks';
import type { Overlap } from './firing-plan.js';
import { START } from './schedule-clock.js';

const RUN: ProcessKind = { noun: 'run', includes: ({ agent }) => agent.startsWith('workflows/') };
/** Maximum number of characters of a stored reason. */
const LONGEST_REASON = 1_000;

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

/**
 * Starts the runs of firings. The id of a run is stored before the run is started, so that a start that is repeated
 * after a crash finds the run.
 */
@Injectable()
export class RunStarts {
  private readonly logger = new Logger(RunStarts.name);

  constructor(
    jobs: Jobs,
    private readonly database: Database,
    private readonly processes: Processes,
    private readonly tasks: TaskStore,
    private readonly address: ServiceAddress,
  ) {
    jobs.registerHandler(START, {
      read: (payload) => payload as { firingId: string },
      run: ({ firingId }, context) => this.startFiring(firingId, context),
    });
  }

  /**
   * Starts the run of a firing, unless the firing has been handled already.
   * - If the start can never succeed, for example because the workflow does not exist, notes the reason in the firing.
   * - Rejects if a later attempt may succeed.
   */
  async startFiring(firingId: string, { last }: Pick<JobContext, 'last'>): Promise<void> {
    const [firing] = (await this.database.pool.query<StartRow>(READ, [firingId])).rows;
    if (!firing || firing.state !== 'starting' || firing.run_id === null) return;
    const runId = firing.run_id;
    try {
      if (firing.overlap === 'cancel' && firing.cause === 'time') await this.cancelEarlier(firing, firingId);
      await this.startRun(firing, firingId, runId);
    } catch (error) {
      // An attempt whose outcome this process never saw may have started the run.
      if (!(await this.tasks.readHeader(runId))) return this.handleFailure(error, firing, firingId, last);
    }
    await this.database.pool.query(STARTED, [firingId]);
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

  /** Cancels the runs of a schedule that have not ended. */
  private async cancelEarlier({ schedule_id, tenant, owner }: StartRow, firingId: string): Promise<void> {
    const { rows } = await this.database.pool.query<{ run_id: string }>(EARLIER, [schedule_id, firingId]);
    const call = { scope: { tenant, owner }, baseUrl: this.address.internalUrl };
    for (const { run_id: runId } of rows) {
      // The run belongs to the caller that owned the schedule when it was started.
      const header = await this.tasks.readHeader(runId);
      if (!header) continue;
      const scope = { tenant: header.tenant, owner: header.owner };
      const process = await this.processes.loadBegun(RUN, runId, scope);
      await this.processes.cancelProcess(process, { ...call, scope });
    }
  }

  private async handleFailure(error: unknown, firing: StartRow, firingId: string, last: boolean): Promise<void> {
    if (!last && !isFinal(error)) throw error;
    const reason = reasonOf(error, firing.workflow);
    const { rowCount } = await this.database.pool.query(FAILED, [firingId, reason]);
    if (rowCount === 0) return;
    const facts = { schedule: firing.name, workflow: firing.workflow, reason };
    if (isFinal(error)) this.logger.warn(facts, 'A run of a schedule did not start');
    else this.logger.error({ ...facts, err: error }, 'A run of a schedule did not start');
  }
}

/** True if no later attempt can succeed. Errors that name no kind, such as those of the database, may be temporary. */
function isFinal(error: unknown): boolean {
  return error instanceof ParleyFault && !error.retryable;
}

function reasonOf(error: unknown, workflow: string): string {
  if (error instanceof UnknownAgent) return `The workflow "${workflow}" does not exist.`;
  const entries = error instanceof ProblemError ? error.errors.map(({ path, detail }) => `${path}: ${detail}`) : [];
  const known = error instanceof ParleyFault ? error.publicMessage : undefined;
  const text = entries.length > 0 ? entries.join('; ') : (known ?? 'The service could not start the run.');
  return textStart(text, LONGEST_REASON);
}

const READ = `
  SELECT firing.schedule_id, schedule.name, firing.state, firing.cause, firing.run_id, schedule.tenant, schedule.owner,
    schedule.workflow, schedule.inputs, schedule.rules->>'overlap' AS overlap
  FROM schedule_firing AS firing JOIN schedule USING (schedule_id) WHERE firing.firing_id = $1`;

const EARLIER = `
  SELECT run_id FROM schedule_firing
  WHERE schedule_id = $1 AND is_open AND state = 'started' AND firing_id < $2 ORDER BY firing_id`;

const STARTED = `UPDATE schedule_firing SET state = 'started' WHERE firing_id = $1 AND state = 'starting'`;

const FAILED = `
  UPDATE schedule_firing SET state = 'failed', is_open = false, outcome = 'failed', run_id = NULL, reason = $2
  WHERE firing_id = $1 AND state = 'starting'`;
