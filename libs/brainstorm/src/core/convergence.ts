import type { CanonicalState } from './canonical-state.js';
import { normalizeText } from './normalised.js';

/** Change of the confidence between two passes below which the confidence counts as stable. */
const SETTLED = 0.02;
/** Minimum confidence: a brainstorm with a lower confidence has not converged. */
const FLOOR = 0.5;

/** Decision whether a brainstorm has converged after a pass, with a sentence that explains it. */
export interface Convergence {
  converged: boolean;
  sentence: string;
}

/**
 * Decides whether a brainstorm has converged. It has converged if all of these hold:
 * - The pass added no critical risk.
 * - The plan has a step.
 * - There was an earlier pass to compare the confidence with.
 * - The confidence is at least 0.5 and changed by less than 0.02.
 *
 * After the maximum number of iterations it counts as converged in any case.
 */
export function convergenceOf(before: CanonicalState, after: CanonicalState, maxIterations: number): Convergence {
  const { iteration } = after.meta;
  const open = reasonsToGoOn(before, after);
  if (open.length === 0) return { converged: true, sentence: describeConvergence(before, after) };
  const still = open.join(', and ');
  if (iteration >= maxIterations) {
    return {
      converged: true,
      sentence: `Stopped after ${withCount(iteration, 'iteration')}, the most allowed: ${still}.`,
    };
  }
  return { converged: false, sentence: `Goes on after iteration ${iteration}: ${still}.` };
}

function reasonsToGoOn(before: CanonicalState, after: CanonicalState): string[] {
  const known = new Set(before.risks.map(({ text }) => normalizeText(text)));
  const critical = after.risks.filter(
    ({ text, severity }) => severity === 'critical' && !known.has(normalizeText(text)),
  );
  const { confidence } = after.metrics;
  const moved = Math.abs(confidence - before.metrics.confidence);
  const first = before.meta.iteration === 0;
  return [
    ...(critical.length > 0
      ? [`there ${critical.length === 1 ? 'is' : 'are'} ${withCount(critical.length, 'new critical risk')}`]
      : []),
    ...(after.execution_plan.length === 0 ? ['the plan has no complete step'] : []),
    ...(first ? ['there was no confidence to compare with'] : []),
    ...(!first && !isSettled(moved) ? [`confidence moved by ${twoDecimals(moved)} to ${twoDecimals(confidence)}`] : []),
    ...(confidence < FLOOR ? [`a confidence of ${twoDecimals(confidence)} is below ${twoDecimals(FLOOR)}`] : []),
  ];
}

function describeConvergence(before: CanonicalState, after: CanonicalState): string {
  const moved = Math.abs(after.metrics.confidence - before.metrics.confidence);
  const plan = withCount(after.execution_plan.length, 'step');
  return (
    `Converged in iteration ${after.meta.iteration}: no new critical risk, a plan of ${plan}, ` +
    `and confidence moved by ${twoDecimals(moved)} to ${twoDecimals(after.metrics.confidence)}.`
  );
}

/**
 * True if the confidence changed by less than SETTLED. Differences of decimal numbers are inexact, so a small
 * tolerance is subtracted: 0.82 - 0.8 counts as 0.02.
 */
function isSettled(moved: number): boolean {
  return moved < SETTLED - 1e-9;
}

function withCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function twoDecimals(value: number): string {
  return value.toFixed(2);
}
