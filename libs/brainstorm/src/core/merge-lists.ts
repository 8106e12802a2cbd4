import type { PlanStep, Risk } from './canonical-state.js';
import { hasWords, normalised } from './normalised.js';
import type { Source } from './provenance.js';

/** A step with a shorter description says nothing that could be done. */
const FEWEST_WORDS = 10;

/** An entry of a merged list, and who set it; nobody in this brainstorm, where it is absent. */
export interface Sourced<T> {
  value: T;
  source: Source | undefined;
}

/** What one agent said, or what was there before all of them. */
export interface Contribution<T> {
  values: readonly T[];
  /** By position; of one agent all the same. */
  sourceOf: (index: number) => Source | undefined;
}

/** All risks that anybody named and that the last word on does not call resolved. */
export function mergeRisks(contributions: readonly Contribution<Risk>[]): Sourced<Risk>[] {
  const merged = collected(
    contributions,
    (risk) => risk.text,
    (before, next) => ({
      value: { ...next.value, text: before.value.text },
      source: sameRisk(before.value, next.value) ? before.source : next.source,
    }),
  );
  return merged.filter(({ value }) => !value.resolved);
}

/** All steps: those of one title are one, with the longer description; those that say too little are none. */
export function mergePlan(contributions: readonly Contribution<PlanStep>[]): Sourced<PlanStep>[] {
  const merged = collected(
    contributions,
    (step) => step.title,
    (before, next) =>
      next.value.description.length > before.value.description.length
        ? { value: { ...before.value, description: next.value.description }, source: next.source }
        : before,
  );
  return merged.filter(({ value }) => hasWords(value.description, FEWEST_WORDS));
}

/** All texts, each once. */
export function mergeTexts(contributions: readonly Contribution<string>[]): Sourced<string>[] {
  const merged = collected(
    contributions,
    (text) => text,
    (before) => before,
  );
  return merged.filter(({ value }) => value.trim() !== '');
}

function collected<T>(
  contributions: readonly Contribution<T>[],
  keyOf: (value: T) => string,
  join: (before: Sourced<T>, next: Sourced<T>) => Sourced<T>,
): Sourced<T>[] {
  const merged = new Map<string, Sourced<T>>();
  for (const { values, sourceOf } of contributions) {
    for (const [index, value] of values.entries()) {
      const key = normalised(keyOf(value));
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
