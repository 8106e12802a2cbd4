import type { Task } from '../api/task.js';

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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
