import { isJsonObject, type JsonValue, textStart } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/** Config member with the text of a node type, if it is not `prompt`. */
const TEXT_KEYS: Readonly<Record<string, string>> = { conversation: 'message', brainstorm: 'idea' };

/** Config members whose texts are templates at any depth, by type. */
const VALUE_KEYS: Readonly<Record<string, string>> = { tool: 'args', set: 'values', workflow: 'inputs', wait: 'for' };

/** Returns the config member that holds the text which a node type is sent. */
export function templateKey(type: string): string {
  return TEXT_KEYS[type] ?? 'prompt';
}

/** Returns the config member with templated JSON. For types that are sent a Message, it goes with the text. */
export function valueKey(type: string): string {
  return VALUE_KEYS[type] ?? 'data';
}

/** Returns the templates of a node with their paths in the node. */
export function templateValues({ type, config, fallback }: WorkflowNode): { path: string; value: JsonValue }[] {
  const own = type === 'input' ? [] : [templateKey(type), valueKey(type)];
  const values = own.flatMap((key) => {
    const value = config[key];
    const isTemplate = value !== undefined && (typeof value === 'string' || key === valueKey(type));
    return isTemplate ? [{ path: `config.${key}`, value }] : [];
  });
  return fallback === undefined ? values : [...values, { path: 'fallback.parts', value: fallback.parts as JsonValue }];
}

/** Returns the templated texts of a node with their paths in the node. */
export function templatesOf(node: WorkflowNode): { path: string; text: string }[] {
  return templateValues(node).flatMap(({ path, value }) => textsIn(value, path));
}

/** Returns the texts of a config that are neither templates nor expressions. Texts of an input are data. */
export function plainTexts({ type, config }: WorkflowNode): { path: string; text: string }[] {
  if (type === 'input') return [];
  const live = [templateKey(type), valueKey(type), ...(type === 'wait' ? ['until'] : [])];
  return Object.entries(config).flatMap(([key, text]) =>
    typeof text === 'string' && !live.includes(key) ? [{ path: `config.${textStart(key, 64)}`, text }] : [],
  );
}

/** Returns every text of a JSON value with its path. */
export function textsIn(value: JsonValue, path: string): { path: string; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, `${path}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, `${path}.${textStart(key, 64)}`));
}

/** Node types that do not need a text, or that pass on what they are sent. */
const UNORDERED_TYPES: ReadonlySet<string> = new Set(['input', 'output', 'set', 'wait', 'human', 'workflow', 'tool']);

/** True if a node of the type is sent `Execute node <id>` when there is no other content. */
export function isOrdered(type: string): boolean {
  return !UNORDERED_TYPES.has(type);
}
