import type { A2aTask } from '../api/task.js';

/** Metadata key of the chain of calls that led to a Task. */
const CALL_CHAIN = 'urn:parley:extension:hop-chain:v1';

export interface Origin {
  /** Kind of the Task in words, such as a run, a conversation or a brainstorm. */
  label: string;
  /** Address of the page of the run, conversation or brainstorm, if the Task is one. */
  href?: string;
}

/** Returns the kind of a Task and the address of its page, from the metadata that Parley writes. */
export function originOf({ id, metadata = {} }: Pick<A2aTask, 'id' | 'metadata'>): Origin {
  const getAddress = (view: string): string => `/${view}/${encodeURIComponent(id)}`;
  const run = metadata['parley/run'];
  if (isObject(run)) return { label: `run of ${String(run['workflow'])}`, href: getAddress('runs') };
  if (isObject(metadata['parley/conversation'])) return { label: 'conversation', href: getAddress('conversations') };
  if (isObject(metadata['parley/brainstorm'])) return { label: 'brainstorm', href: getAddress('brainstorms') };
  return { label: 'agent' };
}

/**
 * True if a Task is a run, a conversation or a brainstorm that no other Task has called: its metadata has no call
 * chain. The Task of a workflow's node is none of these, so it is never top level.
 */
export function isTopLevel({ id, metadata = {} }: Pick<A2aTask, 'id' | 'metadata'>): boolean {
  const links = metadata[CALL_CHAIN];
  const called = Array.isArray(links) && links.length > 0;
  return !called && originOf({ id, metadata }).href !== undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
