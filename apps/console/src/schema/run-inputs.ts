import type { GraphNode } from '../graph/graph.js';
import { initialValue, isSchema, type JsonSchema } from './json-schema.js';

/** Inputs of a run by node id; an input that was not given is missing. */
export type InputValues = Readonly<Record<string, unknown>>;

/** Returns the JSON Schema of an input node; `undefined` if the node accepts any text. */
export function schemaOfInput({ config }: GraphNode): JsonSchema | undefined {
  const schema = config['schema'];
  return isSchema(schema) && Object.keys(schema).length > 0 ? schema : undefined;
}

export function mayBeLeftOut({ config }: GraphNode): boolean {
  return config['optional'] === true || config['default'] !== undefined;
}

/** Returns the initial inputs of a form: the inputs of an earlier run, else the schema's initial values. */
export function firstInputs(nodes: readonly GraphNode[], earlier: InputValues = {}): InputValues {
  const values = nodes.map((node) => {
    const schema = schemaOfInput(node);
    const first = schema ? initialValue(schema, schema, !mayBeLeftOut(node)) : undefined;
    return [node.id, earlier[node.id] ?? first] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/**
 * Returns the inputs to send. An empty input is left out if its node is optional, or has a default or a schema.
 * Otherwise it is sent as an empty text.
 */
export function givenInputs(nodes: readonly GraphNode[], values: InputValues): Record<string, unknown> {
  const given = nodes.map((node) => {
    const value = values[node.id];
    const empty = value === undefined || value === '';
    if (empty && (mayBeLeftOut(node) || schemaOfInput(node))) return [node.id, undefined] as const;
    return [node.id, value ?? ''] as const;
  });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Returns the inputs to send for a rerun, including inputs of the earlier run that the form does not show. */
export function rerunInputs(
  nodes: readonly GraphNode[],
  earlier: InputValues,
  values: InputValues,
): Record<string, unknown> {
  const asked = new Set(nodes.map(({ id }) => id));
  const beside = Object.entries(earlier).filter(([id]) => !asked.has(id));
  return { ...Object.fromEntries(beside), ...givenInputs(nodes, values) };
}
