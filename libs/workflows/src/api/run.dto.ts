import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import { RerunEdit } from './rerun-edit.js';
import {
  ApiClosed,
  IfGiven,
  malformedRequest,
  type ProblemEntry,
  ProblemError,
  QueryFlag,
  QueryPageSize,
  QueryPageToken,
  QueryText,
  QueryWord,
  refuseUnfitJson,
  withMembers,
} from '#libs/http-server';
import {
  type Artifact,
  type CallCancelOutcome,
  isJsonObject,
  type JsonObject,
  type Part,
  type TaskState,
} from '#libs/protocol';
import { type FailureKind, WORKFLOW_NAME, type WorkflowFailure } from '#libs/workflow-definition';
import type {
  CanceledChild,
  InstanceCounts,
  InstanceView,
  NodeDetail,
  NodeStatus,
  NodeView,
  NodeWait,
  RunStatus,
  RunView,
  SkipReason,
} from '#libs/workflow-engine';

import { RunWaitView } from './run-wait.dto.js';
import { RunBudgetView, RunUsage } from './usage.dto.js';

/** Task states that correspond to each run status. */
export const STATES_OF: Record<RunStatus, readonly TaskState[]> = {
  running: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
  'input-required': ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'],
  completed: ['TASK_STATE_COMPLETED'],
  failed: ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED'],
  canceled: ['TASK_STATE_CANCELED'],
};

/** Maximum number of nodes and instances that one rerun may name. */
const MOST_NAMED = 1_000;

/** Body of a request that starts a run. */
@ApiClosed()
export class RunBody {
  static readonly unknown = 'is not a member of the start of a run; inputs are members of `inputs`';
  static readonly optional = true;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Inputs by node id.',
    example: { name: 'Ada' },
  })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  inputs?: JsonObject;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Budget of the run, as in a definition. It can only lower the budget of the workflow.',
    example: { usd: 0.5 },
  })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  budget?: JsonObject;

  /**
   * Reads a request body without strict checks. If the body, or its `inputs`, is not an object, the run has no inputs.
   * @throws ProblemError 400 only for an unknown member, or JSON that cannot be stored unchanged
   */
  static readLeniently(body: unknown): RunBody {
    refuseUnfitJson(body);
    const strange = isJsonObject(body) ? Object.keys(body).filter((name) => !['inputs', 'budget'].includes(name)) : [];
    if (strange.length > 0)
      throw malformedRequest(...strange.slice(0, 20).map((path) => ({ path, detail: RunBody.unknown })));
    const inputs = isJsonObject(body) && isJsonObject(body.inputs) ? body.inputs : {};
    const budget = isJsonObject(body) ? body.budget : undefined;
    return Object.assign(new RunBody(), { inputs, ...(budget !== undefined && budget !== null && { budget }) });
  }
}

