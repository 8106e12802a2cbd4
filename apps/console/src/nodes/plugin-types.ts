import { NODE_FIELDS, type NodeField } from './node-fields.js';

/** A node type of a plugin, known only from the service's JSON Schema of workflows. */
export interface PluginType {
  type: string;
  description: string | undefined;
  fields: readonly NodeField[];
}

interface NodeTypeSchema {
  const?: unknown;
  enum?: unknown[];
  type?: unknown;
  title?: string;
  description?: string;
  properties?: Record<string, NodeTypeSchema>;
  items?: NodeTypeSchema;
  allOf?: { if?: NodeTypeSchema; then?: NodeTypeSchema }[];
}

/** Fields of config members that every node type may have, by the member's name. */
const GENERAL = new Map(
  NODE_FIELDS['agent']?.filter(({ key }) => key === 'prompt' || key === 'data').map((field) => [field.key, field]),
);

/** Returns the types in the JSON Schema of workflows that the console has no panel for, with their fields. */
export function pluginTypes(schema: unknown): PluginType[] {
  const node = (schema as NodeTypeSchema | undefined)?.properties?.['nodes']?.items;
  const known = Object.keys(NODE_FIELDS);
  return (node?.allOf ?? []).flatMap(({ if: when, then }) => {
    const type = when?.properties?.['type']?.const;
    const config = then?.properties?.['config'];
    if (typeof type !== 'string' || known.includes(type) || !config) return [];
    const fields = Object.entries(config.properties ?? {}).flatMap(([key, member]) => buildNodeField(key, member));
    return [{ type, description: config.description, fields }];
  });
}

function buildNodeField(key: string, { title, description, type, enum: choices }: NodeTypeSchema): NodeField[] {
  if (key === 'description') return [];
  const general = GENERAL.get(key);
  if (general) return [general];
  const one = choices?.map((choice) => JSON.stringify(choice)).join(', ');
  const hint = [description, one && `One of ${one}.`].filter(Boolean).join(' ');
  const field = { key, label: title ?? labelOf(key), ...(hint !== '' && { hint }) };
  if (type === 'string') return [{ ...field, kind: 'text' }];
  return [type === 'boolean' ? { ...field, kind: 'flag' } : { ...field, kind: 'json' }];
}

/** Returns a readable label for `maxItems` or `max_items`. */
function labelOf(key: string): string {
  const words = key
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
