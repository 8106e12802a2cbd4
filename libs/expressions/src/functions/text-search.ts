/** The platform's own search takes as long as both texts multiplied, at worst: it gets no longer needles, and none from behind. */
const LONGEST_NEEDLE = 64;

/** Where a text first has another from there on, in UTF-16 code units, or -1. Takes as long as both added, at worst. */
export function firstIndex(text: string, needle: string, from = 0): number {
  if (needle.length <= LONGEST_NEEDLE) return text.indexOf(needle, from);
  return search(text, needle, from, text.length, false);
}

/** Where a text last has another that begins there or before. */
export function lastIndex(text: string, needle: string, upTo = text.length): number {
  if (needle === '') return Math.min(upTo, text.length);
  return search(text, needle, 0, upTo, true);
}

/** Knuth, Morris, Pratt. */
function search(text: string, needle: string, from: number, upTo: number, last: boolean): number {
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

/** For each beginning of a text: how long its longest beginning is that it also ends with. */
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
