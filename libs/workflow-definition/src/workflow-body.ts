import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsNumber, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import { withMembers } from '#libs/http-server';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { IDENTIFIER, WorkflowNodeBody } from './workflow-node-body.js';
import type { WorkflowProblem } from './workflow-problem.js';
import type {
  Join,
  OutcomeFilter,
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNode,
  WorkflowRevision,
} from './workflow.js';

const OUTCOMES: OutcomeFilter[] = ['success', 'failure', 'always'];
const OUTCOME_RULE = 'must be "success", "failure" or "always"';

export class LoopBody {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 100, example: 5 })
  @IsNumber({}, { message: 'must be a number' })
  max_iterations!: number;

  @ApiPropertyOptional({ description: 'CEL that gives true or false.', example: 'nodes.review.data.good' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  exit_when?: string;

  @ApiPropertyOptional({ example: '10s' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  delay?: string;

  @ApiPropertyOptional({ enum: ['continue', 'fail'], default: 'continue' })
  @IsOptional()
  @IsIn(['continue', 'fail'], { message: 'must be "continue" or "fail"' })
  on_max?: 'continue' | 'fail';

  @ApiPropertyOptional({ example: 'There is no draft yet.' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  initial?: string;
}

export class WorkflowEdgeBody {
  @ApiProperty({ description: 'The id of a node.', example: 'topic' })
  @IsString({ message: 'must be a string' })
  from!: string;

  @ApiProperty({ description: 'The id of a node.', example: 'writer' })
  @IsString({ message: 'must be a string' })
  to!: string;

  @ApiPropertyOptional({ description: 'CEL that gives true or false.', example: "nodes.gate.data.decision == 'yes'" })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  when?: string;

  @ApiPropertyOptional({ enum: OUTCOMES, default: 'success' })
  @IsOptional()
  @IsIn(OUTCOMES, { message: OUTCOME_RULE })
  on?: OutcomeFilter;

  @ApiPropertyOptional({
    type: LoopBody,
    description: 'Makes the edge a loop, which repeats the nodes between its ends.',
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  loop?: LoopBody;

  static from(sent: JsonObject): WorkflowEdgeBody {
    const edge = withMembers(WorkflowEdgeBody, sent);
    const { loop } = sent;
    return isJsonObject(loop) ? Object.assign(edge, { loop: withMembers(LoopBody, loop) }) : edge;
  }
}

const MAX_NODES = 1000;
const MAX_EDGES = 10_000;
const MAX_EXITS = 100;

export class ExitBody {
  @ApiProperty({ description: 'The id of a node.', example: 'notify' })
  @IsString({ message: 'must be a string' })
  node!: string;

  @ApiPropertyOptional({ enum: OUTCOMES, default: 'always' })
  @IsOptional()
  @IsIn(OUTCOMES, { message: OUTCOME_RULE })
  on?: OutcomeFilter;
}

/** A workflow in a request body. Unknown members are dropped; `unknownMembers` reports them. */
export class WorkflowBody {
  @ApiPropertyOptional({
    description: 'URL of the JSON Schema of definitions, for editors; it is stored.',
    example: 'https://parley.example/schemas/workflow.json',
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  $schema?: string;

  @ApiProperty({
    pattern: IDENTIFIER,
    description: 'Name of the workflow; a name in the path takes precedence.',
    example: 'greeting',
  })
  @IsString({ message: 'must be a string' })
  name!: string;

  @ApiPropertyOptional({ example: 'Greets a person by name.' })
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

  @ApiPropertyOptional({ enum: [1, 2], default: 1, description: '2: `${…}` in strings is an expression.' })
  @IsOptional()
  @IsNumber({}, { message: 'must be a number' })
  language?: number;

  @ApiPropertyOptional({ description: 'Time limit of the whole run.', example: '2h' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  deadline?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of nodes that run at once.',
    example: 20,
  })
  @IsOptional()
  @IsNumber({}, { message: 'must be a number' })
  parallel?: number;

  @ApiPropertyOptional({ type: [ExitBody], maxItems: MAX_EXITS })
  @IsOptional()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MAX_EXITS, { message: `must not have more than ${MAX_EXITS} entries` })
  @ValidateNested({ each: true })
  onExit?: ExitBody[];

  /** The whole body, including unknown members. */
  readonly sent?: JsonObject;

  static from(sent: JsonObject): WorkflowBody {
    const { nodes, edges, onExit } = sent;
    const entries = {
      nodes: eachFrom(nodes, MAX_NODES, WorkflowNodeBody.from),
      edges: eachFrom(edges, MAX_EDGES, WorkflowEdgeBody.from),
      onExit: eachFrom(onExit, MAX_EXITS, (exit) => withMembers(ExitBody, exit)),
    };
    return Object.assign(withMembers(WorkflowBody, sent), { sent }, entries);
  }
}

/** Body of a replacement. The name comes from the path; the body's own name is ignored. */
export class ReplacementWorkflowBody extends WorkflowBody {
  static override from(sent: JsonObject): WorkflowBody {
    return WorkflowBody.from({ ...sent, name: 'named-by-its-path' });
  }
}

/** A problem of a definition. */
export class WorkflowProblemView {
  @ApiProperty({ enum: ['error', 'warning'] })
  severity!: 'error' | 'warning';

  @ApiProperty({ examples: ['UNKNOWN_REFERENCE', 'UNCONNECTED', 'INVALID_CONFIG'] })
  code!: string;

  @ApiProperty({ example: 'node "writer": {{nope}} stands for nothing' })
  detail!: string;

  @ApiProperty({ examples: ['nodes[1].config.prompt'] })
  path!: string;

  @ApiPropertyOptional({ description: 'Id of the affected node.', example: 'writer' })
  node?: string;

  @ApiPropertyOptional({ description: 'Index of the affected edge.', example: 0 })
  edge?: number;

  @ApiPropertyOptional({
    description: 'Offset of the problem in the string at the path, in UTF-16 code units.',
    example: 6,
  })
  offset?: number;
}

/** Problems of a definition, errors first. */
export class WorkflowProblems {
  @ApiProperty({ type: [WorkflowProblemView] })
  problems!: WorkflowProblem[];
}

/** A workflow in a response. */
export class WorkflowView extends WorkflowBody {
  @ApiProperty({ description: 'Revision; it grows with every save.', example: '7' })
  revision!: string;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

/** A workflow in the response to a save. */
export class SavedWorkflowView extends WorkflowView {
  @ApiPropertyOptional({
    type: [WorkflowProblemView],
    description: 'Warnings for the author; absent if there are none.',
  })
  problems?: WorkflowProblem[];
}

/** Returns the definition of a valid body, without absent and unknown members. */
export function definitionOf(body: WorkflowBody): WorkflowDefinition {
  const { $schema, name, description, nodes, edges, onFailure, language, deadline, parallel, onExit } = body;
  return {
    ...(isGiven($schema) && { $schema }),
    name,
    ...(isGiven(description) && { description }),
    nodes: nodes.map(storedNode),
    edges: (edges ?? []).map(storedEdge),
    ...givenMembers({ onFailure, language: language as 1 | 2 | undefined, deadline, parallel }),
    ...(isGiven(onExit) && { onExit: onExit.map((exit) => ({ node: exit.node, ...givenMembers({ on: exit.on }) })) }),
  };
}

function storedNode(body: WorkflowNodeBody): WorkflowNode {
  const { id, type, config, position, branch, join, each, retry, timeout, fallback, output, onWait } = body;
  return {
    id,
    type,
    config: config ?? {},
    ...(isGiven(position) && { position: { x: position.x, y: position.y } }),
    ...givenMembers({ branch, join: storedJoin(join) }),
    ...(isGiven(each) && { each: { items: each.items, ...givenMembers(each) } }),
    ...(isGiven(retry) && { retry: { attempts: retry.attempts, ...givenMembers(retry) } }),
    ...givenMembers({ timeout }),
    ...(isGiven(fallback) && { fallback: { parts: fallback.parts } }),
    ...(isGiven(output) && { output: givenMembers(output) }),
    ...(isGiven(onWait) && { onWait: { deadline: onWait.deadline, ...givenMembers(onWait) } }),
  };
}

function storedJoin(join: Join | null | undefined): Join | undefined {
  if (!isGiven(join) || typeof join === 'string') return join ?? undefined;
  return { n: join.n, ...givenMembers({ cancelRest: join.cancelRest }) };
}

function storedEdge({ from, to, when, on, loop }: WorkflowEdgeBody): WorkflowEdge {
  return {
    from,
    to,
    ...givenMembers({ when, on }),
    ...(isGiven(loop) && { loop: { max_iterations: loop.max_iterations, ...givenMembers(loop) } }),
  };
}

/** Returns the members that are neither undefined nor null. */
function givenMembers<T extends object>(members: T): { [Member in keyof T]?: NonNullable<T[Member]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isGiven(value))) as {
    [Member in keyof T]?: NonNullable<T[Member]>;
  };
}

/** Returns the response body for a saved workflow. */
export function workflowView({ definition, revision, createdAt, updatedAt }: WorkflowRevision): WorkflowView {
  return { ...definition, revision, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/**
 * Reads the entries of a list. A non-object entry counts as an object without members. One entry beyond the limit is
 * read, so that validation rejects the list.
 */
function eachFrom<T>(values: JsonValue | undefined, limit: number, from: (value: JsonObject) => T): unknown {
  if (!Array.isArray(values)) return values;
  return values.slice(0, limit + 1).map((it) => from(isJsonObject(it) ? it : {}));
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}
