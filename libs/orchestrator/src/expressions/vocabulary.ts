import type { Vocabulary } from '#libs/expressions';

/** Fields of a node that expressions may read: `nodes.<id>.<field>`. */
export const NODE_FIELDS: ReadonlySet<string> = new Set([
  'status',
  'text',
  'data',
  'artifacts',
  'error',
  'attempts',
  'loop',
]);

/**
 * Fields of the run that expressions may read. `startedAt` is a timestamp; `conversation` is the entry that the run
 * began with, or null.
 */
export const RUN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'workflow',
  'revision',
  'contextId',
  'startedAt',
  'conversation',
]);

/** Fields of a failure that expressions may read. */
export const ERROR_FIELDS: ReadonlySet<string> = new Set(['kind', 'message', 'node', 'instance']);

/** Names that an expression may use because of its place, besides those that all may use. */
export interface Surroundings {
  /** True if `item` and `index` exist: the expression is evaluated for each item of an `each`. */
  item?: boolean;
  /** True within the body of a loop. */
  iteration?: boolean;
  /** True if `error` exists: the failure that is handled, or null. */
  error?: boolean;
  /** True if `now` exists: the time, read once for each decision. */
  now?: boolean;
}

/**
 * Returns the names that an expression of a workflow may use. They include nodes that run later; which nodes have run
 * is checked for each reference. `trigger` and `usage` are reserved.
 * @param ids ids of all nodes, which are names of inputs as well: such an input replaces the node in templates
 */
export function createVocabulary(ids: Pick<ReadonlySet<string>, 'has'>, at: Surroundings = {}): Vocabulary {
  return {
    inputs: { members: ids },
    nodes: { members: ids, fields: NODE_FIELDS, onlyMembers: true },
    run: { members: RUN_FIELDS },
    ...(at.item && { item: {}, index: {} }),
    ...(at.iteration && { iteration: {} }),
    ...(at.error && { error: { members: ERROR_FIELDS } }),
    ...(at.now && { now: {} }),
    trigger: { isKept: true },
    usage: { isKept: true },
  };
}
