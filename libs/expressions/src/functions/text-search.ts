/**
 * Longest needle for the built-in search, whose worst case is the product of both lengths. Backward searches avoid it.
 */
const LONGEST_NEEDLE = 64;

/**
 * Returns the first index of `needle` at or after `from`, in UTF-16 code units, or -1. Worst case: the sum of both
 * lengths.
 */
export function firstIndex(text: string, needle: string, from = 0): number {
  if (needle.length <= LONGEST_NEEDLE) return text.indexOf(needle, from);
  return searchText(text, needle, from, text.length, false);
}

/** Returns the last index of `needle` that is at most `upTo`, in UTF-16 code units, or -1. */
export function lastIndex(text: string, needle: string, upTo = text.length): number {
  if (needle === '') return Math.min(upTo, text.length);
  return searchText(text, needle, 0, upTo, true);
}

/** Searches by Knuth, Morris and Pratt. */
function searchText(text: string, needle: string, from: number, upTo: number, last: boolean): number {
  const borders = bordersOf(needle);
  let matched = 0;
  let found = -1;
  for (let index = from; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === unit) matched += 1;
    if (matched < needle.length) continue;
    const begin = index - needle.length + 1;
    if (begin > upTo) return found;
    found = begin;
    if (!last) return found;
    matched = borders[matched - 1] ?? 0;
  }
  return found;
}

/**
 * Returns for each prefix of a text the length of its longest proper border, that is a prefix that is also a suffix.
 */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let index = 1; index < text.length; index++) {
    while (length > 0 && text.charCodeAt(index) !== text.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(index) === text.charCodeAt(length)) length += 1;
    borders[index] = length;
  }
  return borders;
}
