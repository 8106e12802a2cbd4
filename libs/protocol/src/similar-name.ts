/** Maximum length of a mistyped name that is compared with known names, in characters. */
const LONGEST = 64;
/** Maximum number of known names that are compared. */
const MOST_KNOWN = 1_000;

/**
 * Returns the end of a message that proposes a known name, such as `; did you mean "input"?`; '' if no known name is
 * similar.
 */
export function nameHint(name: string, known: Iterable<string>): string {
  const similar = findSimilarName(name, known);
  return similar === undefined ? '' : `; did you mean "${similar}"?`;
}

/**
 * Returns the known name that differs least from a mistyped one; `undefined` if none is similar.
 * - Names of up to two characters may only differ in case, names of up to five in one step, longer ones in two steps.
 * - A step inserts, removes or replaces a character, or swaps two neighbors. Case does not count.
 * - Of names that differ equally, the first is returned. At most 1,000 known names are compared.
 */
export function findSimilarName(name: string, known: Iterable<string>): string | undefined {
  if (name === '' || name.length > LONGEST) return undefined;
  const typed = name.toLowerCase();
  let best: string | undefined;
  let limit = stepLimit(typed.length);
  let left = MOST_KNOWN;
  for (const candidate of known) {
    if (left-- === 0) break;
    if (candidate === name || Math.abs(candidate.length - typed.length) > limit) continue;
    const steps = countSteps(typed, candidate.toLowerCase(), limit);
    if (steps > limit || (steps > 0 && candidate.length <= steps + 1)) continue;
    best = candidate;
    if (steps === 0) break;
    limit = steps - 1;
    if (limit < 0) break;
  }
  return best;
}

function stepLimit(length: number): number {
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
}

/** Counts the steps between two texts (optimal string alignment); stops with `limit + 1` if there are more. */
function countSteps(one: string, other: string, limit: number): number {
  let previous: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let index = 1; index <= one.length; index++) {
    const next = [index];
    for (let column = 1; column <= other.length; column++) {
      const isEqual = one[index - 1] === other[column - 1];
      const isSwapped =
        index > 1 && column > 1 && one[index - 1] === other[column - 2] && one[index - 2] === other[column - 1];
      next[column] = Math.min(
        (row[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (row[column - 1] ?? 0) + (isEqual ? 0 : 1),
        isSwapped ? (previous[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    if (Math.min(...next) > limit && Math.min(...row) > limit) return limit + 1;
    [previous, row] = [row, next];
  }
  return row[other.length] ?? limit + 1;
}
