/** So much of what an agent says of its failure is passed on: it is reported in several places. */
const MOST = 8_192;

/** The beginning of a text, where it is longer than the words of an error may be. It ends with a whole character. */
export function briefText(text: string, most = MOST): string {
  return text.length <= most ? text : `${textStart(text, most)}…`;
}

/** Returns at most so many UTF-16 code units of a text, without half a character at their end. */
export function textStart(text: string, most: number): string {
  return text.length <= most ? text : withoutHalf(text.slice(0, most));
}

/** Returns a text without the first half of a character at its end: the second may come with the next piece. */
export function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
