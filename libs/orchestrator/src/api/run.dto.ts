import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { CallCancelOutcome } from '#libs/agent-calls';
import { PageQuery, QueryFlag, QueryText, QueryTime, QueryWord, refuseTooDeep } from '#libs/http';
import { type Artifact, isJsonObject, type JsonObject, type Part, type TaskState } from '#libs/protocol';
import { IsObject, IsOptional } from 'class-validator';
import type { CanceledChild, NodeStatus, RunError, RunStatus } from '../node-run.js';
import type { NodeDetail, NodeView, RunView } from '../run-view.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';

/** The states of a run's Task that a word for a run stands for. */
export const STATES_OF: Record<RunStatus, readonly TaskState[]> = {
  running: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
  'input-required': ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'],
  completed: ['TASK_STATE_COMPLETED'],
  failed: ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED'],
  canceled: ['TASK_STATE_CANCELED'],
};

/** What a run starts with. */
export class RunBody {
  static readonly optional = true;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'The inputs by node id.',
    example: { topic: 'hello world' },
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  inputs?: JsonObject;

  /**
   * What is no object with an object of inputs stands for no inputs.
   * @throws ProblemError 400 only for inputs that are nested too deep
   */
  static lenient(body: unknown): RunBody {
    refuseTooDeep(body);
    const inputs = isJsonObject(body) && isJsonObject(body.inputs) ? body.inputs : {};
    return Object.assign(new RunBody(), { inputs });
  }
}

/** How a run is watched that starts. */
export class RunStreamQuery {
  @QueryFlag({ description: 'Whether the run is canceled when its reader leaves.' })
  cancelOnDisconnect = false;
}

const MAX_SEARCH = 100;

/** Which runs are asked for. */
export class RunQuery extends PageQuery {
  @QueryText((name) => WORKFLOW_NAME.test(name), 'is not a name of a workflow', { example: 'greeting' })
  workflow?: string;

  @QueryWord(Object.keys(STATES_OF))
  status?: RunStatus;

  @QueryText((text) => text.length <= MAX_SEARCH, `must have at most ${MAX_SEARCH} characters`, {
    description: "What the workflow's name has in it, in any case of letters, or the run's id begins with.",
    example: 'greet',
  })
  q?: string;

  @QueryTime({ description: 'Runs that have changed since then.', example: '2026-01-31T09:30:00Z' })
  since?: Date;
}

const RUN_STATUS = { enum: Object.keys(STATES_OF), example: 'completed' };
const NODE_STATUSES = ['pending', 'running', 'input-required', 'completed', 'failed', 'canceled', 'skipped'];
const OUTCOMES = ['acknowledged', 'refused', 'unreachable', 'not-started', 'unknown'];
const RUN_ID = { description: 'The A2A taskId of the run.', example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e' };
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

/** What became of a remote Task when its run was canceled. */
export class CanceledNode implements CanceledChild {
  @ApiProperty({ example: 'writer' }) node!: string;
  @ApiProperty({ example: 'https://agents.example/writer' }) agentUrl!: string;
  @ApiPropertyOptional({ example: CHILD }) taskId?: string;
  @ApiProperty({ enum: OUTCOMES }) outcome!: CallCancelOutcome;
}

export class CanceledRun extends StartedRun {
  @ApiProperty(RUN_STATUS) status!: RunStatus;
  @ApiProperty({ type: [CanceledNode] }) children!: CanceledNode[];
}

class RunFailure implements RunError {
  @ApiPropertyOptional({ example: 'writer' }) node?: string;
  @ApiProperty({ example: 'node "writer": the model gave no answer' }) message!: string;
}

/** A run as a list shows it: without its nodes. */
export class RunSummary extends StartedRun {
  @ApiProperty({ example: 'greeting' }) workflow!: string;
  @ApiProperty(RUN_STATUS) status!: RunStatus;
  @ApiProperty({ example: '0d5f3a52-8c0e-4f0b-9a53-1f6f1c1d2e3f' }) contextId!: string;
  @ApiProperty({ ...OBJECT, example: { topic: 'hello world' } }) inputs!: JsonObject;
  @ApiPropertyOptional(ARTIFACTS) result?: Artifact[];
  @ApiPropertyOptional({ type: RunFailure }) error?: RunError;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}

export class RunPage {
  @ApiProperty({ type: [RunSummary] }) runs!: RunSummary[];
  @ApiProperty({ description: 'Empty on the last page.', example: '' }) nextPageToken!: string;
}

class NodeWait {
  @ApiProperty({ enum: ['input-required', 'auth-required'] }) state!: 'input-required' | 'auth-required';
  @ApiProperty({ example: 'Which language?' }) message!: string;
}

export class RunNode implements NodeView {
  @ApiProperty({ enum: NODE_STATUSES }) status!: NodeStatus;
  @ApiProperty({ type: 'integer', example: 1 }) attempts!: number;
  @ApiPropertyOptional({ example: CHILD }) taskId?: string;
  @ApiProperty({ example: 'https://parley.example/a2a/workflows/greeting/nodes/writer' }) agentUrl!: string;
  @ApiPropertyOptional({ description: 'While it is `input-required`: what its agent waits for, and what it says.' })
  waitsFor?: NodeWait;
  @ApiProperty(ARTIFACTS) artifacts!: Artifact[];
  @ApiPropertyOptional({ example: 'the model gave no answer' }) error?: string;
  @ApiPropertyOptional(TIME) startedAt?: string;
  @ApiPropertyOptional(TIME) finishedAt?: string;
}

/** A node of a run by itself. */
export class RunNodeDetail extends RunNode implements NodeDetail {
  @ApiProperty({ example: 'writer' }) id!: string;
  @ApiProperty({ example: 'agent' }) type!: string;
  @ApiPropertyOptional({
    type: 'array',
    items: OBJECT,
    description: 'A2A Parts; absent while it was never started.',
    example: PARTS,
  })
  input?: Part[];
}

@ApiExtraModels(RunNode)
export class RunDetail extends RunSummary implements RunView {
  @ApiPropertyOptional({ type: [CanceledNode], description: 'What became of each remote Task, once it was canceled.' })
  children?: CanceledNode[];
  @ApiProperty({ type: 'object', additionalProperties: { $ref: getSchemaPath(RunNode) } })
  nodes!: Record<string, RunNode>;
  @ApiProperty({
    ...OBJECT,
    description: 'The inputs, and the text of each node.',
    example: { topic: 'world', writer: 'Hello, world!' },
  })
  state!: JsonObject;
  @ApiProperty({ type: 'object', additionalProperties: ARTIFACTS }) artifacts!: Record<string, Artifact[]>;
}
