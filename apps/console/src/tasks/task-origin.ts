import type { Task } from '../api/task.js';

/** The metadata key under which a Task keeps the calls that led to it. */
const CALL_CHAIN = 'urn:parley:extension:hop-chain:v1';

export interface Origin {
  /** What the Task is. */
  label: string;
  /** Where the console shows it as that, if it does. */
  href?: string;
}

/** What a Task is beside a Task: Parley writes it into the Task's metadata. */
export function originOf({ id, metadata = {} }: Pick<Task, 'id' | 'metadata'>): Origin {
  const at = (view: string): string => `/${view}/${encodeURIComponent(id)}`;
  const run = metadata['parley/run'];
  if (isObject(run)) return { label: `run of ${String(run['workflow'])}`, href: at('runs') };
  if (isObject(metadata['parley/conversation'])) return { label: 'conversation', href: at('conversations') };
  if (isObject(metadata['parley/brainstorm'])) return { label: 'brainstorm', href: at('brainstorms') };
  return { label: 'agent' };
}

/**
 * Whether a Task is a run, a conversation or a brainstorm that no other Task called for. Any other Task of a node is not
 * counted, whoever called the node: the Task does not say.
 */
export function isTopLevel({ id, metadata = {} }: Pick<Task, 'id' | 'metadata'>): boolean {
  const links = metadata[CALL_CHAIN];
  const called = Array.isArray(links) && links.length > 0;
  return !called && originOf({ id, metadata }).href !== undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
