import { Injectable } from '@nestjs/common';
import { AgentCatalog, type CallContext, ExecutionRegistry, type ServedAgent, UnknownAgent } from '#libs/executor';
import { ProblemError } from '#libs/platform';
import { A2AError, dataPart, isTerminalState, type JsonObject, type Task, userMessage } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type StoredTask, type TaskHeader, TaskStore } from '#libs/tasks';
import { CancelOutcomes } from '../cancel-outcomes.js';
import type { CanceledChild, RunStatus } from '../node-run.js';
import { RunChildStore } from '../run-child-store.js';
import { type RunView, runView } from '../run-view.js';
import type { WorkflowDefinition } from '../workflow.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';
import { WorkflowStore } from '../workflow-store.js';
import { isRun, revisionOf, workflowOf } from './run-task.js';

/** What `POST /api/runs/{id}/cancel` answers. */
export interface CancelReport {
  runId: string;
  status: RunStatus;
  children: CanceledChild[];
}

const RUN_ID = /^[\x21-\x7e]{1,200}$/;

/** Starts, shows and cancels runs. A run is the Task of its workflow's agent; nothing of it is kept elsewhere. */
@Injectable()
export class Runs {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    private readonly workflows: WorkflowStore,
    private readonly children: RunChildStore,
    private readonly cancels: CancelOutcomes,
  ) {}

  /**
   * Resolves with the run's header when the run is durable; it goes on whatever becomes of the caller.
   * @throws ProblemError 404 for an unknown workflow; A2AError 409 for other inputs under a known `Idempotency-Key`
   */
  async start(
    workflow: string,
    inputs: JsonObject,
    baseUrl: string,
    idempotencyKey?: string,
  ): Promise<Pick<TaskHeader, 'taskId' | 'agent'>> {
    const agent = await this.agent(workflow);
    const call = callOf(agent, baseUrl);
    // Under a key the Message has the key's name, so that the same inputs are the same request.
    const fields = idempotencyKey === undefined ? {} : { messageId: idempotencyKey };
    const request = { message: userMessage([dataPart(inputs)], fields) };
    await agent.executor.check?.(request, call);
    const execution =
      idempotencyKey === undefined
        ? this.executions.begin(agent, request, call)
        : await this.executions.beginOnce(agent, request, call, idempotencyKey);
    await execution.accepted;
    return { taskId: execution.taskId, agent: agent.path };
  }

  /** @throws ProblemError 404 */
  async header(runId: string): Promise<TaskHeader> {
    const header = RUN_ID.test(runId) ? await this.tasks.header(runId, ANONYMOUS_SCOPE) : undefined;
    if (!header || !isRun(header)) throw unknownRun();
    return header;
  }

  /** @throws ProblemError 404 */
  async show(runId: string, baseUrl: string): Promise<RunView> {
    const header = await this.header(runId);
    const [events, remembered, own, later] = await Promise.all([
      this.tasks.events(runId, 0, header.lastSequence),
      this.children.of(runId),
      this.tasks.children(runId),
      header.state === 'TASK_STATE_CANCELED' ? this.cancels.of(runId) : [],
    ]);
    const first = events[0]?.event;
    const definition = await this.definition(header, first && 'task' in first ? first.task : undefined);
    const children = [...remembered, ...own.flatMap(childOf)];
    return runView({ header, definition, events: events.map((it) => it.event), baseUrl, children, later });
  }

  /**
   * Cancels a run. Canceling a canceled run again answers the same.
   * @throws ProblemError 404; 409 for a run that has ended otherwise
   */
  async cancel(runId: string, baseUrl: string): Promise<CancelReport> {
    const stored = await this.load(runId);
    if (!isTerminalState(stored.header.state)) await this.cancelRunning(stored, baseUrl);
    const { status, children } = await this.show(runId, baseUrl);
    if (status !== 'canceled') throw new ProblemError(409, `the run has ended: it is ${status}`);
    return { runId, status, children: children ?? [] };
  }

  private async cancelRunning({ header, task }: StoredTask, baseUrl: string): Promise<void> {
    const agent = await this.catalog.resolve(header.agent, revisionOf(task));
    try {
      await this.executions.cancel(agent, header.taskId, callOf(agent, baseUrl));
    } catch (error) {
      // It ended in the meantime: what it ended as decides the answer.
      if (!(error instanceof A2AError) || error.reason !== 'TASK_NOT_CANCELABLE') throw error;
    }
  }

  private async load(runId: string): Promise<StoredTask> {
    const stored = RUN_ID.test(runId) ? await this.tasks.load(runId, ANONYMOUS_SCOPE) : undefined;
    if (!stored || !isRun(stored.header)) throw unknownRun();
    return stored;
  }

  private async definition(header: TaskHeader, task: Task | undefined): Promise<WorkflowDefinition> {
    const name = workflowOf(header);
    const revision = await this.workflows.get(name, task && revisionOf(task));
    if (!revision) throw new Error(`The definition that run ${header.taskId} was started with is missing`);
    return revision.definition;
  }

  private async agent(workflow: string): Promise<ServedAgent> {
    if (!WORKFLOW_NAME.test(workflow)) throw unknownWorkflow();
    try {
      return await this.catalog.resolve(`workflows/${workflow}`);
    } catch (error) {
      if (error instanceof UnknownAgent) throw unknownWorkflow();
      throw error;
    }
  }
}

export function unknownWorkflow(): ProblemError {
  return new ProblemError(404, 'workflow not found');
}

function unknownRun(): ProblemError {
  return new ProblemError(404, 'run not found');
}

function callOf(agent: ServedAgent, baseUrl: string): CallContext {
  return { scope: ANONYMOUS_SCOPE, agent: agent.path, extensions: [], baseUrl };
}

/** A child's header as the run knows it: by the reference `node#attempt`. */
function childOf({ taskId, parentReference = '' }: TaskHeader): { nodeId: string; attempt: number; taskId: string }[] {
  const [, nodeId, attempt] = /^(.+)#(\d+)$/.exec(parentReference) ?? [];
  return nodeId === undefined ? [] : [{ nodeId, attempt: Number(attempt), taskId }];
}
