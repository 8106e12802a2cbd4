import type { Vocabulary } from '#libs/expressions';
import type { JsonValue } from '#libs/protocol';
import { templateValues } from './node-templates.js';
import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow.js';

/** Fields of a node that expressions may read: `nodes.<id>.<field>`. */
export const NODE_FIELDS: ReadonlySet<string> = new Set([
  'status',
  'text',
  'data',
  'artifacts',
  'error',
  'attempts',
  'loop',
]);

/**
 * Fields of the run that expressions may read: `run.<field>`. `startedAt` is a timestamp; `conversation` is the entry
 * of the conversation that requested the run, or null.
 */
export const RUN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'workflow',
  'revision',
  'contextId',
  'startedAt',
  'conversation',
]);

/** Fields of a failure that expressions may read: `error.<field>`. */
export const ERROR_FIELDS: ReadonlySet<string> = new Set(['kind', 'message', 'node', 'instance']);

/**
 * Variables that are available only at certain places of a definition. `inputs`, `nodes` and `run` are available
 * everywhere.
 */
export interface Surroundings {
  /** True if `item` and `index` exist: the expression is evaluated for each entry of the list of an `each` node. */
  item?: boolean;
  /** True if the variable `iteration` is available, because the expression is in the body of a loop. */
  iteration?: boolean;
  /** True if `error` exists: the failure that the expression handles, or null. */
  error?: boolean;
  /** True if the variable `now` is available: the time of the evaluation, for `until` of a `wait` node. */
  now?: boolean;
}

/**
 * Returns the variables that a CEL expression of a workflow may use. `nodes` accepts all nodes; a separate check finds
 * references to nodes that run later. `trigger` and `usage` are reserved names.
 * @param ids ids of all nodes. `inputs` accepts each of them, because a run may have an input with the id of any node;
 * templates then use the input instead of the node's result
 */
export function createVocabulary(ids: Pick<ReadonlySet<string>, 'has'>, at: Surroundings = {}): Vocabulary {
  return {
    inputs: { members: ids },
    nodes: { members: ids, fields: NODE_FIELDS, onlyMembers: true },
    run: { members: RUN_FIELDS },
    ...(at.item && { item: {}, index: {} }),
    ...(at.iteration && { iteration: {} }),
    ...(at.error && { error: { members: ERROR_FIELDS } }),
    ...(at.now && { now: {} }),
    trigger: { isKept: true },
    usage: { isKept: true },
  };
}

/** Path of the expression that is evaluated when a run begins, before any node has run. */
export const CONCURRENCY_KEY = 'concurrency.key';

/** Place in a definition where a CEL expression, or a template that may contain expressions, stands. */
export interface ExpressionPlace {
  /**
   * Path in the node or edge, for example `when`, `loop.exit_when`, `each.items`, `retry.when`, `config.until` or
   * `config.prompt`.
   */
  member: string;
  /** Path in the definition, for example `edges[3].when`. */
  path: string;
  node?: string;
  /** Index of the edge in `edges`; absent for an expression in a node. */
  edge?: number;
  surroundings: Surroundings;
  content: { expression: string } | { template: JsonValue };
}

/** Function that returns true if at least one loop repeats both nodes. */
export type IsRepeated = (id: string, other: string) => boolean;

/**
 * Returns all places with expressions: `concurrency.key`, those in nodes, and those in edges. Templates contain expressions only if
 * the definition's `language` is 2.
 */
export function listExpressionPlaces(definition: WorkflowDefinition, isRepeated: IsRepeated): ExpressionPlace[] {
  const exits = exitsOf(definition);
  return [
    ...createMemberContent(CONCURRENCY_KEY, definition.concurrency?.key).map(([member, content]) => ({
      member,
      path: member,
      surroundings: {},
      content,
    })),
    ...definition.nodes.flatMap((node, index) =>
      listNodeExpressions(node, definition.language).map(([member, content]) => ({
        member,
        path: `nodes[${index}].${member}`,
        node: node.id,
        surroundings: surroundingsInNode(node, member, isRepeated, exits),
        content,
      })),
    ),
    ...definition.edges.flatMap((edge, index) =>
      listEdgeExpressions(edge).map(([member, content]) => ({
        member,
        path: `edges[${index}].${member}`,
        edge: index,
        surroundings: surroundingsInEdge(edge, member, isRepeated),
        content,
      })),
    ),
  ];
}

