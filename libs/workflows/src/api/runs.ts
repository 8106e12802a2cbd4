import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { UnknownAgent } from '#libs/agents';
import { DEFINITION_GONE, endedProcessError, Processes, type ProcessKind, unknownProcess } from '#libs/durable';
import { malformedRequest, ProblemError } from '#libs/http-server';
import type { JsonObject, Task } from '#libs/protocol';
import { taskTraceId } from '#libs/service';
import {
  begunTask,
  type BudgetState,
  type LogAdmission,
  RunBudgets,
  type StoredTask,
  type TaskHeader,
  type TaskScope,
  TaskStore,
} from '#libs/tasks';
import {
  readRequestedBudget,
  WORKFLOW_NAME,
  type WorkflowDefinition,
  type WorkflowFailure,
} from '#libs/workflow-definition';
import {
  BUDGET_KEY,
  budgetOfRun,
  instancePage,
  isRun,
  mayBeRun,
  type NodeDetail,
  nodeDetail,
  revisionOf,
  RunChildStore,
  RunFolds,
  type RunSource,
  RunState,
  type RunView,
  runView,
  shownFailure,
  undefinedRunView,
  workflowRunBy,
} from '#libs/workflow-engine';
import { CancelOutcomes } from '../storage/postgres-run-stores.js';
import { findRevision, WorkflowStore } from '../storage/workflow-store.js';
import type { CanceledRun, InstancesQuery, RunInstances } from './run.dto.js';

export const RUN: ProcessKind = { noun: 'run', includes: mayBeRun };

/** Returns the metadata of a request that sets a budget. @throws ProblemError 400 for a malformed budget */
export function budgetMetadata(sent: JsonObject): JsonObject {
  const budget = readRequestedBudget(sent, 'budget');
  if (Array.isArray(budget)) throw malformedRequest(...budget);
  return { [BUDGET_KEY]: { ...budget } };
}

/** Inputs of a new run, and the metadata of its request. */
export interface RunInputs {
  inputs: JsonObject;
  metadata?: JsonObject;
}

/** A run and the name of its workflow. */
type RunHeader = TaskHeader & { workflow: string };

/**
 * Starts, shows and cancels runs. A run is the Task of its workflow's agent, and its whole state is in the log of that
 * Task.
 */
@Injectable()
export class Runs {
  constructor(
    private readonly processes: Processes,
    private readonly tasks: TaskStore,
    private readonly workflows: WorkflowStore,
    private readonly children: RunChildStore,
    private readonly cancels: CancelOutcomes,
    private readonly folds: RunFolds,
    private readonly budgets: RunBudgets,
  ) {}

  /**
   * Starts a run. Resolves when the run is durable; the run continues even if the caller disconnects.
   * @throws ProblemError 404 for an unknown workflow; A2AError 409 if the `Idempotency-Key` was used with other inputs
   */
  async startRun(
    workflow: string,
    { inputs, metadata }: RunInputs,
    call: ApiCall,
    idempotencyKey?: string,
  ): Promise<Pick<TaskHeader, 'taskId' | 'agent'>> {
    if (!WORKFLOW_NAME.test(workflow)) throw unknownWorkflow();
    const agent = `workflows/${workflow}`;
    try {
      const request = { agent, data: inputs, namesInputs: true, ...(metadata && { metadata }) } as const;
      return { taskId: await this.processes.startProcess(request, call, idempotencyKey), agent };
    } catch (error) {
      if (error instanceof UnknownAgent) throw unknownWorkflow();
      throw error;
    }
  }

  /** Returns the header of a run and the name of its workflow. @throws ProblemError 404 for an unknown run */
  async findHeader(runId: string, scope: TaskScope): Promise<RunHeader> {
    const header = await this.processes.findHeader(RUN, runId, scope);
    const task = isRun(header) ? undefined : await begunTask(this.tasks, runId);
    return { ...header, workflow: runOf(header, task) };
  }

  /**
   * Returns the view of a run with the state of every node, or without nodes if the run's definition no longer exists.
   * @param room memory for reading the log; if absent, memory is reserved for this log alone
   * @throws ProblemError 404 for an unknown run
   */
  async viewRun(
    runId: string,
    call: ApiCall,
    room: LogAdmission = this.processes.openRoom(call),
  ): Promise<RunView & { error?: WorkflowFailure; budget?: BudgetState; trace_id: string }> {
    const source = await this.loadSource(runId, call, room);
    const [first] = source.events;
    const trace_id = taskTraceId(runId, first && 'task' in first ? first.task.metadata : undefined);
    const { error, ...view } = isDefined(source) ? runView(source) : undefinedRunView(source, source.workflow);
    const hasBudget = isDefined(source) && budgetOfRun(source.definition, first) !== undefined;
    const budget = hasBudget ? await this.budgets.readBudget(runId, call.scope) : undefined;
    return { ...view, ...(error && { error: shownFailure(error) }), ...(budget && { budget }), trace_id };
  }

  /** Returns one node of a run, with its input. @throws ProblemError 404 for an unknown run or node */
  async viewNode(runId: string, nodeId: string, call: ApiCall): Promise<NodeDetail> {
    const source = await this.loadSource(runId, call, this.processes.openRoom(call));
    const found = isDefined(source) ? nodeDetail(source, nodeId) : undefined;
    if (!found) throw new ProblemError(404, 'node not found');
    return found;
  }

