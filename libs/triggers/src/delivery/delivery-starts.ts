import { Injectable, Logger } from '@nestjs/common';
import { isFinalStartFailure, Processes, startFailureText } from '#libs/durable';
import { ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import type { JobContext } from '#libs/jobs';
import { Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { TaskStore } from '#libs/tasks';
import { START } from '../storage/trigger-deliveries.js';

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
 * Starts the runs of accepted deliveries. The id of a run is stored with its delivery, so that a start that is repeated
 * after a crash finds the run.
 */
@Injectable()
export class DeliveryStarts {
  private readonly logger = new Logger(DeliveryStarts.name);

  constructor(
    jobs: Jobs,
    private readonly database: Database,
    private readonly processes: Processes,
    private readonly tasks: TaskStore,
    private readonly address: ServiceAddress,
  ) {
    jobs.registerHandler(START, {
      read: (payload) => payload as { number: string },
      run: ({ number }, context) => this.startDelivery(number, context),
    });
  }

  /**
   * Starts the run of a delivery, unless it has been handled already.
   * - If the start can never succeed, for example because the workflow was deleted, notes the reason in the delivery.
   * - Rejects if a later attempt may succeed.
   */
  private async startDelivery(number: string, { last }: Pick<JobContext, 'last'>): Promise<void> {
    const [delivery] = (
      await this.database.pool.query<DeliveryStartRow>({ name: 'trigger-read', text: READ, values: [number] })
    ).rows;
    if (!delivery) return;
    try {
      await this.startRun(delivery);
    } catch (error) {
      // An attempt whose outcome this process never saw may have started the run.
      if (!(await this.tasks.readHeader(delivery.run_id))) return this.handleFailure(error, delivery, last);
    }
    await this.database.pool.query({ name: 'trigger-started', text: STARTED, values: [number] });
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
  UPDATE trigger_delivery SET state = 'started', inputs = NULL WHERE number = $1 AND state = 'starting'`;

const FAILED = `
  UPDATE trigger_delivery SET state = 'failed', is_open = false, outcome = 'failed', inputs = NULL, reason = $2
  WHERE number = $1 AND state = 'starting'`;