/**
 * Returns the place at `path` of the definition, with `content` in place of the definition's expression; `undefined` if
 * there is no such node or edge.
 */
export function findExpressionPlace(
  definition: WorkflowDefinition,
  path: string,
  content: ExpressionPlace['content'],
  isRepeated: IsRepeated,
): ExpressionPlace | undefined {
  if (path === CONCURRENCY_KEY) return { member: path, path, surroundings: {}, content };
  const [, list, digits, member = ''] = PATH.exec(path) ?? [];
  const index = Number(digits);
  const place = { member, path, content };
  const [node, edge] = [definition.nodes[index], definition.edges[index]];
  if (list === 'nodes' && node) {
    const surroundings = surroundingsInNode(node, member, isRepeated, exitsOf(definition));
    return { ...place, node: node.id, surroundings };
  }
  if (list !== 'edges' || !edge) return undefined;
  return { ...place, edge: index, surroundings: surroundingsInEdge(edge, member, isRepeated) };
}

const PATH = /^(nodes|edges)\[(\d{1,5})\]\.(.{1,1000})$/;

type MemberContent = [member: string, content: ExpressionPlace['content']];

function listNodeExpressions(node: WorkflowNode, language: WorkflowDefinition['language']): MemberContent[] {
  const { type, config, each, retry } = node;
  const { until } = config;
  const templates = language === 2 ? templateValues(node) : [];
  return [
    ...createMemberContent('each.items', each?.items),
    ...createMemberContent('retry.when', retry?.when),
    ...createMemberContent('config.until', type === 'wait' && typeof until === 'string' ? until : undefined),
    ...templates.map(({ path, value: template }): MemberContent => [path, { template }]),
  ];
}

function listEdgeExpressions({ when, loop }: WorkflowEdge): MemberContent[] {
  return [...createMemberContent('when', when), ...createMemberContent('loop.exit_when', loop?.exit_when)];
}

function createMemberContent(member: string, text: string | undefined): MemberContent[] {
  return text === undefined ? [] : [[member, { expression: text }]];
}

/**
 * Returns the variables that are available only in some members of a node:
 * - `item`, if the member is evaluated for each entry of a list,
 * - `error`, if the member is evaluated after a failure, or the node is an `onExit` node.
 */
function surroundingsInNode(
  { id, type, each }: WorkflowNode,
  member: string,
  isRepeated: IsRepeated,
  exits: ReadonlySet<string>,
): Surroundings {
  const iteration = isRepeated(id, id);
  const isAfterFailure = member === 'retry.when' || member.startsWith('fallback.');
  return {
    iteration,
    error: isAfterFailure || exits.has(id),
    item: each !== undefined && member !== 'each.items',
    now: type === 'wait' && member === 'config.until',
  };
}

function surroundingsInEdge({ from, to, on }: WorkflowEdge, member: string, isRepeated: IsRepeated): Surroundings {
  if (member === 'loop.exit_when') return { iteration: true };
  return { error: on === 'failure' || on === 'always', iteration: isRepeated(from, to) };
}

function exitsOf({ onExit = [] }: WorkflowDefinition): ReadonlySet<string> {
  return new Set(onExit.map(({ node }) => node));
}

/** Returns the path of a value within a member: `config.args` and `[0]` give `config.args[0]`. */
export function joinMemberPath(member: string, path: string): string {
  return path === '' || path.startsWith('[') ? `${member}${path}` : `${member}.${path}`;
}
