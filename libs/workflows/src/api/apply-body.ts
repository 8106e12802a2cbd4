import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsOptional,
  IsString,
  Matches,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { ObjectOutcome } from '#libs/configuration';
import { type ProblemEntry, QueryFlag, withMembers } from '#libs/http-server';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { WorkflowProblem } from '#libs/workflow-definition';
import { WorkflowBody, WorkflowProblemView } from './workflow-body.js';

/** Kinds of the objects that may be applied together with workflows. */
const OBJECT_KINDS = ['agent', 'credential', 'model', 'mcp-server', 'key', 'schedule', 'trigger', 'limit'];

/** Maximum number of workflows in one request, and also of other objects. */
const MOST_WORKFLOWS = 500;
const MARK = /^[\w.:/-]{1,200}$/;
/** Pattern of the revision of an object, which is the time of its last save. */
const OBJECT_REVISION = /^[\w.:+-]{1,64}$/;
const REVISION = /^[1-9]\d{0,17}$/;

/** Workflow in an apply request, with the revision that the caller expects to replace. */
export class SentWorkflow {
  @ApiProperty({ type: WorkflowBody })
  @IsDefined({ message: 'must be a definition' })
  @ValidateNested()
  definition!: WorkflowBody;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    pattern: REVISION.source,
    description: 'Expected current revision; null: the workflow must not exist; absent: any revision.',
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

/** Object of another kind in an apply request, for example a registered agent. */
class SentObject {
  @ApiProperty({ enum: OBJECT_KINDS, description: 'Kind of the object.' })
  @IsString({ message: 'must be a text' })
  kind!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description:
      'The body with which the API of the kind creates the object; for an `agent` that of `POST /api/agents`.',
    example: { name: 'translator', url: 'https://agent.example.com/a2a' },
  })
  @ValidateBy({ name: 'jsonObject', validator: { validate: isJsonObject } }, { message: 'must be an object' })
  definition!: JsonObject;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    pattern: OBJECT_REVISION.source,
    description: 'Expected current revision; null: the object must not exist; absent: any revision.',
    example: '2026-11-30T08:00:00.000Z',
  })
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @Matches(OBJECT_REVISION, { message: 'must be a revision, or null' })
  revision?: string | null;

  static from(sent: JsonObject): SentObject {
    return withMembers(SentObject, sent);
  }
}

/** Body of `POST /api/apply`: workflows and other objects that are saved together. */
export class ApplyBody {
  @ApiProperty({ type: [SentWorkflow], maxItems: MOST_WORKFLOWS })
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_WORKFLOWS, { message: `must not have more than ${MOST_WORKFLOWS} entries` })
  @ValidateNested({ each: true })
  workflows!: SentWorkflow[];

  @ApiPropertyOptional({
    type: [SentObject],
    maxItems: MOST_WORKFLOWS,
    description:
      'Objects of other kinds, which are saved before the workflows that name them; they need the scope `admin`. ' +
      'Absent: `prune` deletes workflows only.',
  })
  @IsOptional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_WORKFLOWS, { message: `must not have more than ${MOST_WORKFLOWS} entries` })
  @ValidateNested({ each: true })
  objects?: SentObject[];

  @ApiPropertyOptional({
    pattern: MARK.source,
    description: 'Mark of the origin of the workflows and objects, such as a folder.',
    example: 'team-a/workflows',
  })
  @IsOptional()
  @Matches(MARK, { message: 'must have 1 to 200 letters, digits and .:/_-' })
  mark?: string;

  @ApiPropertyOptional({
    description: 'True to delete workflows and objects that have the same mark and are not in the request.',
    default: false,
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  prune?: boolean;

  @ApiPropertyOptional({
    description:
      'False: nothing is saved if a workflow or object would replace a different one without this mark, ' +
      'unless its expected revision is sent.',
    default: true,
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  adopt?: boolean;

  /** Reads the request body. A member that is null counts as absent. */
  static from(sent: JsonObject): ApplyBody {
    const { workflows, objects } = sent;
    const given = Object.entries(sent).filter(([, value]) => value !== null);
    return Object.assign(withMembers(ApplyBody, Object.fromEntries(given)), {
      workflows: readList(workflows, (it) => SentWorkflow.from(it)),
      ...(isGiven(objects) && { objects: readList(objects, (it) => SentObject.from(it)) }),
    });
  }
}

function isGiven(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

/**
 * Reads the entries of a list, at most one more than the maximum. The extra entry lets validation report a list that is
 * too long.
 */
function readList<T>(sent: JsonValue | undefined, read: (entry: JsonObject) => T): unknown {
  if (!Array.isArray(sent)) return sent;
  return sent.slice(0, MOST_WORKFLOWS + 1).map((it) => read(isJsonObject(it) ? it : {}));
}

const ACTIONS = ['created', 'updated', 'unchanged', 'deleted'] as const;

type ApplyAction = (typeof ACTIONS)[number];

class AppliedWorkflow {
  @ApiProperty({ example: 'greeting' }) name!: string;
  @ApiProperty({ enum: ACTIONS }) action!: ApplyAction;
  @ApiPropertyOptional({ description: 'Revision of the workflow now; absent if it was deleted.', example: '8' })
  revision?: string;
  @ApiPropertyOptional({
    type: [WorkflowProblemView],
    description: 'Warnings for the author; absent if there are none.',
  })
  problems?: WorkflowProblem[];
}

class ObjectProblemView {
  @ApiProperty({ example: 'auth' }) path!: string;
  @ApiProperty({ example: 'names a credential that does not exist' }) detail!: string;
}

class AppliedObject {
  @ApiProperty({ enum: OBJECT_KINDS }) kind!: string;
  @ApiProperty({ example: 'translator' }) name!: string;
  @ApiProperty({ enum: ACTIONS }) action!: ApplyAction;
  @ApiPropertyOptional({
    description: 'Revision of the object now; absent if there is none.',
    example: '2026-11-30T08:00:00.000Z',
  })
  revision?: string;
  @ApiPropertyOptional({
    type: [ObjectProblemView],
    description: 'Warnings for the author; absent if there are none.',
  })
  problems?: ProblemEntry[];
}

/** Response of `POST /api/apply`: the outcome for each workflow, sorted by name, and for each other object. */
export class AppliedView {
  @ApiProperty({ type: [AppliedWorkflow] }) workflows!: AppliedWorkflow[];
  @ApiPropertyOptional({
    type: [AppliedObject],
    description: 'Objects of other kinds by kind and name; absent if the request has none.',
  })
  objects?: AppliedObject[];
}

/** Outcome for one workflow, with its warnings. */
export interface ApplyOutcome {
  name: string;
  action: ApplyAction;
  revision?: string;
  problems: WorkflowProblem[];
}

/** Returns the response for the outcomes of a request. @param objects absent if the request has no objects */
export function appliedView(workflows: readonly ApplyOutcome[], objects?: readonly ObjectOutcome[]): AppliedView {
  return {
    workflows: workflows.map(shownOutcome),
    ...(objects && { objects: objects.map(shownOutcome) }),
  };
}

function shownOutcome<T extends { problems: readonly unknown[] }>({ problems, ...outcome }: T) {
  return { ...outcome, ...(problems.length > 0 && { problems: [...problems] as T['problems'] }) };
}

/** Query parameters of `POST /api/apply`. */
export class ApplyQuery {
  @QueryFlag({ description: 'Dry run: reports the changes without applying them.' })
  dryRun = false;
}
