import type { JsonValue } from '#libs/protocol';
import { templateValues } from '../node-templates.js';
import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from '../workflow.js';
import type { Surroundings } from './vocabulary.js';

/** Where in a definition there is an expression, or a template with expressions. */
export interface ExpressionPlace {
  /** The path in the node or the edge: `when`, `loop.exit_when`, `each.items`, `retry.when`, `config.until`, `config.prompt`. */
  member: string;
  /** The path in the definition: `edges[3].when`. */
  path: string;
  node?: string;
  /** The place of the edge in `edges`. */
  edge?: number;
  surroundings: Surroundings;
  content: { expression: string } | { template: JsonValue };
}

/** Whether the body of a loop has both of these nodes. */
export type IsRepeated = (id: string, other: string) => boolean;

/** All of them, those of the nodes first. Only language 2 has expressions in templates. */
export function expressionPlaces(definition: WorkflowDefinition, isRepeated: IsRepeated): ExpressionPlace[] {
  const { nodes, edges, language, onExit = [] } = definition;
  const exits = new Set(onExit.map(({ node }) => node));
  return [
    ...nodes.flatMap((node, index) =>
      ofNode(node, { iteration: isRepeated(node.id, node.id), error: exits.has(node.id) }, language).map((it) => ({
        ...it,
        path: `nodes[${index}].${it.member}`,
        node: node.id,
      })),
    ),
    ...edges.flatMap((edge, index) =>
      ofEdge(edge, isRepeated(edge.from, edge.to)).map((it) => ({
        ...it,
        path: `edges[${index}].${it.member}`,
        edge: index,
      })),
    ),
  ];
}

type Found = Pick<ExpressionPlace, 'member' | 'surroundings' | 'content'>;

/** What there is once for each item knows the item; what comes of a failure knows the failure. */
function ofNode(node: WorkflowNode, before: Surroundings, language: WorkflowDefinition['language']): Found[] {
  const { type, config, each, retry } = node;
  const { until } = config;
  const own = { ...before, item: each !== undefined };
  const afterFailure = { ...own, error: true };
  const templates = language === 2 ? templateValues(node) : [];
  return [
    ...(each === undefined ? [] : [expression('each.items', before, each.items)]),
    ...(retry?.when === undefined ? [] : [expression('retry.when', afterFailure, retry.when)]),
    ...(type === 'wait' && typeof until === 'string' ? [expression('config.until', { ...own, now: true }, until)] : []),
    ...templates.map(({ path: member, value: template }) => ({
      member,
      surroundings: member.startsWith('config.') ? own : afterFailure,
      content: { template },
    })),
  ];
}

function ofEdge({ when, on, loop }: WorkflowEdge, iteration: boolean): Found[] {
  const error = on === 'failure' || on === 'always';
  return [
    ...(when === undefined ? [] : [expression('when', { error, iteration }, when)]),
    ...(loop?.exit_when === undefined ? [] : [expression('loop.exit_when', { iteration: true }, loop.exit_when)]),
  ];
}

function expression(member: string, surroundings: Surroundings, text: string): Found {
  return { member, surroundings, content: { expression: text } };
}