/** Body of a request that starts a rerun. */
@ApiClosed()
export class RerunBody {
  static readonly optional = true;
  /**
   * Error text for an unknown member. Such a member is rejected, because a misspelled member would otherwise be
   * dropped, and all nodes would run again.
   */
  static readonly unknown = 'is not known';
  static readonly exceptionFactory = notToBeRerun;

  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_NAMED,
    description: 'Nodes or instances to run again, with all that follow them.',
    example: ['draft', 'tr[17]'],
  })
  @IsOptional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_NAMED, { message: `must not have more than ${MOST_NAMED} entries` })
  @IsString({ each: true, message: 'must be an array of strings' })
  from?: string[];

  @ApiPropertyOptional({
    description: 'True if all failed nodes run again, with all that follow them.',
    example: false,
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  failed?: boolean;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Inputs that replace all inputs of the original run.',
    example: { topic: 'tea' },
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  inputs?: JsonObject;

  @ApiPropertyOptional({
    description: 'Revision of the workflow; default: the revision of the original run.',
    example: '12',
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  revision?: string;

  @ApiPropertyOptional({ type: RerunEdit, description: 'Edited prompt of an agent node, which then runs again.' })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested()
  edit?: RerunEdit;

  /** Reads a body. A member that is null counts as absent. */
  static from(sent: object): RerunBody {
    const given = Object.entries(sent).filter(([, value]) => value !== null);
    return withMembers(RerunBody, RerunEdit.readMembers(Object.fromEntries(given)));
  }
}

/** Returns the problem for an invalid body: 422 if only `from`, `inputs`, `revision` or `edit` is invalid, otherwise 400. */
function notToBeRerun(entries: ProblemEntry[]): ProblemError {
  const problem = malformedRequest(...entries);
  const isOfRun = entries.every(({ path }) => /^(from|inputs|revision|edit)\b/.test(path));
  return isOfRun ? new ProblemError(422, problem.message, problem.errors) : problem;
}

/** Query parameters of a request that starts a run and streams its events. */
export class RunStreamQuery {
  @QueryFlag({ description: 'True if the run is canceled when the client disconnects.' })
  cancelOnDisconnect = false;
}

/** Query parameters of a run's event stream. */
export class RunEventsQuery {
  @QueryFlag({
    default: true,
    description: 'True if the stream waits for further events; `false`: it ends with the last event so far.',
  })
  live = true;
}

export const NODE_STATUSES: NodeStatus[] = [
  'pending',
  'running',
  'input-required',
  'completed',
  'failed',
  'canceled',
  'skipped',
];
const PLACE = /^\d{1,6}$/;

/** Query parameters of the list of a run's instances. */
export class InstancesQuery {
  @QueryText((id) => WORKFLOW_NAME.test(id), 'is not an id of a node', { example: 'draft' })
  node?: string;

  @QueryWord(NODE_STATUSES)
  status?: NodeStatus;

  @QueryPageSize()
  pageSize = 50;

  @QueryPageToken((text) => PLACE.test(text), '50')
  pageToken?: string;
}

export const RUN_STATUS = { enum: Object.keys(STATES_OF), example: 'completed' };
const OUTCOMES = ['acknowledged', 'refused', 'unreachable', 'not-started', 'unknown'];
export const RUN_ID = { description: 'A2A taskId of the run.', example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e' };
const CHILD = '019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70';
const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' };
const OBJECT = { type: 'object', additionalProperties: true } as const;
const PARTS = [{ text: 'Hello, world!' }];
const ARTIFACTS = {
  type: 'array',
  items: { ...OBJECT, example: { artifactId: 'writer', parts: PARTS } },
  description: 'A2A Artifacts.',
} as const;

export class StartedRun {
  @ApiProperty(RUN_ID) runId!: string;
}

export class StartedRerun extends StartedRun {
  @ApiProperty({ ...RUN_ID, description: 'Original run whose results the new run takes over.' }) origin!: string;
}

class RunFork extends StartedRun {
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(RUN_STATUS) status!: RunStatus;
  @ApiPropertyOptional({ description: 'Node or instance whose prompt was edited for the fork.', example: 'draft' })
  editedNode?: string;
}

export class RunForks {
  @ApiProperty({ type: [RunFork], description: 'Forks, newest first.' }) forks!: RunFork[];
}

/** Outcome of the cancel of a node's Task when its run was canceled. */
export class CanceledNode implements CanceledChild {
  @ApiProperty({ example: 'writer' }) node!: string;
  @ApiPropertyOptional({ description: 'Instance, if the node has more than one.', example: 'writer@2' })
  instance?: string;
  @ApiProperty({ example: 'https://agents.example/writer' }) agentUrl!: string;
  @ApiPropertyOptional({ example: CHILD }) taskId?: string;
  @ApiProperty({ enum: OUTCOMES }) outcome!: CallCancelOutcome;
}

export class CanceledRun extends StartedRun {
  @ApiProperty(RUN_STATUS) status!: RunStatus;
  @ApiProperty({ type: [CanceledNode] }) children!: CanceledNode[];
}

class RunFailure implements WorkflowFailure {
  @ApiProperty({ type: String, description: 'Kind of the failure, as in `retry`.', example: 'timeout' })
  kind!: FailureKind;
  @ApiPropertyOptional({ example: 'writer' }) node?: string;
  @ApiPropertyOptional({ description: 'Instance that failed, if the node has more than one.', example: 'writer@2' })
  instance?: string;
  @ApiProperty({ example: 'node "writer": the model gave no answer' }) message!: string;
}

/** A run in a list, without its nodes. */
export class RunSummary extends StartedRun {
  @ApiProperty({ example: 'greeting' }) workflow!: string;
  @ApiPropertyOptional({
    description: 'Revision of the workflow that the run was started with; absent if the run names none.',
    example: '7',
  })
  revision?: string;
  @ApiProperty(RUN_STATUS) status!: RunStatus;
  @ApiProperty({ example: '0d5f3a52-8c0e-4f0b-9a53-1f6f1c1d2e3f' }) contextId!: string;
  @ApiProperty({ ...OBJECT, example: { name: 'Ada' } }) inputs!: JsonObject;
  @ApiPropertyOptional(ARTIFACTS) result?: Artifact[];
  @ApiPropertyOptional({ type: RunFailure }) error?: RunFailure;
  @ApiPropertyOptional({ type: RunWaitView, description: 'Question, time or slot that the run waits for.' })
  waitsFor?: RunWaitView;
  @ApiPropertyOptional({
    type: RunUsage,
    description: 'Calls of models of the run and its child runs; absent if there are none.',
  })
  usage?: RunUsage;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}

/** Progress of a search through the runs, newest first. */
class RunSearchProgress {
  @ApiProperty({ type: 'integer', description: 'Number of runs that were searched for this page.', example: 10_000 })
  searched!: number;
  @ApiPropertyOptional({
    ...TIME,
    description: 'Last update of the oldest run that was searched; absent if no further runs follow.',
  })
  until?: string;
}

export class RunPage {
  @ApiProperty({ type: [RunSummary] }) runs!: RunSummary[];
  @ApiProperty({
    description: 'Empty on the last page. With `search`, a page with fewer runs, or none, may have a next page.',
    example: '',
  })
  nextPageToken!: string;
  @ApiPropertyOptional({ description: 'Progress of the search; absent without `search`.' })
  search?: RunSearchProgress;
}

class RunNodeWait implements NodeWait {
  @ApiProperty({ enum: ['input-required', 'auth-required', 'timer', 'retry'] }) state!: NodeWait['state'];
  @ApiPropertyOptional({
    description: 'Message of the agent; for a node with a list, the questions of its entries, one per line.',
    example: 'Which language?',
  })
  message?: string;
  @ApiPropertyOptional({ ...TIME, description: 'Time at which the wait ends.' }) until?: string;
}

export class RunNode implements NodeView {
  @ApiProperty({ enum: NODE_STATUSES }) status!: NodeStatus;
  @ApiProperty({ type: 'integer', example: 1 }) attempts!: number;
  @ApiPropertyOptional({ example: CHILD }) taskId?: string;
  @ApiProperty({ example: 'https://parley.example/a2a/workflows/greeting/nodes/writer' }) agentUrl!: string;
  @ApiPropertyOptional({ description: 'Reason to wait: an answer, a time, or a retry.' })
  waitsFor?: RunNodeWait;
  @ApiProperty(ARTIFACTS) artifacts!: Artifact[];
  @ApiPropertyOptional({ example: 'the model gave no answer' }) error?: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'Number of instances, in all and by status, of a node that runs more than once.',
    example: { total: 3, completed: 2, failed: 1 },
  })
  counts?: InstanceCounts;
  @ApiPropertyOptional({ ...RUN_ID, description: 'Run from which the result was taken over.' }) origin?: string;
  @ApiPropertyOptional(TIME) startedAt?: string;
  @ApiPropertyOptional(TIME) finishedAt?: string;
}

/** Response with one node of a run and its input. */
export class RunNodeDetail extends RunNode implements NodeDetail {
  @ApiProperty({ example: 'writer' }) id!: string;
  @ApiProperty({ example: 'agent' }) type!: string;
  @ApiPropertyOptional({
    type: 'array',
    items: OBJECT,
    description: 'A2A Parts; absent if the node was never started.',
    example: PARTS,
  })
  input?: Part[];
}

class InstanceWait {
  @ApiProperty({ example: 'timer' }) state!: string;
  @ApiPropertyOptional(TIME) until?: string;
}

class RunInstance implements InstanceView {
  @ApiProperty({ example: 'draft@2' }) instance!: string;
  @ApiProperty({ example: 'draft' }) node!: string;
  @ApiProperty({ enum: NODE_STATUSES }) status!: NodeStatus;
  @ApiProperty({ type: 'integer', example: 1 }) attempts!: number;
  @ApiPropertyOptional({ example: CHILD }) taskId?: string;
  @ApiPropertyOptional({ type: RunFailure }) error?: RunFailure;
  @ApiPropertyOptional({ enum: ['off', 'broken', 'out-of-reach', 'failure', 'canceled'] }) because?: SkipReason;
  @ApiPropertyOptional({ description: 'Reason to wait, and time at which the wait ends.' }) waitsFor?: InstanceWait;
  @ApiPropertyOptional({ description: 'Run from which the result was taken over.', example: CHILD }) origin?: string;
  @ApiPropertyOptional(TIME) startedAt?: string;
  @ApiPropertyOptional(TIME) finishedAt?: string;
}

export class RunInstances {
  @ApiProperty({ type: [RunInstance], description: 'Instances in the order of their creation.' })
  instances!: RunInstance[];
  @ApiProperty({ description: 'Empty on the last page.', example: '' }) nextPageToken!: string;
}

@ApiExtraModels(RunNode)
export class RunDetail extends RunSummary implements RunView {
  @ApiPropertyOptional({ ...RUN_ID, description: 'Original run, if this run is a rerun.' }) origin?: string;
  @ApiPropertyOptional({ type: RerunEdit, description: 'Edited prompt, if this run is a rerun with one.' })
  edit?: RerunEdit;
  @ApiPropertyOptional({ type: RunBudgetView, description: 'Budget of the run; absent: it has none of its own.' })
  budget?: RunBudgetView;
  @ApiPropertyOptional({ type: [CanceledNode], description: 'Outcome of the cancel for each remote Task.' })
  children?: CanceledNode[];
  @ApiProperty({ type: 'object', additionalProperties: { $ref: getSchemaPath(RunNode) } })
  nodes!: Record<string, RunNode>;
  @ApiProperty({
    ...OBJECT,
    description: 'Inputs, and the text of each node.',
    example: { topic: 'world', writer: 'Hello, world!' },
  })
  state!: JsonObject;
  @ApiProperty({ type: 'object', additionalProperties: ARTIFACTS }) artifacts!: Record<string, Artifact[]>;
  @ApiProperty({ description: 'Id of the trace of the run.', example: '4bf92f3577b34da6a3ce929d0e0e4736' })
  trace_id!: string;
}
