/** Returns at most `most` UTF-16 code units of a text, without splitting a surrogate pair. */
export function textStart(text: string, most: number): string {
  const start = text.slice(0, Math.max(most, 0));
  const last = start.charCodeAt(start.length - 1);
  return start.length < text.length && last >= 0xd800 && last <= 0xdbff ? start.slice(0, -1) : start;
}

/** Truncates a text longer than `most` and appends an ellipsis. */
export function briefText(text: string, most: number): string {
  return text.length <= most ? text : `${textStart(text, most)}…`;
}
