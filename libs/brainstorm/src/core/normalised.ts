/** Characters of scripts that have no spaces between words. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Word segmenter, created for the first text in such a script: it loads Unicode data for all scripts. */
let segmenter: Intl.Segmenter | undefined;

/** Returns the form of a text that a merge compares: case and spaces are insignificant. */
export function normalizeText(text: string): string {
  return text.toLowerCase().trim().replace(/\s+/g, ' ');
}

/**
 * True if a text has at least `fewest` words. Spaces separate words; for scripts without spaces Unicode segmentation
 * does.
 */
export function hasWords(text: string, fewest: number): boolean {
  let words = 0;
  for (const [piece] of text.matchAll(/\S+/g)) {
    words += WITHOUT_SPACES.test(piece) ? wordsIn(piece, fewest) : 1;
    if (words >= fewest) return true;
  }
  return false;
}

/** Counts the words of a text in a script without spaces, at most `most`. */
function wordsIn(text: string, most: number): number {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  let words = 0;
  for (const { isWordLike } of segmenter.segment(text)) {
    if (isWordLike) words += 1;
    if (words === most) break;
  }
  return words;
}
