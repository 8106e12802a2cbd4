import type { GraphNode } from '../graph/graph.js';
import { initialValue, isSchema, type JsonSchema } from './json-schema.js';

/** What a run is asked to begin with, by the node's id; what is missing was not given. */
export type InputValues = Readonly<Record<string, unknown>>;

/** What an input has to fit; `undefined` for one that takes any text. */
export function schemaOfInput({ config }: GraphNode): JsonSchema | undefined {
  const schema = config['schema'];
  return isSchema(schema) && Object.keys(schema).length > 0 ? schema : undefined;
}

export function mayBeLeftOut({ config }: GraphNode): boolean {
  return config['optional'] === true || config['default'] !== undefined;
}

/** What the form of some inputs begins with: what an earlier run had, else what their schemas say. */
export function firstInputs(nodes: readonly GraphNode[], earlier: InputValues = {}): InputValues {
  const values = nodes.map((node) => {
    const schema = schemaOfInput(node);
    const first = schema ? initialValue(schema, schema, !mayBeLeftOut(node)) : undefined;
    return [node.id, earlier[node.id] ?? first] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** What is sent of them: an input that takes any text is given as an empty one, unless it may be left out. */
export function givenInputs(nodes: readonly GraphNode[], values: InputValues): Record<string, unknown> {
  const given = nodes.map((node) => {
    const value = values[node.id];
    const empty = value === undefined || value === '';
    if (empty && (mayBeLeftOut(node) || schemaOfInput(node))) return [node.id, undefined] as const;
    return [node.id, value ?? ''] as const;
  });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** What another run is sent of them, with what the earlier one was given beside them. */
export function rerunInputs(
  nodes: readonly GraphNode[],
  earlier: InputValues,
  values: InputValues,
): Record<string, unknown> {
  const asked = new Set(nodes.map(({ id }) => id));
  const beside = Object.entries(earlier).filter(([id]) => !asked.has(id));
  return { ...Object.fromEntries(beside), ...givenInputs(nodes, values) };
}
