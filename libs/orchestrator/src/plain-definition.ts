import type { WorkflowDefinition, WorkflowEdge, WorkflowNode } from './workflow.js';

const DEFINITION_KEYS = ['deadline', 'parallel', 'onExit'] as const satisfies (keyof WorkflowDefinition)[];
const EDGE_KEYS = ['when', 'on', 'loop'] as const satisfies (keyof WorkflowEdge)[];
const NODE_KEYS = [
  'branch',
  'join',
  'each',
  'retry',
  'timeout',
  'fallback',
  'output',
  'onWait',
] as const satisfies (keyof WorkflowNode)[];
const NODE_TYPES: ReadonlySet<string> = new Set(['workflow', 'set', 'wait', 'human']);

/** True if a definition uses none of the features that were added after the log format of runs was fixed. */
export function isPlain(definition: WorkflowDefinition): boolean {
  return (
    definition.language !== 2 &&
    hasNone(definition, DEFINITION_KEYS) &&
    definition.edges.every((edge) => hasNone(edge, EDGE_KEYS)) &&
    definition.nodes.every((node) => hasNone(node, NODE_KEYS) && !NODE_TYPES.has(node.type))
  );
}

/** Results of `mayReadBytes` by definition: it is queried at each end of a node, and a definition never changes. */
const READS_BYTES = new WeakMap<WorkflowDefinition, boolean>();

/**
 * True if an expression may read the bytes of files: `nodes.<id>.artifacts` contains them, in every language. A
 * backslash may be an escape that hides the name.
 */
export function mayReadBytes(definition: WorkflowDefinition): boolean {
  const known = READS_BYTES.get(definition);
  if (known !== undefined) return known;
  const found = /artifacts|\\\\/.test(JSON.stringify(definition));
  READS_BYTES.set(definition, found);
  return found;
}

function hasNone<T>(value: T, keys: readonly (keyof T)[]): boolean {
  return keys.every((key) => value[key] === undefined);
}
