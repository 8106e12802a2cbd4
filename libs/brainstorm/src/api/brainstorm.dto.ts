import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { ProcessListing } from '#libs/durable';
import { PageQuery, QueryWord } from '#libs/http-server';
import { firstData, isJsonObject, type Task, type TaskState, withoutUserinfo } from '#libs/protocol';
import type { StoredTask, TaskHeader } from '#libs/tasks';
import { AWAITED_STATUS_KEY } from '../brainstorm-ending.js';
import { BRAINSTORM_PATH } from '../brainstorm-executor.js';
import type { BrainstormProgress, BrainstormStatus, PassTurn } from '../brainstorm-progress.js';
import { specIn } from '../brainstorm-spec.js';
import type { AgentTokenUsage, StoppedAgent } from '../brainstorm-steps.js';
import {
  type CanonicalState,
  type Provenance,
  SEVERITIES,
  type Severity,
  type Source,
} from '../core/canonical-state.js';
import { type BrainstormRole, ROLES } from '../core/role.js';

/** Task states that a brainstorm of each status can have. */
const STATES_OF: Record<BrainstormStatus, readonly TaskState[]> = {
  active: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
  converged: ['TASK_STATE_INPUT_REQUIRED'],
  approved: ['TASK_STATE_COMPLETED'],
  failed: ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED'],
  canceled: ['TASK_STATE_CANCELED'],
};

const STATUSES = Object.keys(STATES_OF) as BrainstormStatus[];

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' };
const COUNT = { type: 'integer', example: 2 } as const;
const CONFIDENCE = { minimum: 0, maximum: 1, example: 0.8 };
const ROLE = { enum: ROLES };

/** Query parameters for listing brainstorms. */
export class BrainstormQuery extends PageQuery {
  @QueryWord(STATUSES)
  status?: BrainstormStatus;
}

