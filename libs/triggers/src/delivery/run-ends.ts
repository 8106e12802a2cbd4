import { Injectable } from '@nestjs/common';
import { keptChain } from '#libs/agents';
import { ProblemError } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import { type Artifact, firstData, isJsonObject, joinedText, type JsonObject, type JsonValue } from '#libs/protocol';
import { begunTask, type StoredTask, type TaskHeader, TaskStore } from '#libs/tasks';
import { type EndStatus, type Trigger, Triggers } from '../storage/triggers.js';
import { RUN_ENDED } from '../storage/run-end-migration.js';
import { DeliveryIntake } from './delivery-intake.js';
import type { TriggerEvent } from './received-event.js';

const WORKFLOWS = 'workflows/';
/** Maximum bytes of the log of a run whose result expressions can read. */
const MOST_LOG_BYTES = 4 * 1024 ** 2;

const STATUSES: Readonly<Record<string, EndStatus>> = {
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
};

/** Payload of the job of an ended run. The database enqueues it in the transaction that ends the run. */
interface RunEndPayload {
  runId: string;
  /** Depth of the ended run in a chain of runs that ends of other runs started: 1 for the first run. */
  depth: number;
}

/**
 * Fires the triggers of ended runs.
 * - Each ended run fires each of its triggers once, whatever dies.
 * - The runs that are started belong to the owner of the ended run, who may see its result.
 * - Runs that other runs called fire nothing.
 */
@Injectable()
export class RunEnds {
  constructor(
    jobs: Jobs,
    private readonly triggers: Triggers,
    private readonly tasks: TaskStore,
    private readonly intake: DeliveryIntake,
  ) {
    jobs.registerHandler(RUN_ENDED, {
      read: (payload) => payload as RunEndPayload,
      run: (payload) => this.fireTriggers(payload),
    });
  }

  /** Fires each trigger of a run. @throws the first failure after all triggers were tried, so that the job retries */
  private async fireTriggers({ runId, depth }: RunEndPayload): Promise<void> {
    const header = await this.tasks.readHeader(runId);
    const status = header && STATUSES[header.state];
    if (!header || status === undefined) return;
    const found = await this.triggers.listRunTriggers(header.tenant, header.agent.slice(WORKFLOWS.length));
    const wanted = found.filter(({ source }) => source.run?.statuses.includes(status));
    if (wanted.length === 0) return;
    const event = await this.describeRun(header, status);
    if (!event) return;
    const failures: unknown[] = [];
    for (const trigger of wanted) {
      const fired = this.fireTrigger({ ...trigger, owner: header.owner }, { runId, depth }, event);
      await fired.catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  private async fireTrigger(trigger: Trigger, { runId, depth }: RunEndPayload, event: TriggerEvent): Promise<void> {
    try {
      await this.intake.takeEvent(trigger, { deliveryId: `run:${runId}`, cause: 'run', event, depth });
    } catch (error) {
      // The delivery has the reason, or the trigger has been deleted.
      if (!(error instanceof ProblemError)) throw error;
    }
  }

  /** Returns an ended run as expressions read it; `undefined` for a run that another run called. */
  private async describeRun(header: TaskHeader, status: EndStatus): Promise<TriggerEvent | undefined> {
    const { taskId, agent, size } = header;
    const begun = await begunTask(this.tasks, taskId);
    if (!begun || keptChain(begun.metadata).length > 0) return undefined;
    const ended = (size?.log ?? 0) <= MOST_LOG_BYTES ? await this.tasks.loadTask(taskId) : undefined;
    const sent = firstData(begun.history?.[0]?.parts ?? []);
    return {
      run: {
        ...{ id: taskId, workflow: agent.slice(WORKFLOWS.length), status },
        inputs: isJsonObject(sent) ? sent : {},
        ...resultsOf(ended),
        error: status === 'failed' ? (joinedText(ended?.task.status.message?.parts ?? []) ?? null) : null,
      },
    };
  }
}

/** Returns the values of the Artifacts of a run by their names, and that of the first. */
function resultsOf(ended: StoredTask | undefined): JsonObject {
  const artifacts = ended?.task.artifacts ?? [];
  const values = artifacts.map((it) => [it.name ?? it.artifactId, valueOf(it)] as const);
  return { result: values[0]?.[1] ?? null, results: Object.fromEntries(values) };
}

function valueOf({ parts }: Artifact): JsonValue {
  return firstData(parts) ?? joinedText(parts) ?? null;
}
