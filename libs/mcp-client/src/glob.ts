/**
 * True if a glob matches a text: `*` is any characters, `?` is one. Takes at most the product of their lengths in
 * steps.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let [inGlob, inText] = [0, 0];
  /** Position to resume from if the text after the last star does not match; the star then takes one more character. */
  let star: { glob: number; text: number } | undefined;
  while (inText < text.length) {
    const wanted = glob[inGlob];
    if (wanted === '*') {
      star = { glob: ++inGlob, text: inText };
    } else if (wanted === '?' || (wanted !== undefined && wanted === text[inText])) {
      inGlob += 1;
      inText += 1;
    } else if (star) {
      inGlob = star.glob;
      inText = star.text += 1;
    } else return false;
  }
  return /^\**$/.test(glob.slice(inGlob));
}

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((it) => matchesGlob(it, text));
}
