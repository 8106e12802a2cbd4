import { isJsonObject, type JsonObject, type JsonValue, type RunEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { type BudgetConfig, lowerBudget, type WorkflowDefinition } from '#libs/workflow-definition';

/** Types of the events that the streams of a run report. */
const RUN_EVENT_TYPES = [
  'node.started',
  'a2a.sending',
  'a2a.received',
  'node.completed',
  'node.error',
  'node.canceled',
  'model.request',
  'model.response',
  'model.error',
  'tool.call',
  'tool.called',
  'tool.result',
  'tool.canceled',
  'budget.exceeded',
  'template.warning',
  'number.rounded',
  'parts.left-out',
  'node.progress',
  'node.skipped',
  'node.retrying',
  'node.waiting',
  'node.resumed',
  'node.reused',
  'edge.error',
  'each.started',
  'loop.next',
  'loop.ended',
  'result.emptied',
  'input.required',
  'input.received',
  'run.parked',
  'run.woken',
  'run.nearly-full',
  'run.deadline',
  'run.ending',
  'workflow.failed',
  'workflow.canceled',
  'done',
] as const;

export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

const FORWARDED_STEPS = new Set([
  'model.request',
  'model.response',
  'model.error',
  'tool.call',
  'tool.called',
  'tool.result',
  'tool.canceled',
  'budget.exceeded',
]);

/**
 * True for a step of a child that its run forwards to its own log: model and tool steps, warnings of budgets, and the
 * progress of agents that the child called as tools.
 */
export function isForwardedStep({ type, payload }: RunEventNote): boolean {
  if (!isJsonObject(payload)) return false;
  return FORWARDED_STEPS.has(type) || (type === 'node.progress' && typeof payload['tool'] === 'string');
}

/** Metadata key of a run's Task: the workflow that it runs (`RunMetadata`). */
const RUN_KEY = 'parley/run';

/** Metadata of a run's Task, under `RUN_KEY`. */
export interface RunMetadata {
  workflow: string;
  revision: string;
  /** Inputs of the run; if absent, they are read from its first Message. */
  inputs?: JsonObject;
  /** Metadata of the request that began the run: only the part that is passed on to remote agents. */
  request?: JsonObject;
  /** Budget that the request set; absent: only the budget of the definition applies. */
  budget?: BudgetConfig;
}

/** Metadata key of a request for a run: the budget of the run. */
export const BUDGET_KEY = 'parley/budget';

/** True if the metadata of a request set a budget. */
export function hasRequestedBudget(metadata: JsonObject | undefined): metadata is JsonObject {
  return metadata?.[BUDGET_KEY] !== undefined && metadata[BUDGET_KEY] !== null;
}

/** Returns the budget of a run, with the Task of the run as the first event of its log. */
export function budgetOfRun({ budget }: WorkflowDefinition, first: TaskEvent | undefined): BudgetConfig | undefined {
  const requested = first && 'task' in first ? readRunMetadata(first.task.metadata).budget : undefined;
  return budget && requested ? lowerBudget(budget, requested) : (budget ?? requested);
}

export function runMetadata(run: RunMetadata): JsonObject {
  return { [RUN_KEY]: { ...run } as unknown as JsonObject };
}

/** Reads the metadata of a run's Task; empty without them. */
export function readRunMetadata(metadata: JsonObject | undefined): Partial<RunMetadata> {
  const run = metadata?.[RUN_KEY];
  return isJsonObject(run) ? (run as Partial<RunMetadata>) : {};
}

/** Metadata key of a request for a rerun: the original run, and what to run again (`RerunRequest`). */
export const RERUN_KEY = 'parley/rerun';

/** Request for a rerun, under `RERUN_KEY`. */
export interface RerunRequest {
  /** Id of the original run. */
  origin: string;
  /** Names of the instances to run again, with all nodes after them; absent: none is named. */
  from?: string[];
  /** True to run the failed instances again, with all nodes after them. */
  failed?: boolean;
  /** True to run all nodes again and reuse no result. */
  all?: boolean;
  edit?: PromptEdit;
}

/** Text that a rerun sends to an agent node in place of the Message that the run would build for the node. */
export interface PromptEdit {
  /** Name of the instance whose text is replaced. */
  node: string;
  prompt: string;
}

export function rerunMetadata(request: RerunRequest): JsonObject {
  const { edit, ...rest } = request;
  return { [RERUN_KEY]: { ...rest, ...(edit && { edit: { ...edit } }) } };
}

/**
 * Reads the request for a rerun from the metadata of a Message or Task; `undefined` if the metadata contain no request,
 * or the request names no original run.
 */
export function readRerunRequest(metadata: JsonObject | undefined): RerunRequest | undefined {
  const rerun = metadata?.[RERUN_KEY];
  if (!isJsonObject(rerun) || typeof rerun['origin'] !== 'string') return undefined;
  const { origin, from, failed, all } = rerun;
  const edit = readPromptEdit(rerun['edit']);
  return {
    origin,
    ...(Array.isArray(from) && { from: from.filter((it) => typeof it === 'string') }),
    ...(failed === true && { failed }),
    ...(all === true && { all }),
    ...(edit && { edit }),
  };
}

function readPromptEdit(sent: JsonValue | undefined): PromptEdit | undefined {
  if (!isJsonObject(sent)) return undefined;
  const { node, prompt } = sent;
  return typeof node === 'string' && typeof prompt === 'string' ? { node, prompt } : undefined;
}

/**
 * Reads the request for a rerun from the Task of a run, the first event of its log; `undefined` if the run is no rerun.
 */
export function readTaskRerun(first: TaskEvent | undefined): RerunRequest | undefined {
  return first && 'task' in first ? readRerunRequest(first.task.metadata) : undefined;
}
