import type { PlanStep, Risk } from './canonical-state.js';
import { hasWords, normalizeText } from './normalised.js';
import type { Source } from './provenance.js';

/** Minimum words of a step's description; a shorter one is not actionable. */
const FEWEST_WORDS = 10;

/** Entry of a merged list with its source, which is absent if no agent of this brainstorm set the entry. */
export interface Sourced<T> {
  value: T;
  source: Source | undefined;
}

/** Values of one agent, or the values before the pass. */
export interface Contribution<T> {
  values: readonly T[];
  /** Returns the source by position; for an agent it is always the same. */
  sourceOf: (index: number) => Source | undefined;
}

/** Merges the risks of all agents without those that the last mention resolves. */
export function mergeRisks(contributions: readonly Contribution<Risk>[]): Sourced<Risk>[] {
  const merged = mergeByKey(
    contributions,
    (risk) => risk.text,
    (before, next) => ({
      value: { ...next.value, text: before.value.text },
      source: sameRisk(before.value, next.value) ? before.source : next.source,
    }),
  );
  return merged.filter(({ value }) => !value.resolved);
}

/**
 * Merges the steps of all agents. Steps of equal title become one, with the longer description. Short ones are dropped.
 */
export function mergePlan(contributions: readonly Contribution<PlanStep>[]): Sourced<PlanStep>[] {
  const merged = mergeByKey(
    contributions,
    (step) => step.title,
    (before, next) =>
      next.value.description.length > before.value.description.length
        ? { value: { ...before.value, description: next.value.description }, source: next.source }
        : before,
  );
  return merged.filter(({ value }) => hasWords(value.description, FEWEST_WORDS));
}

/** Merges the texts of all agents, each once. */
export function mergeTexts(contributions: readonly Contribution<string>[]): Sourced<string>[] {
  const merged = mergeByKey(
    contributions,
    (text) => text,
    (before) => before,
  );
  return merged.filter(({ value }) => value.trim() !== '');
}

function mergeByKey<T>(
  contributions: readonly Contribution<T>[],
  keyOf: (value: T) => string,
  join: (before: Sourced<T>, next: Sourced<T>) => Sourced<T>,
): Sourced<T>[] {
  const merged = new Map<string, Sourced<T>>();
  for (const { values, sourceOf } of contributions) {
    for (const [index, value] of values.entries()) {
      const key = normalizeText(keyOf(value));
      const before = merged.get(key);
      const next = { value, source: sourceOf(index) };
      merged.set(key, before ? join(before, next) : next);
    }
  }
  return [...merged.values()];
}

function sameRisk(one: Risk, other: Risk): boolean {
  return one.severity === other.severity && one.resolved === other.resolved;
}
