import type { Vocabulary } from '#libs/expressions';

/** What expressions may ask of a node: `nodes.<id>.<field>`. */
export const NODE_FIELDS: ReadonlySet<string> = new Set([
  'status',
  'text',
  'data',
  'artifacts',
  'error',
  'attempts',
  'loop',
]);

/** What they may ask of the run. `startedAt` is a timestamp; `conversation` is the entry that the run began with, or null. */
export const RUN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'workflow',
  'revision',
  'contextId',
  'startedAt',
  'conversation',
]);

/** What they may ask of a failure. */
export const ERROR_FIELDS: ReadonlySet<string> = new Set(['kind', 'message', 'node', 'instance']);

/** What an expression may name because of where it stands, besides what all may name. */
export interface Surroundings {
  /** `item` and `index`: of an `each`, in what is done once for each item. */
  item?: boolean;
  /** Within the body of a loop. */
  iteration?: boolean;
  /** The failure that is handled; null where there was none. */
  error?: boolean;
  /** The time, read once for each decision. */
  now?: boolean;
}

/**
 * What an expression of a workflow may name. All nodes may be, also those that run later: which of them an expression can
 * know is asked of its references. Where there is no trigger and no usage yet, their names are kept for them.
 * @param ids of all nodes: an input of such a name stands for the node in templates
 */
export function vocabularyOf(ids: Pick<ReadonlySet<string>, 'has'>, at: Surroundings = {}): Vocabulary {
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
