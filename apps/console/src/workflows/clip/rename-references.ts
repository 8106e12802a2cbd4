import type { Schemas } from '#libs/client';
import { findTokens } from '../../code/tokens.js';
import type { DefinitionEdge, GraphNode } from '../../graph/graph.js';

/** Returns the new id of a node; the same id for a node that keeps its id. */
export type RenameId = (id: string) => string;

type Language = Schemas['WorkflowBody']['language'] | undefined;

/** Config member that holds the text of a node, by node type; `prompt` for all other types. */
const TEXT_KEYS: Readonly<Record<string, string>> = { conversation: 'message', brainstorm: 'idea' };
/** Config member whose texts are templates at any depth, by node type; `data` for all other types. */
const VALUE_KEYS: Readonly<Record<string, string>> = { tool: 'args', set: 'values', workflow: 'inputs', wait: 'for' };

/** Prefix of a reference to the input of a node: `{{__user_input__topic}}`. */
const USER_INPUT = '__user_input__';
/** Variables of expressions whose members are node ids. */
const BY_ID = new Set(['nodes', 'inputs']);
/** Literal member after a variable: `.topic`, `['my-topic']`. */
const MEMBER = /\s{0,100}(?:\.\s{0,100}([A-Za-z_]\w{0,63})|\[\s{0,100}[rR]?(["'])([\w-]{1,64})\2\s{0,100}\])/y;
const PLAIN_ID = /^[A-Za-z_]\w*$/;
const REFERENCE_ID = /^\w+$/;

/**
 * Returns a node with its new id, and with new ids in all references of its texts and expressions. References in an
 * inline workflow (`config.body`) stay: they name nodes of that workflow.
 */
export function renameInNode(node: GraphNode, rename: RenameId, language: Language): GraphNode {
  const { type, config, each, retry, fallback } = node;
  const inTemplate = (text: string): string => renameInTemplate(text, rename, language);
  const isUntil = type === 'wait' && typeof config['until'] === 'string';
  return {
    ...node,
    id: rename(node.id),
    config: {
      ...config,
      ...(type !== 'input' && renameConfig(type, config, inTemplate)),
      ...(isUntil && { until: renameInExpression(config['until'] as string, rename) }),
    },
    ...(typeof each?.items === 'string' && { each: { ...each, items: renameInExpression(each.items, rename) } }),
    ...(typeof retry?.when === 'string' && { retry: { ...retry, when: renameInExpression(retry.when, rename) } }),
    ...(fallback && { fallback: { ...fallback, parts: mapTexts(fallback.parts, inTemplate) as unknown[] } }),
  };
}

/** Returns an edge with the new ids of its two nodes, and with new ids in the references of its expressions. */
export function renameInEdge(edge: DefinitionEdge, rename: RenameId): DefinitionEdge {
  const { from, to, when, loop } = edge;
  const exitWhen = loop?.exit_when;
  return {
    ...edge,
    from: rename(from),
    to: rename(to),
    ...(typeof when === 'string' && { when: renameInExpression(when, rename) }),
    ...(loop && typeof exitWhen === 'string' && { loop: { ...loop, exit_when: renameInExpression(exitWhen, rename) } }),
  };
}

/** Returns a text with new ids in its `{{references}}`, and in language 2 also in its `${expressions}`. */
export function renameInTemplate(text: string, rename: RenameId, language: Language): string {
  return renameInTokens(text, language === 2 ? 'template' : 'text', rename);
}

/** Returns a CEL expression with new ids in its references to nodes. */
export function renameInExpression(text: string, rename: RenameId): string {
  return renameInTokens(text, 'expression', rename);
}

function renameConfig(type: string, config: GraphNode['config'], inTemplate: (text: string) => string): object {
  const textKey = TEXT_KEYS[type] ?? 'prompt';
  const valueKey = VALUE_KEYS[type] ?? 'data';
  return {
    ...(typeof config[textKey] === 'string' && { [textKey]: inTemplate(config[textKey]) }),
    ...(config[valueKey] !== undefined && { [valueKey]: mapTexts(config[valueKey], inTemplate) }),
  };
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}

function renameInTokens(text: string, language: 'expression' | 'template' | 'text', rename: RenameId): string {
  const pieces: string[] = [];
  let end = 0;
  for (const { from, to, kind } of findTokens(text, language)) {
    const found =
      kind === 'reference'
        ? renamedReference(text.slice(from, to), from, rename)
        : kind === 'name' && BY_ID.has(text.slice(from, to))
          ? renamedMember(text, to, rename)
          : undefined;
    if (!found || found.from < end) continue;
    pieces.push(text.slice(end, found.from), found.text);
    end = found.to;
  }
  return end === 0 ? text : pieces.join('') + text.slice(end);
}

/** Replacement of a part of a text. */
interface Renaming {
  from: number;
  to: number;
  text: string;
}

/** Returns the new text of a reference such as `{{topic.data}}`; `undefined` if the node keeps its id. */
function renamedReference(written: string, from: number, rename: RenameId): Renaming | undefined {
  const name = /\w+/.exec(written)?.[0] ?? '';
  const prefix = name.startsWith(USER_INPUT) ? USER_INPUT : '';
  const id = name.slice(prefix.length);
  const renamed = rename(id);
  if (renamed === id || !REFERENCE_ID.test(renamed)) return undefined;
  const start = from + 2 + prefix.length;
  return { from: start, to: start + id.length, text: renamed };
}

/** Returns the new text of the literal member at an offset, such as `.topic`; `undefined` if the node keeps its id. */
function renamedMember(text: string, offset: number, rename: RenameId): Renaming | undefined {
  MEMBER.lastIndex = offset;
  const [written, plain, , quoted] = MEMBER.exec(text) ?? [];
  const id = plain ?? quoted;
  if (written === undefined || id === undefined) return undefined;
  const renamed = rename(id);
  if (renamed === id) return undefined;
  const isPlain = plain !== undefined && PLAIN_ID.test(renamed);
  return { from: offset, to: offset + written.length, text: isPlain ? `.${renamed}` : `["${renamed}"]` };
}
