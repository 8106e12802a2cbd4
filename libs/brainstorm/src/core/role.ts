/**
 * Roles of agents in a brainstorm. By default the first two agents build and review, the third refines, the fourth is
 * the devil’s advocate, and further ones review.
 */
export const ROLES = ['build', 'review', 'refine', 'devils_advocate'] as const;

export type BrainstormRole = (typeof ROLES)[number];

/** Minimum number of agents of a brainstorm. */
export const FEWEST_AGENTS = 2;
/** Maximum number of agents of a brainstorm, against mistaken requests. */
export const MOST_AGENTS = 20;

export function isRole(value: unknown): value is BrainstormRole {
  return (ROLES as readonly unknown[]).includes(value);
}

/**
 * Returns the default role of the agent at a position (from 0): the first four agents have different roles, all
 * others review.
 */
export function roleAt(position: number): BrainstormRole {
  return ROLES[position] ?? 'review';
}
