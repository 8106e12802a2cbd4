/**
 * Removes the characters of a set from the end of a text. Takes time linear in what is removed: `/\/+$/` restarts at
 * each slash and takes quadratic time.
 * @param characters each one UTF-16 code unit
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

/** Returns the text before the first character of a set, or the whole text without one. Reads each character once. */
export function textBefore(text: string, characters: string): string {
  const ends = Array.from(characters, (character) => text.indexOf(character)).filter((end) => end >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}