  /**
   * Returns a page of the instances of a run's nodes.
   * @throws ProblemError 404 for an unknown run
   */
  async listInstances(runId: string, query: InstancesQuery, call: ApiCall): Promise<RunInstances> {
    const { pageToken, pageSize: limit, ...filter } = query;
    const header = await this.findHeader(runId, call.scope);
    const events = await this.processes.readLog(header, this.processes.openRoom(call));
    const [first] = events;
    const definition = await this.findDefinition(header, first && 'task' in first ? first.task : undefined);
    if (!definition) return { instances: [], nextPageToken: '' };
    const { instances, next } = instancePage(RunState.fromEvents(definition, events), {
      ...filter,
      after: Number(pageToken ?? 0),
      limit,
    });
    return { instances, nextPageToken: next === undefined ? '' : String(next) };
  }

  /**
   * Returns the definition with which a run was started, even if its workflow has changed since.
   * @throws ProblemError 404 for an unknown run; 410 if the definition no longer exists
   */
  async readRunDefinition(runId: string, scope: TaskScope): Promise<WorkflowDefinition> {
    const { header, task } = await this.processes.loadBegun(RUN, runId, scope);
    return this.requireDefinition(header, task);
  }

  /**
   * Returns a run and its current state, by applying the events of its log. Use the state before you await anything
   * else (see `RunFolds.readRunState`).
   */
  async foldRun(
    runId: string,
    scope: TaskScope,
    room: LogAdmission,
  ): Promise<{ process: StoredTask; state: RunState }> {
    const process = await this.processes.loadBegun(RUN, runId, scope);
    const definition = await this.requireDefinition(process.header, process.task, 409);
    return { process, state: await this.folds.readRunState(process.header, definition, room) };
  }

  private async loadSource(runId: string, { scope, baseUrl }: ApiCall, room: LogAdmission): Promise<FoundRun> {
    const header = await this.findHeader(runId, scope);
    const events = await this.processes.readLog(header, room);
    const [remembered, own, later] = await Promise.all([
      this.children.listChildren(runId),
      this.tasks.listChildren(runId),
      header.state === 'TASK_STATE_CANCELED' ? this.cancels.listOutcomes(runId) : [],
    ]);
    const [first] = events;
    const definition = await this.findDefinition(header, first && 'task' in first ? first.task : undefined);
    const children = [...remembered, ...own.flatMap(childOf)];
    return { header, workflow: header.workflow, definition, events, baseUrl, children, later };
  }

  /**
   * Cancels a run. Canceling a canceled run again returns the same result.
   * @throws ProblemError 404 for an unknown run; 409 for a run that has ended with another outcome
   */
  async cancelRun(runId: string, call: ApiCall): Promise<CanceledRun> {
    await this.stopRun(runId, call);
    const { status, children } = await this.viewRun(runId, call);
    if (status !== 'canceled') throw endedProcessError(RUN, `it is ${status}`);
    return { runId, status, children: children ?? [] };
  }

  /**
   * Cancels a run without returning its view. An ended run does not change.
   * @throws ProblemError 404 for an unknown run
   */
  async stopRun(runId: string, call: ApiCall): Promise<void> {
    const run = await this.processes.loadBegun(RUN, runId, call.scope);
    runOf(run.header, run.task);
    // For the run of a `workflow` node, the recorded revision is that of the child workflow, not of the agent.
    await this.processes.cancelProcess(run, call, isRun(run.header) ? revisionOf(run.task) : undefined);
  }

  private async requireDefinition(
    header: TaskHeader,
    task: Task | undefined,
    status = 410,
  ): Promise<WorkflowDefinition> {
    const definition = await this.findDefinition(header, task);
    if (!definition) throw new ProblemError(status, DEFINITION_GONE);
    return definition;
  }

  /** Returns the definition that a run was started with; `undefined` if it no longer exists. */
  private async findDefinition(header: TaskHeader, task: Task | undefined): Promise<WorkflowDefinition | undefined> {
    const store = this.workflows.inTenant(header.tenant);
    const revision = await findRevision(store, runOf(header, task), task && revisionOf(task));
    return revision?.definition;
  }
}

/** A run whose definition may no longer exist. */
interface FoundRun extends Omit<RunSource, 'definition'> {
  definition: WorkflowDefinition | undefined;
  workflow: string;
}

function isDefined(run: FoundRun): run is FoundRun & RunSource {
  return run.definition !== undefined;
}

/** Returns the name of the workflow that a Task executes. @throws ProblemError 404 if the Task is not a run */
function runOf(header: TaskHeader, task: Task | undefined): string {
  const workflow = workflowRunBy(header, task);
  if (workflow === undefined) throw unknownProcess(RUN);
  return workflow;
}

export function unknownWorkflow(): ProblemError {
  return new ProblemError(404, 'workflow not found');
}

/**
 * Returns the node, attempt and Task id of a child Task in a list; an empty list if its header has no
 * `instance#attempt`.
 */
function childOf({ taskId, parentReference = '' }: TaskHeader): { nodeId: string; attempt: number; taskId: string }[] {
  const [, nodeId, attempt] = /^(.+)#(\d+)$/.exec(parentReference) ?? [];
  return nodeId === undefined ? [] : [{ nodeId, attempt: Number(attempt), taskId }];
}
