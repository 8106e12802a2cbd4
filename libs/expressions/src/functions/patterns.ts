import { type CelFunc, celFunc, CelScalar, celMethod } from '@bufbuild/cel';
import { RE2JS } from 're2js';
import { currentEvaluation } from '../evaluation.js';

const { BOOL, STRING } = CelScalar;

const LONGEST_PATTERN = 1_000;
/** Maximum size of a pattern: its characters times the repetitions in it. A larger pattern may take long to compile. */
const MOST_REPEATED = 20_000;
/**
 * Steps to compile a pattern, for each unit of its size (characters times repetitions). They also limit the memory of
 * compiled patterns.
 */
const STEPS_TO_COMPILE = 50;
/** Steps to compile a pattern, in addition to those for its size. */
const STEPS_OF_A_PATTERN = 1_000;
/** Amount of matching that costs one step: characters of the text times instructions of the compiled pattern. */
const INSTRUCTIONS_PER_STEP = 4;

/**
 * CEL function `matches`, by the engine RE2, which takes linear time. The steps of the worst case are counted before
 * a match.
 */
export const PATTERNS: readonly CelFunc[] = [
  celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
    return matchesPattern(this, pattern);
  }),
  celFunc('matches', [STRING, STRING], BOOL, matchesPattern),
];

/** Compiles a regular expression. @throws Error if RE2 does not support the pattern, or it is too large */
export function compiledPattern(pattern: string): RE2JS {
  if (pattern.length > LONGEST_PATTERN)
    throw new Error(`a regular expression has at most ${LONGEST_PATTERN} characters`);
  if (pattern.length * countRepetitions(pattern) > MOST_REPEATED)
    throw new Error(`a regular expression has at most ${MOST_REPEATED} characters times repetitions`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(`RE2 does not know this regular expression`, { cause: error });
  }
}

function matchesPattern(text: string, pattern: string): boolean {
  const { budget, patterns } = currentEvaluation();
  budget.chargeRead(text.length + pattern.length);
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    if (pattern.length <= LONGEST_PATTERN)
      budget.chargeSteps(STEPS_OF_A_PATTERN + pattern.length * countRepetitions(pattern) * STEPS_TO_COMPILE);
    compiled = compiledPattern(pattern);
    patterns.set(pattern, compiled);
  }
  budget.chargeSteps((text.length * compiled.programSize()) / INSTRUCTIONS_PER_STEP);
  return compiled.test(text);
}

/**
 * Returns an upper bound of how often RE2 repeats a part of a pattern in the compiled program: the product of all
 * `{n,m}` counts, at most 1,000, which is the limit of RE2 itself.
 */
export function countRepetitions(pattern: string): number {
  let product = 1;
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    product = Math.min(1_000, product * Math.max(1, Number(least), Number(most ?? 0)));
  }
  return product;
}
