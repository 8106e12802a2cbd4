/**
 * What an agent does in a brainstorm: the first two build and review, the third refines, the fourth is the devil’s
 * advocate, further ones review.
 */
export const ROLES = ['build', 'review', 'refine', 'devils_advocate'] as const;

export type Role = (typeof ROLES)[number];

/** Fewer agents are no brainstorm; more than the most are taken for a mistake. */
export const FEWEST_AGENTS = 2;
export const MOST_AGENTS = 20;

export function isRole(value: unknown): value is Role {
  return (ROLES as readonly unknown[]).includes(value);
}

/** The role at a position (from 0) where none was asked for: the first four each have their own, all others review. */
export function roleAt(position: number): Role {
  return ROLES[position] ?? 'review';
}
