/**
 * Returns a text without the characters of a set at its end. Walks back from the end, so the time follows from what is
 * removed: `/\/+$/` in its place starts again at each slash and takes the square of their number.
 * @param characters each one UTF-16 code unit
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

/** Returns what stands before the first character of a set, or the whole text without one. Reads each character once. */
export function textBefore(text: string, characters: string): string {
  const ends = Array.from(characters, (character) => text.indexOf(character)).filter((end) => end >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}
