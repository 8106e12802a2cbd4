import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { withMembers } from '#libs/http';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { ArrayMaxSize, IsArray, IsIn, IsNumber, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import type { WorkflowDefinition, WorkflowRevision } from '../workflow.js';
import type { WorkflowProblem } from '../workflow-problem.js';

const MAX_NODES = 1000;
const MAX_EDGES = 10_000;
const IDENTIFIER = '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$';

export class PositionBody {
  @ApiProperty({ example: 120 })
  @IsNumber({}, { message: 'must be a number' })
  x!: number;

  @ApiProperty({ example: 80 })
  @IsNumber({}, { message: 'must be a number' })
  y!: number;
}

export class WorkflowNodeBody {
  @ApiProperty({ pattern: IDENTIFIER, example: 'writer' })
  @IsString({ message: 'must be a string' })
  id!: string;

  @ApiProperty({ examples: ['input', 'agent', 'tool', 'output', 'external', 'script'] })
  @IsString({ message: 'must be a string' })
  type!: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, example: { prompt: 'Greet {{topic}}' } })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  config?: JsonObject;

  @ApiPropertyOptional({ type: PositionBody, description: 'Where an editor draws the node.' })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  position?: PositionBody;

  static from(sent: JsonObject): WorkflowNodeBody {
    const { position } = sent;
    const read = isJsonObject(position) ? withMembers(PositionBody, position) : position;
    return Object.assign(withMembers(WorkflowNodeBody, sent), { position: read });
  }
}

export class WorkflowEdgeBody {
  @ApiProperty({ description: 'The id of a node.', example: 'topic' })
  @IsString({ message: 'must be a string' })
  from!: string;

  @ApiProperty({ description: 'The id of a node.', example: 'writer' })
  @IsString({ message: 'must be a string' })
  to!: string;
}

/** A workflow as callers send it. Members that are not named here are left out (`unknownMembers` tells of them). */
export class WorkflowBody {
  @ApiPropertyOptional({
    description: 'The JSON Schema of definitions, for editors; it is kept.',
    example: 'https://parley.example/schemas/workflow.json',
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  $schema?: string;

  @ApiProperty({
    pattern: IDENTIFIER,
    description: 'Where the path names the workflow, the path counts.',
    example: 'greeting',
  })
  @IsString({ message: 'must be a string' })
  name!: string;

  @ApiPropertyOptional({ example: 'Greets whoever it is told of.' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  description?: string;

  @ApiProperty({ type: [WorkflowNodeBody], maxItems: MAX_NODES })
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MAX_NODES, { message: `must not have more than ${MAX_NODES} entries` })
  @ValidateNested({ each: true })
  nodes!: WorkflowNodeBody[];

  @ApiPropertyOptional({ type: [WorkflowEdgeBody], maxItems: MAX_EDGES })
  @IsOptional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MAX_EDGES, { message: `must not have more than ${MAX_EDGES} entries` })
  @ValidateNested({ each: true })
  edges?: WorkflowEdgeBody[];

  @ApiPropertyOptional({ enum: ['cancel', 'continue'], default: 'cancel' })
  @IsOptional()
  @IsIn(['cancel', 'continue'], { message: 'must be "cancel" or "continue"' })
  onFailure?: 'cancel' | 'continue';

  /** The whole of it, with members that are not known. */
  readonly sent?: JsonObject;

  static from(sent: JsonObject): WorkflowBody {
    const { $schema, name, description, nodes, edges, onFailure } = sent;
    const members = {
      sent,
      ...($schema !== undefined && { $schema }),
      name,
      description,
      nodes: eachFrom(nodes, MAX_NODES, WorkflowNodeBody.from),
      edges: eachFrom(edges, MAX_EDGES, (edge) => withMembers(WorkflowEdgeBody, edge)),
      onFailure,
    };
    return Object.assign(new WorkflowBody(), members);
  }
}

/** A workflow that takes the place of another. The path names it, whatever the body says. */
export class ReplacementWorkflowBody extends WorkflowBody {
  static override from(sent: JsonObject): WorkflowBody {
    return WorkflowBody.from({ ...sent, name: 'named-by-its-path' });
  }
}

/** One thing that is wrong with a definition. */
export class WorkflowProblemView {
  @ApiProperty({ enum: ['error', 'warning'] })
  severity!: 'error' | 'warning';

  @ApiProperty({ examples: ['UNKNOWN_REFERENCE', 'UNCONNECTED', 'INVALID_CONFIG'] })
  code!: string;

  @ApiProperty({ example: 'node "writer": {{nope}} stands for nothing' })
  detail!: string;

  @ApiProperty({ examples: ['nodes[1].config.prompt'] })
  path!: string;

  @ApiPropertyOptional({ description: 'The id of the node that it is about.', example: 'writer' })
  node?: string;

  @ApiPropertyOptional({ description: 'The place of the edge that it is about.', example: 0 })
  edge?: number;

  @ApiPropertyOptional({ description: 'Where in the text at the path it begins, in UTF-16 code units.', example: 6 })
  offset?: number;
}

/** What is wrong with a definition; errors first. */
export class WorkflowProblems {
  @ApiProperty({ type: [WorkflowProblemView] })
  problems!: WorkflowProblem[];
}

/** A workflow as it is shown. */
export class WorkflowView extends WorkflowBody {
  @ApiProperty({ description: 'Grows with every save.', example: '7' })
  revision!: string;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

/** A workflow as a save answers it. */
export class SavedWorkflowView extends WorkflowView {
  @ApiPropertyOptional({ type: [WorkflowProblemView], description: 'What its author is told of; absent: nothing.' })
  problems?: WorkflowProblem[];
}

/** The definition that a valid body stands for. */
export function definitionOf(body: WorkflowBody): WorkflowDefinition {
  const { $schema, name, description, nodes, edges, onFailure } = body;
  return {
    ...(isGiven($schema) && { $schema }),
    name,
    ...(isGiven(description) && { description }),
    nodes: nodes.map(({ id, type, config, position }) => ({
      id,
      type,
      config: config ?? {},
      ...(isGiven(position) && { position: { x: position.x, y: position.y } }),
    })),
    edges: (edges ?? []).map(({ from, to }) => ({ from, to })),
    ...(isGiven(onFailure) && { onFailure }),
  };
}

/** What is shown of a saved workflow. */
export function workflowView({ definition, revision, createdAt, updatedAt }: WorkflowRevision): WorkflowView {
  return { ...definition, revision, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** An entry that is no object lacks every member. One entry more than is allowed is enough to refuse the rest unread. */
function eachFrom<T>(values: JsonValue | undefined, limit: number, from: (value: JsonObject) => T): unknown {
  if (!Array.isArray(values)) return values;
  return values.slice(0, limit + 1).map((it) => from(isJsonObject(it) ? it : {}));
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}
