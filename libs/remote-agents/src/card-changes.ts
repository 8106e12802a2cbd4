import { type JsonDifference, jsonDifferences } from '#libs/protocol';
import type { CardContent } from './card-content.js';

/** Difference between two cards. */
export interface CardChange extends JsonDifference {
  /** True if callers rely on the changed member. */
  significant: boolean;
}

/** Maximum number of reported changes; significant ones take precedence. */
const MAX_CHANGES = 100;

/**
 * Members that callers rely on: identity, addresses, skills, credentials and signatures. The others (version,
 * descriptions and links of the whole, modes, capabilities) change in normal operation.
 */
const SIGNIFICANT = new Set([
  'name',
  'supportedInterfaces',
  'provider',
  'skills',
  'securitySchemes',
  'securityRequirements',
  'security',
  'signatures',
]);

/** Returns the changes from one card to another, sorted by path. */
export function cardChanges(from: CardContent, to: CardContent): CardChange[] {
  if (from.hash === '' || to.hash === '') return wholeChange(from, to);
  const changes = [...jsonDifferences(from.content, to.content)].map(weighChange);
  const reported = changes.toSorted((a, b) => Number(b.significant) - Number(a.significant)).slice(0, MAX_CHANGES);
  return reported.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

export function isSignificant(changes: readonly CardChange[]): boolean {
  return changes.some((it) => it.significant);
}

function wholeChange(from: CardContent, to: CardContent): CardChange[] {
  if (from.hash === to.hash) return [];
  return [{ path: '', kind: to.hash === '' ? 'removed' : 'added', significant: true }];
}

function weighChange({ path, kind, ...values }: JsonDifference): CardChange {
  return { path, kind, significant: SIGNIFICANT.has(path.split('/')[1] ?? ''), ...values };
}