export class BrainstormId {
  @ApiProperty({ description: 'A2A taskId of the brainstorm.', example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e' })
  brainstormId!: string;
}

/** Outcome of canceling the agent that was active when its brainstorm ended. */
class StoppedAgentView implements StoppedAgent {
  @ApiProperty({ example: 'ann' }) agent!: string;
  @ApiPropertyOptional({ example: '019a1f0e-5b7b-7d10-8e11-2b3c4d5e6f70' }) taskId?: string;
  @ApiProperty({ type: String, example: 'acknowledged' }) outcome!: StoppedAgent['outcome'];
}

/** Answer to a request that continues, approves or cancels a brainstorm. */
export class BrainstormStatusReport extends BrainstormId {
  @ApiProperty({ enum: STATUSES }) status!: BrainstormStatus;
  @ApiPropertyOptional({ type: [StoppedAgentView] }) stopped?: StoppedAgent[];
}

/** Brainstorm in a list, without its state. */
class BrainstormSummary extends BrainstormId {
  @ApiProperty({ enum: STATUSES }) status!: BrainstormStatus;
  @ApiProperty({ ...COUNT, description: 'Number of the last complete pass.' }) iteration!: number;
  @ApiProperty({ example: 'A library that lends tools' }) idea!: string;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}

export class BrainstormPage {
  @ApiProperty({ type: [BrainstormSummary] }) brainstorms!: BrainstormSummary[];
  @ApiProperty({ description: 'Empty on the last page.', example: '' }) nextPageToken!: string;
}

class ParticipantView {
  @ApiProperty({ example: 'ann' }) name!: string;
  @ApiProperty(ROLE) role!: BrainstormRole;
  @ApiProperty({ example: 'openai-compatible' }) provider!: string;
  @ApiProperty({ example: 'llama-4' }) model!: string;
  @ApiProperty({ type: [String], example: ['security'] }) skills!: string[];
}

/** Agent of a brainstorm. */
class BrainstormAgentView extends ParticipantView {
  @ApiProperty({ example: 'workflows/architect' }) agent!: string;
}

class StateAgentView extends ParticipantView {
  @ApiProperty({ example: 'agent-1' }) agent_id!: string;
}

class PlanStepView {
  @ApiProperty({ example: 'Find a room' }) title!: string;
  @ApiProperty({ example: 'Ask the town hall for a room with a workbench.' }) description!: string;
}

class RiskView {
  @ApiProperty({ example: 'Tools come back broken' }) text!: string;
  @ApiProperty({ enum: SEVERITIES }) severity!: Severity;
  @ApiProperty() resolved!: boolean;
}

class StateMetrics {
  @ApiProperty(CONFIDENCE) confidence!: number;
}

class StateMeta {
  @ApiProperty(COUNT) iteration!: number;
  @ApiProperty({ type: [StateAgentView] }) agents!: StateAgentView[];
}

/** State that the agents share. */
class BrainstormStateView implements CanonicalState {
  @ApiProperty({ example: 'A library that lends tools' }) idea!: string;
  @ApiProperty({ example: 'A catalogue, a room and members.' }) architecture!: string;
  @ApiProperty({ type: [PlanStepView] }) execution_plan!: PlanStepView[];
  @ApiProperty({ type: [RiskView] }) risks!: RiskView[];
  @ApiProperty({ type: [String], example: ['Tools are returned'] }) assumptions!: string[];
  @ApiProperty({ type: [String], example: ['Who pays for repairs?'] }) open_questions!: string[];
  @ApiProperty() metrics!: StateMetrics;
  @ApiProperty() meta!: StateMeta;
}

class SourceView implements Source {
  @ApiProperty({ example: 'ann' }) agent!: string;
  @ApiProperty(ROLE) role!: BrainstormRole;
  @ApiProperty(COUNT) iteration!: number;
}

/** Tokens that an agent reports for the calls of its model. */
class TokenUsageView implements AgentTokenUsage {
  @ApiProperty(COUNT) inputTokens!: number;
  @ApiProperty(COUNT) outputTokens!: number;
}

class PassAgentView {
  @ApiProperty({ example: 'ann' }) agent!: string;
  @ApiProperty(ROLE) role!: BrainstormRole;
  @ApiProperty({ enum: ['pending', 'running', 'completed', 'failed', 'canceled'] }) status!: PassTurn['status'];
  @ApiPropertyOptional({ example: 'the agent gave no state' }) error?: string;
  @ApiPropertyOptional({ ...COUNT, description: 'Number of answers that the agent sent back to its model.' })
  repairs?: number;
  @ApiPropertyOptional() usage?: TokenUsageView;
}

class PassView {
  @ApiProperty(COUNT) iteration!: number;
  @ApiProperty({ type: [PassAgentView] }) agents!: PassAgentView[];
  @ApiPropertyOptional({ ...CONFIDENCE, description: 'Present once the pass is complete.' }) confidence?: number;
}

class BrainstormFailure {
  @ApiPropertyOptional({ example: 'ann' }) agent?: string;
  @ApiProperty({ example: 'the agent gave no state' }) message!: string;
}

/** Brainstorm with its state, its passes, and its provenance. */
@ApiExtraModels(SourceView)
export class BrainstormView extends BrainstormStatusReport {
  @ApiProperty({ ...COUNT, description: 'Number of the last complete pass.' }) iteration!: number;
  @ApiProperty(COUNT) maxIterations!: number;
  @ApiProperty({ type: [BrainstormAgentView] }) agents!: BrainstormAgentView[];
  @ApiProperty({ type: BrainstormStateView }) state!: CanonicalState;
  @ApiProperty({
    type: 'object',
    description: 'Agent that last set each part of the state, by path, as in `risks[0]`.',
    additionalProperties: { $ref: getSchemaPath(SourceView) },
  })
  provenance!: Provenance;
  @ApiProperty({ type: [PassView] }) passes!: PassView[];
  @ApiPropertyOptional({ description: 'Reason for the convergence, in one sentence.', example: 'All agents agree.' })
  convergence?: string;
  @ApiPropertyOptional() error?: BrainstormFailure;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}

/** Returns a brainstorm as callers see it. */
export function brainstormView(header: TaskHeader, progress: BrainstormProgress): BrainstormView {
  const { spec, state, verdict, failure, stopped } = progress;
  return {
    brainstormId: header.taskId,
    status: progress.status,
    iteration: state.meta.iteration,
    maxIterations: spec.maxIterations,
    agents: spec.agents.map(({ agent, name, role, llm: { provider, model }, skills }) => {
      return { agent: withoutUserinfo(agent), name, role, provider, model, skills };
    }),
    state,
    provenance: progress.provenance,
    passes: progress.passes.map(({ iteration, agents, confidence }) => ({
      iteration,
      agents: agents.map(({ agent, role, status, error, repairs, usage }) => ({
        agent,
        role,
        status,
        ...(error !== undefined && { error }),
        ...(repairs !== undefined && { repairs }),
        ...(usage && { usage }),
      })),
      ...(confidence !== undefined && { confidence }),
    })),
    ...(verdict?.converged && { convergence: verdict.sentence }),
    ...(failure && { error: failure }),
    ...(stopped && { stopped }),
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}

/**
 * Rules by which `Processes.listPage` finds the Tasks that are brainstorms, filters them by status, and summarizes
 * each.
 */
export const BRAINSTORMS: ProcessListing<BrainstormStatus, BrainstormSummary> = {
  agent: BRAINSTORM_PATH,
  states: STATES_OF,
  statusOf: ({ task }) => brainstormStatus(task),
  summary,
};

function summary({ header, task }: StoredTask): BrainstormSummary {
  const state = firstData(task.artifacts?.[0]?.parts ?? []);
  const iteration = isJsonObject(state) ? (state as unknown as CanonicalState).meta.iteration : 0;
  return {
    brainstormId: header.taskId,
    status: brainstormStatus(task),
    iteration,
    idea: specIn(task.metadata).idea,
    createdAt: header.createdAt.toISOString(),
    updatedAt: header.updatedAt.toISOString(),
  };
}

function brainstormStatus({ status }: Task): BrainstormStatus {
  if (status.state === 'TASK_STATE_INPUT_REQUIRED') {
    return status.message?.metadata?.[AWAITED_STATUS_KEY] === 'failed' ? 'failed' : 'converged';
  }
  return STATUSES.find((word) => STATES_OF[word].includes(status.state)) ?? 'failed';
}
