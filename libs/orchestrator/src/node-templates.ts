import { isJsonObject, type JsonValue } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/** Where the config of a node type keeps its text, where that is not `prompt`. */
const TEXT_KEYS: Readonly<Record<string, string>> = { conversation: 'message', brainstorm: 'idea' };

/** Under which key the config of a node type keeps the text that it is sent. */
export function templateKey(type: string): string {
  return TEXT_KEYS[type] ?? 'prompt';
}

/** The texts of a node's config that are templates, each with its path in the config. */
export function templatesOf(node: WorkflowNode): { path: string; text: string }[] {
  if (node.type === 'input') return [];
  const key = templateKey(node.type);
  const own = node.config[key];
  const args = node.type === 'tool' ? textsIn(node.config['args'], 'args') : [];
  return [...(typeof own === 'string' ? [{ path: key, text: own }] : []), ...args];
}

function textsIn(value: JsonValue | undefined, path: string): { path: string; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, `${path}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, `${path}.${key.slice(0, 64)}`));
}
