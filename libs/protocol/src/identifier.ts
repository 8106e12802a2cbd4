/** Characters of the id of a Message, a context or a Task. */
export const LONGEST_ID = 256;

/** PostgreSQL does not keep NUL, and halves of characters are all written alike: two ids would be one. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;

/** How one is told of what is no id. */
export const NO_ID = `must be a string of at most ${LONGEST_ID} characters, none of them a control character`;

/** Whether a text has no control character, and no half of a character. */
export function isPlainText(text: string): boolean {
  return !UNFIT.test(text);
}

/** Whether a caller may name a Message, a context or a Task so. */
export function isIdentifier(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || !isPlainText(value)) return false;
  return value.length <= LONGEST_ID || [...value].length <= LONGEST_ID;
}
