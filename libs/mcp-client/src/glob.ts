/** Whether a text is what a glob says: `*` is any characters, `?` one of them. Takes time for their lengths' product at most. */
export function matchesGlob(glob: string, text: string): boolean {
  let [inGlob, inText] = [0, 0];
  /** Where to go on when the text behind the last star turns out to be another one: the star takes one more then. */
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
