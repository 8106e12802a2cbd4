/** So much of what an agent says of its failure is passed on: it is reported in several places. */
const MOST = 8_192;

/** The beginning of a text, where it is longer than the words of an error may be. It ends with a whole character. */
export function briefText(text: string, most = MOST): string {
  if (text.length <= most) return text;
  const isHalf = (text.codePointAt(most - 1) ?? 0) > 0xffff;
  return `${text.slice(0, isHalf ? most - 1 : most)}…`;
}
