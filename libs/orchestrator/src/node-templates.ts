import { isJsonObject, type JsonValue, textStart } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/** Where the config of a node type keeps its text, where that is not `prompt`. */
const TEXT_KEYS: Readonly<Record<string, string>> = { conversation: 'message', brainstorm: 'idea' };

/** Members of the config that are templates, texts in them at any depth, by type. */
const VALUE_KEYS: Readonly<Record<string, string>> = { tool: 'args', set: 'values', workflow: 'inputs', wait: 'for' };

/** Under which key the config of a node type keeps the text that it is sent. */
export function templateKey(type: string): string {
  return TEXT_KEYS[type] ?? 'prompt';
}

/** Under which key the config of a node type keeps JSON that is a template; for types that take a Message, what goes with its text. */
export function valueKey(type: string): string {
  return VALUE_KEYS[type] ?? 'data';
}

/** What of a node is a template, with its path in the node. */
export function templateValues({ type, config, fallback }: WorkflowNode): { path: string; value: JsonValue }[] {
  const own = type === 'input' ? [] : [templateKey(type), valueKey(type)];
  const values = own.flatMap((key) => {
    const value = config[key];
    const isTemplate = value !== undefined && (typeof value === 'string' || key === valueKey(type));
    return isTemplate ? [{ path: `config.${key}`, value }] : [];
  });
  return fallback === undefined ? values : [...values, { path: 'fallback.parts', value: fallback.parts as JsonValue }];
}

/** The texts of a node that are templates, each with its path in the node. */
export function templatesOf(node: WorkflowNode): { path: string; text: string }[] {
  return templateValues(node).flatMap(({ path, value }) => textsIn(value, path));
}

/** The texts of a config that stay as they are written: neither templates nor expressions. What an input has is data. */
export function plainTexts({ type, config }: WorkflowNode): { path: string; text: string }[] {
  if (type === 'input') return [];
  const live = [templateKey(type), valueKey(type), ...(type === 'wait' ? ['until'] : [])];
  return Object.entries(config).flatMap(([key, text]) =>
    typeof text === 'string' && !live.includes(key) ? [{ path: `config.${textStart(key, 64)}`, text }] : [],
  );
}

/** Every text of JSON, with its path. */
export function textsIn(value: JsonValue, path: string): { path: string; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, `${path}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, `${path}.${textStart(key, 64)}`));
}
