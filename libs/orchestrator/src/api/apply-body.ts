import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { withMembers } from '#libs/http';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsOptional,
  Matches,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { WorkflowProblem } from '../workflow-problem.js';
import { WorkflowBody, WorkflowProblemView } from './workflow-body.js';

const MOST_WORKFLOWS = 500;
const MARK = /^[\w.:/-]{1,200}$/;
const REVISION = /^[1-9]\d{0,17}$/;

/** A workflow to apply. */
export class SentWorkflow {
  @ApiProperty({ type: WorkflowBody })
  @IsDefined({ message: 'must be a definition' })
  @ValidateNested()
  definition!: WorkflowBody;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    pattern: REVISION.source,
    description: 'The revision that it has to have until now; null: there must be none. Absent: whichever it has.',
    example: '7',
  })
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @Matches(REVISION, { message: 'must be a revision, or null' })
  revision?: string | null;

  static from(sent: JsonObject): SentWorkflow {
    const definition = WorkflowBody.from(isJsonObject(sent['definition']) ? sent['definition'] : {});
    const revision = sent['revision'];
    return Object.assign(new SentWorkflow(), { definition, ...(revision !== undefined && { revision }) });
  }
}

/** Body of `POST /api/apply`: workflows that are saved together. */
export class ApplyBody {
  @ApiProperty({ type: [SentWorkflow], maxItems: MOST_WORKFLOWS })
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_WORKFLOWS, { message: `must not have more than ${MOST_WORKFLOWS} entries` })
  @ValidateNested({ each: true })
  workflows!: SentWorkflow[];

  @ApiPropertyOptional({
    pattern: MARK.source,
    description: 'Says of all of them where they come from, such as a folder.',
    example: 'team-a/workflows',
  })
  @IsOptional()
  @Matches(MARK, { message: 'must have 1 to 200 letters, digits and .:/_-' })
  mark?: string;

  @ApiPropertyOptional({
    description: 'Whether workflows of the same mark that were not sent are deleted.',
    default: false,
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  prune?: boolean;

  @ApiPropertyOptional({
    description:
      'False: a workflow that is there, was last applied under another mark or none, and differs is not replaced unless ' +
      'its expected revision is sent; nothing is saved then.',
    default: true,
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  adopt?: boolean;

  /** Reads a body. A member that is null counts as absent. */
  static from(sent: JsonObject): ApplyBody {
    const { workflows } = sent;
    const given = Object.entries(sent).filter(([, value]) => value !== null);
    const read = Array.isArray(workflows)
      ? workflows.slice(0, MOST_WORKFLOWS + 1).map((it) => SentWorkflow.from(isJsonObject(it) ? it : {}))
      : workflows;
    return Object.assign(withMembers(ApplyBody, Object.fromEntries(given)), { workflows: read });
  }
}

const ACTIONS = ['created', 'updated', 'unchanged', 'deleted'] as const;

export type ApplyAction = (typeof ACTIONS)[number];

class AppliedWorkflow {
  @ApiProperty({ example: 'greeting' }) name!: string;
  @ApiProperty({ enum: ACTIONS }) action!: ApplyAction;
  @ApiPropertyOptional({ description: 'The one that it has now; absent where it was deleted.', example: '8' })
  revision?: string;
  @ApiPropertyOptional({ type: [WorkflowProblemView], description: 'What its author is told of; absent: nothing.' })
  problems?: WorkflowProblem[];
}

/** Outcome for each workflow, by name. */
export class AppliedView {
  @ApiProperty({ type: [AppliedWorkflow] }) workflows!: AppliedWorkflow[];
}
