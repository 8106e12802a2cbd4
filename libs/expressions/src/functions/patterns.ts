import { type CelFunc, celFunc, CelScalar, celMethod } from '@bufbuild/cel';
import { RE2JS } from 're2js';
import { evaluation } from '../evaluation.js';

const { BOOL, STRING } = CelScalar;

const LONGEST_PATTERN = 1_000;
/** Characters times repetitions; a pattern beyond it may take long to compile. */
const MOST_REPEATED = 20_000;
/** For each character, times repetitions, and for each pattern: what is kept of it is bounded so, too. */
const STEPS_TO_COMPILE = 50;
const STEPS_OF_A_PATTERN = 1_000;
/** Characters times instructions that are gone through in one step. */
const INSTRUCTIONS_PER_STEP = 4;

/** `matches` by a linear engine, with what it takes at worst counted first. */
export const PATTERNS: readonly CelFunc[] = [
  celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
    return matches(this, pattern);
  }),
  celFunc('matches', [STRING, STRING], BOOL, matches),
];

/** @throws where RE2 does not know the pattern, or it is too large */
export function compiledPattern(pattern: string): RE2JS {
  if (pattern.length > LONGEST_PATTERN)
    throw new Error(`a regular expression has at most ${LONGEST_PATTERN} characters`);
  if (pattern.length * repetitions(pattern) > MOST_REPEATED)
    throw new Error(`a regular expression has at most ${MOST_REPEATED} characters times repetitions`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(`RE2 does not know this regular expression`, { cause: error });
  }
}

function matches(text: string, pattern: string): boolean {
  const { budget, patterns } = evaluation();
  budget.read(text.length + pattern.length);
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    if (pattern.length <= LONGEST_PATTERN)
      budget.spend(STEPS_OF_A_PATTERN + pattern.length * repetitions(pattern) * STEPS_TO_COMPILE);
    compiled = compiledPattern(pattern);
    patterns.set(pattern, compiled);
  }
  budget.spend((text.length * compiled.programSize()) / INSTRUCTIONS_PER_STEP);
  return compiled.test(text);
}

/** How often a part of a pattern may be repeated in its program; RE2 knows no more than 1,000 times, nested ones together. */
function repetitions(pattern: string): number {
  let product = 1;
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    product = Math.min(1_000, product * Math.max(1, Number(least), Number(most ?? 0)));
  }
  return product;
}
