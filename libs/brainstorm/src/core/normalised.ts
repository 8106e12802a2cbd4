/** Scripts that are written without spaces between words. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Made when a text is in one of those: it takes what Unicode says of all of them. */
let segmenter: Intl.Segmenter | undefined;

/** What counts as the same text in a merge: neither case nor spaces make a difference. */
export function normalised(text: string): string {
  return text.toLowerCase().trim().replace(/\s+/g, ' ');
}

/** Whether a text has so many words: what spaces part, and what Unicode does where a script has no spaces. */
export function hasWords(text: string, fewest: number): boolean {
  let words = 0;
  for (const [piece] of text.matchAll(/\S+/g)) {
    words += WITHOUT_SPACES.test(piece) ? wordsIn(piece, fewest) : 1;
    if (words >= fewest) return true;
  }
  return false;
}

/** No more than `most` are counted. */
function wordsIn(text: string, most: number): number {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  let words = 0;
  for (const { isWordLike } of segmenter.segment(text)) {
    if (isWordLike) words += 1;
    if (words === most) break;
  }
  return words;
}
