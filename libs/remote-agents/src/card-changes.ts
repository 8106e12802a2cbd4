import { type JsonDifference, jsonDifferences } from '#libs/protocol';
import type { CardContent } from './card-content.js';

/** One difference between two cards. */
export interface CardChange extends JsonDifference {
  /** Whether it is about what callers rely on. */
  significant: boolean;
}

/** More are not reported; what is significant is reported first. */
const MAX_CHANGES = 100;

/**
 * Who the agent is, where it is, what it does for whom, and who vouches for that. The rest (version, descriptions and
 * links of the whole, modes, capabilities) changes in the ordinary life of an agent.
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

/** What has changed from one card to another, in the order of the paths. */
export function cardChanges(from: CardContent, to: CardContent): CardChange[] {
  if (from.hash === '' || to.hash === '') return wholeChange(from, to);
  const changes = [...jsonDifferences(from.content, to.content)].map(weighed);
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

function weighed({ path, kind, ...values }: JsonDifference): CardChange {
  return { path, kind, significant: SIGNIFICANT.has(path.split('/')[1] ?? ''), ...values };
}
