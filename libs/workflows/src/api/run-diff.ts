import { Injectable } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ApiCall } from '#libs/access';
import { Processes } from '#libs/durable';
import { malformedRequest, QueryText } from '#libs/http-server';
import type { LogAdmission } from '#libs/tasks';
import type { NodeStatus, RunStatus } from '#libs/workflow-engine';
import {
  type ComparedInput,
  type ComparedNode,
  type ComparedRunSummary,
  compareRuns,
  NODE_PARTS,
  type NodeComparison,
  RUN_PARTS,
  type RunComparison,
} from './run-comparison.js';
import { NODE_STATUSES, RUN_ID, STATES_OF } from './run.dto.js';
import { Runs } from './runs.js';

const LONGEST_ID = 200;
const DURATION = { type: 'integer', description: 'Milliseconds.', example: 1250 } as const;
const CUT = 'At most 2,000 characters.';

/** Query parameters of a comparison of runs. */
export class RunDiffQuery {
  @QueryText((text) => text.length > 0 && text.length <= LONGEST_ID, 'is not the id of a run', {
    description: 'Run that counts as the earlier one; default: the original run, if this run is a rerun.',
    example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e',
  })
  with?: string;
}

class ComparedRunView implements ComparedRunSummary {
  @ApiProperty(RUN_ID) runId!: string;
  @ApiProperty({ example: 'greeting' }) workflow!: string;
  @ApiPropertyOptional({ example: '7' }) revision?: string;
  @ApiProperty({ enum: Object.keys(STATES_OF), example: 'completed' }) status!: RunStatus;
  @ApiPropertyOptional({ ...RUN_ID, description: 'Original run, if this run is a rerun.' }) origin?: string;
  @ApiPropertyOptional({ description: CUT, example: 'node "writer": the model gave no answer' }) error?: string;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiPropertyOptional({ ...DURATION, description: 'Milliseconds from start to end; absent before the end.' })
  durationMs?: number;
}

class ComparedInputView implements ComparedInput {
  @ApiProperty({ example: 'topic' }) path!: string;
  @ApiPropertyOptional({ description: `${CUT} JSON, unless it is a text.`, example: 'tea' }) before?: string;
  @ApiPropertyOptional({ description: `${CUT} JSON, unless it is a text.`, example: 'coffee' }) after?: string;
}

class ComparedNodeView implements ComparedNode {
  @ApiProperty({ enum: NODE_STATUSES }) status!: NodeStatus;
  @ApiProperty({ type: 'integer', example: 1 }) attempts!: number;
  @ApiPropertyOptional(DURATION) durationMs?: number;
  @ApiPropertyOptional({ description: CUT, example: 'the model gave no answer' }) error?: string;
  @ApiPropertyOptional({ description: `Output, if it differs. ${CUT}`, example: 'Hello, world!' }) output?: string;
}

class NodeComparisonView implements NodeComparison {
  @ApiProperty({ example: 'writer' }) id!: string;
  @ApiProperty({ enum: NODE_PARTS, isArray: true, description: '`presence`: only one run has the node.' })
  differs!: NodeComparison['differs'];
  @ApiPropertyOptional({ type: ComparedNodeView }) before?: ComparedNode;
  @ApiPropertyOptional({ type: ComparedNodeView }) after?: ComparedNode;
}

/** Differences of two runs, as the API reports them. */
export class RunDiffView implements RunComparison {
  @ApiProperty({ type: ComparedRunView }) before!: ComparedRunSummary;
  @ApiProperty({ type: ComparedRunView }) after!: ComparedRunSummary;
  @ApiProperty({ enum: RUN_PARTS, isArray: true, description: 'What differs. Times are no difference.' })
  differs!: RunComparison['differs'];
  @ApiProperty({ type: [ComparedInputView], description: 'Inputs that differ.' }) inputs!: ComparedInput[];
  @ApiProperty({ type: [NodeComparisonView], description: 'All nodes of both runs.' }) nodes!: NodeComparison[];
  @ApiProperty({ description: 'True if values are cut, or inputs are left out.', example: false }) truncated!: boolean;
}

/** Compares two runs of a caller. */
@Injectable()
export class RunDiffs {
  constructor(
    private readonly runs: Runs,
    private readonly processes: Processes,
  ) {}

  /**
   * Compares a run with another run, or a rerun with its original run.
   * @param other id of the earlier run; absent: the original run of the rerun
   * @throws ProblemError 404 for an unknown run; 400 if `other` is absent and the run is no rerun
   */
  async diffRuns(runId: string, other: string | undefined, call: ApiCall): Promise<RunDiffView> {
    const room = new SummedLogs(this.processes.openRoom(call));
    const after = await this.runs.viewRun(runId, call, room);
    const before = other ?? after.origin;
    if (before === undefined)
      throw malformedRequest({ path: 'with', detail: 'is needed, because the run is not a rerun' });
    return compareRuns(await this.runs.viewRun(before, call, room), after);
  }
}

/**
 * Reserves memory for the logs of several runs that are in memory at the same time. Each reservation includes the logs
 * that were read before.
 */
class SummedLogs implements LogAdmission {
  private read = 0;

  constructor(private readonly room: LogAdmission) {}

  async admitBytes(bytes: number): Promise<void> {
    await this.room.admitBytes(this.read + bytes);
    this.read += bytes;
  }
}
