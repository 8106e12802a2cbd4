/** The platform's own search takes as long as both texts multiplied, at worst: it gets no longer needles than this. */
const LONGEST_NEEDLE = 64;

/** Where a text first has another from there on, in UTF-16 code units, or -1. Takes no longer than both added, times a constant. */
export function firstIndex(text: string, needle: string, from = 0): number {
  if (needle.length <= LONGEST_NEEDLE) return text.indexOf(needle, from);
  for (const index of occurrences(text, needle, from)) return index;
  return -1;
}

/** Where a text last has another that begins there or before. */
export function lastIndex(text: string, needle: string, upTo = text.length): number {
  if (needle === '') return Math.min(upTo, text.length);
  let last = -1;
  for (const index of occurrences(text, needle, 0)) {
    if (index > upTo) break;
    last = index;
  }
  return last;
}

/** Knuth, Morris, Pratt. */
function* occurrences(text: string, needle: string, from: number): Generator<number> {
  if (needle.length > text.length - from) return;
  const borders = bordersOf(needle);
  let matched = 0;
  for (let index = from; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === unit) matched += 1;
    if (matched < needle.length) continue;
    yield index - needle.length + 1;
    matched = borders[matched - 1] ?? 0;
  }
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
