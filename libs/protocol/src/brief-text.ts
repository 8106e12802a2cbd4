/**
 * Maximum number of UTF-16 code units of an agent's failure text that is passed on; it is reported in several places.
 */
const MOST = 8_192;

/** Returns a text truncated to `most` UTF-16 code units, with `…` at its end if it was longer. Splits no character. */
export function briefText(text: string, most = MOST): string {
  return text.length <= most ? text : `${textStart(text, most)}…`;
}

/** Returns the first `most` UTF-16 code units of a text. Splits no character. */
export function textStart(text: string, most: number): string {
  return text.length <= most ? text : withoutHalf(text.slice(0, most));
}

/** Removes an unpaired high surrogate from the end of a text: the other half may come with the next piece. */
export function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
