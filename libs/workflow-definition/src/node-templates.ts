import { isJsonObject, type JsonValue, templateReferences, textStart, unreadReferences } from '#libs/protocol';
import { userInputNode } from './run-inputs.js';
import type { PrecedenceIndex, WorkflowGraph } from './workflow-graph.js';
import { warningProblem, type WorkflowProblem } from './workflow-problem.js';
import type { WorkflowDefinition, WorkflowNode } from './workflow.js';

/** Config member that holds the text of a node, by node type; `prompt` for all other types. */
const TEXT_KEYS: Readonly<Record<string, string>> = { conversation: 'message', brainstorm: 'idea' };

/** Config member whose texts are templates at any depth, by node type; `data` for all other types. */
const VALUE_KEYS: Readonly<Record<string, string>> = { tool: 'args', set: 'values', workflow: 'inputs', wait: 'for' };

/** Returns the name of the config member that contains the text of the Message to a node of this type. */
export function templateKey(type: string): string {
  return TEXT_KEYS[type] ?? 'prompt';
}

/**
 * Returns the name of the config member whose JSON contains templates. If nodes of this type are sent a Message, the
 * Message contains that JSON beside its text.
 */
export function valueKey(type: string): string {
  return VALUE_KEYS[type] ?? 'data';
}

/** Returns the templates of a node, including `fallback.parts`. Each `path` is relative to the node. */
export function templateValues({ type, config, fallback }: WorkflowNode): { path: string; value: JsonValue }[] {
  const own = type === 'input' ? [] : [templateKey(type), valueKey(type)];
  const values = own.flatMap((key) => {
    const value = config[key];
    const isTemplate = value !== undefined && (typeof value === 'string' || key === valueKey(type));
    return isTemplate ? [{ path: `config.${key}`, value }] : [];
  });
  return fallback === undefined ? values : [...values, { path: 'fallback.parts', value: fallback.parts as JsonValue }];
}

/** Returns the texts in the templates of a node. Each `path` is relative to the node. */
export function templatesOf(node: WorkflowNode): { path: string; text: string }[] {
  return templateValues(node).flatMap(({ path, value }) => textsIn(value, path));
}

/**
 * Returns the texts that are direct members of a node's config and in which templates and expressions have no effect.
 * Returns none for an `input` node, whose texts are data.
 */
export function plainTexts({ type, config }: WorkflowNode): { path: string; text: string }[] {
  if (type === 'input') return [];
  const live = [templateKey(type), valueKey(type), ...(type === 'wait' ? ['until'] : [])];
  return Object.entries(config).flatMap(([key, text]) =>
    typeof text === 'string' && !live.includes(key) ? [{ path: `config.${textStart(key, 64)}`, text }] : [],
  );
}

/** Returns every string in a JSON value. Each path begins with `path`. */
export function textsIn(value: JsonValue, path: string): { path: string; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, `${path}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, `${path}.${textStart(key, 64)}`));
}

/**
 * Node types that need no text, or that only pass on the Message that they are sent. For these types, an empty Message
 * is not replaced by the text `Execute node <id>`.
 */
const UNORDERED_TYPES: ReadonlySet<string> = new Set(['input', 'output', 'set', 'wait', 'human', 'workflow', 'tool']);

/** True if a node of this type is sent the text `Execute node <id>` when there is no other content for it. */
export function isOrdered(type: string): boolean {
  return !UNORDERED_TYPES.has(type);
}

/** Maximum number of `{{references}}` that are checked in all texts of a definition. */
const MOST_REFERENCES = 10_000;

/** Id of `{{text}}`, which in the arguments of a `tool` node stands for the text of the Message. */
const TOOL_TEXT = 'text';

const NO_REFERENCE =
  'between {{ and }} only an id of letters, digits and underscores is allowed, without spaces (language 2 has ${nodes["an-id"].text})';

/**
 * Returns the warnings about `{{references}}` in a definition:
 * - to an unknown node,
 * - to a node that may not have run before the referring node,
 * - with an unknown suffix,
 * - or malformed.
 */
export function templateProblems(
  { nodes }: WorkflowDefinition,
  graph: WorkflowGraph,
  reach: PrecedenceIndex,
): WorkflowProblem[] {
  const found = nodes.entries().flatMap(function* ([index, node]) {
    for (const { path, text } of templatesOf(node))
      yield* referenceProblems(node, { path: `nodes[${index}].${path}`, text }, graph, reach);
  });
  return found
    .take(MOST_REFERENCES)
    .filter((problem) => problem !== undefined)
    .toArray();
}

/**
 * Checks every `{{reference}}` in a text of a node. Yields a warning for each invalid one, and `undefined` for each
 * valid one, so that callers can limit the number of checked references.
 */
export function* referenceProblems(
  node: WorkflowNode,
  { path, text }: { path: string; text: string },
  graph: WorkflowGraph,
  reach: PrecedenceIndex,
): Generator<WorkflowProblem | undefined> {
  const inArgs = path.includes('].config.args');
  for (const reference of templateReferences(text)) {
    const found = describeReference(node, reference, graph, reach, inArgs);
    const place = { node: node.id, offset: reference.offset };
    yield found && warningProblem(found.code, path, found.detail, place);
  }
  for (const { id, written, offset } of unreadReferences(text)) {
    const detail = `${node.type} node "${node.id}": ${written} stays unchanged: ${NO_REFERENCE}`;
    yield graph.has(id) ? warningProblem('UNKNOWN_REFERENCE', path, detail, { node: node.id, offset }) : undefined;
  }
}

interface WrittenReference {
  id: string;
  suffix: readonly string[];
  written: string;
}

function describeReference(
  node: WorkflowNode,
  { id, suffix, written }: WrittenReference,
  graph: WorkflowGraph,
  reach: PrecedenceIndex,
  inArgs: boolean,
): Pick<WorkflowProblem, 'code' | 'detail'> | undefined {
  const said = `${node.type} node "${node.id}": ${textStart(written, 100)}`;
  const input = userInputNode(id);
  const named = input !== undefined && graph.has(input) ? input : id;
  if (!graph.has(named)) {
    if (inArgs && id === TOOL_TEXT) return undefined;
    return { code: 'UNKNOWN_REFERENCE', detail: `${said} names no node; it stays unchanged` };
  }
  // Inputs have their values from the beginning of a run.
  const isThere = input !== undefined || graph.node(named).type === 'input' || reach.runsAfter(node.id, named);
  if (!isThere)
    return { code: 'LATER_REFERENCE', detail: `${said} names a node that may not have run before this one` };
  const known = suffix.length === 0 || (suffix.length === 1 && suffix[0] === 'data');
  return known ? undefined : { code: 'UNKNOWN_SUFFIX', detail: `${said} stands for {{${id}}}: only .data is known` };
}
