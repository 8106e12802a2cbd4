import { Injectable, Logger } from '@nestjs/common';
import { isFinalStartFailure, Processes, startFailureText } from '#libs/durable';
import { ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import type { JobContext } from '#libs/jobs';
import { BatchLoader, Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { TaskStore } from '#libs/tasks';
import { START } from '../storage/delivery-writer.js';
import { StartTurns } from './start-turns.js';

/** Delivery whose run is to be started. */
interface DeliveryStartRow {
  number: string;
  tenant: string;
  owner: string;
  workflow: string;
  run_id: string;
  inputs: JsonObject;
}

/**
 * Starts the runs of accepted deliveries: at once in the process that accepted one, or by the job of the delivery. The
 * id of a run is stored with its delivery, so that a start that is repeated after a crash finds the run.
 */
@Injectable()
export class DeliveryStarts {
  private readonly logger = new Logger(DeliveryStarts.name);
  private readonly turns = new StartTurns();
  /** Notes starts of this process, several in one statement. */
  private readonly notes = new BatchLoader<string, true>((numbers) => this.noteStarts(numbers));

  constructor(
    jobs: Jobs,
    private readonly database: Database,
    private readonly processes: Processes,
    private readonly tasks: TaskStore,
    private readonly address: ServiceAddress,
  ) {
    jobs.registerHandler(START, {
      read: (payload) => payload as { number: string },
      run: async ({ number }, context) => {
        if (await this.startDelivery(number, context))
          await database.pool.query({ name: 'trigger-started', text: STARTED, values: [[number]] });
      },
    });
  }

  /**
   * Reserves a start of this process for a delivery that is about to be accepted.
   * @returns the function that starts the run of a delivery in the background and frees the start; without a number it
   *   only frees the start. `undefined` if the delivery is to be started by its job
   */
  reserveStart(tenant: string): ((number?: string) => void) | undefined {
    const free = this.turns.takeTurn(tenant);
    return free && ((number) => void (number === undefined ? free() : this.startHere(number).finally(free)));
  }

  /** Starts the run of a delivery. After an error, its job makes the next attempt. */
  private async startHere(number: string): Promise<void> {
    try {
      if (await this.startDelivery(number, { last: false })) await this.notes.get(number);
    } catch (err) {
      this.logger.debug({ delivery: number, err }, 'The job of a delivery will start its run');
    }
  }

  /**
   * Starts the run of a delivery, unless it has been handled already.
   * - If the start can never succeed, for example because the workflow was deleted, notes the reason in the delivery.
   * - Rejects if a later attempt may succeed.
   * @returns true if the run was started
   */
  private async startDelivery(number: string, { last }: Pick<JobContext, 'last'>): Promise<boolean> {
    const [delivery] = (
      await this.database.pool.query<DeliveryStartRow>({ name: 'trigger-read', text: READ, values: [number] })
    ).rows;
    if (!delivery) return false;
    try {
      await this.startRun(delivery);
    } catch (error) {
      // An attempt whose outcome this process never saw may have started the run.
      if (!(await this.tasks.readHeader(delivery.run_id))) {
        await this.handleFailure(error, delivery, last);
        return false;
      }
    }
    return true;
  }

  /** Notes that runs have been started, and removes the jobs that would start them. */
  private async noteStarts(numbers: readonly string[]): Promise<Map<string, true>> {
    await this.database.pool.query({ name: 'trigger-starts', text: STARTED_HERE, values: [numbers] });
    return new Map(numbers.map((number) => [number, true]));
  }

  private async startRun({ number, tenant, owner, workflow, inputs, run_id: taskId }: DeliveryStartRow): Promise<void> {
    const request = { agent: `workflows/${workflow}`, data: inputs, namesInputs: true, taskId } as const;
    const call = { scope: { tenant, owner }, baseUrl: this.address.internalUrl };
    await this.processes.startProcess(request, call, `trigger-delivery-${number}`);
  }

  private async handleFailure(error: unknown, { number, workflow }: DeliveryStartRow, last: boolean): Promise<void> {
    if (!last && !isFinalStartFailure(error)) throw error;
    const reason = startFailureText(error, workflow);
    await this.database.pool.query(FAILED, [number, reason]);
    const facts = { delivery: number, workflow, reason };
    if (isFinalStartFailure(error)) this.logger.warn(facts, 'A run of a trigger did not start');
    else this.logger.error({ ...facts, err: error }, 'A run of a trigger did not start');
  }
}

const READ = `
  SELECT number, tenant, owner, workflow, run_id, inputs FROM trigger_delivery WHERE number = $1 AND state = 'starting'`;

const STARTED = `
  UPDATE trigger_delivery SET state = 'started', inputs = NULL
  WHERE number = ANY($1::bigint[]) AND state = 'starting'`;

const STARTED_HERE = `
  WITH started AS (${STARTED})
  SELECT count(graphile_worker.remove_job('${START}/' || number)) FROM unnest($1::bigint[]) AS number`;

const FAILED = `
  UPDATE trigger_delivery SET state = 'failed', is_open = false, outcome = 'failed', inputs = NULL, reason = $2
  WHERE number = $1 AND state = 'starting'`;
