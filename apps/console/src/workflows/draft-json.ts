import type { Draft } from './draft.js';
import { definitionOf, draftOf, type WorkflowRecord, withoutRevision } from './workflow-api.js';

/** Formats a draft's definition as the text of a file. */
export function draftText(draft: Draft): string {
  return `${JSON.stringify(definitionOf(draft), undefined, 2)}\n`;
}

/**
 * Parses the text of a workflow definition into a draft, with all members, including those unknown to this console.
 * Members that the service adds are removed.
 * @throws Error with a sentence for the person if the text is not a workflow
 */
export function draftFromText(text: string): Draft {
  const value = parseJson(text);
  if (!isObject(value)) throw new Error('A workflow is an object: {"name": …, "nodes": […], "edges": […]}.');
  const { name = '', nodes, edges = [] } = value;
  if (typeof name !== 'string') throw new Error('Its name must be a text.');
  if (!Array.isArray(nodes)) throw new Error('It has no list of nodes.');
  if (!Array.isArray(edges)) throw new Error('Its edges must be a list.');
  const definition = {
    ...value,
    name,
    nodes: nodes.map((node, index) => nodeOf(node, index)),
    edges: edges.map((edge, index) => edgeOf(edge, index)),
  };
  return draftOf(withoutRevision(definition as unknown as WorkflowRecord));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function nodeOf(node: unknown, index: number): object {
  if (!isObject(node) || typeof node['id'] !== 'string' || typeof node['type'] !== 'string')
    throw new Error(`nodes[${index}] needs an id and a type.`);
  return { ...node, config: node['config'] ?? {} };
}

function edgeOf(edge: unknown, index: number): object {
  if (!isObject(edge) || typeof edge['from'] !== 'string' || typeof edge['to'] !== 'string')
    throw new Error(`edges[${index}] needs a from and a to.`);
  return edge;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
