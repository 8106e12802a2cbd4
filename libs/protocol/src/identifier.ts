/** Maximum number of characters of the id of a Message, a context or a Task. */
export const LONGEST_ID = 256;

/**
 * Characters not allowed in ids: PostgreSQL rejects NUL, and unpaired surrogates are all encoded alike, which would
 * make different ids equal.
 */
const UNFIT = /[\p{Cc}\p{Cs}]/u;

/** Error text for an invalid id. */
export const NO_ID = `must be a string of at most ${LONGEST_ID} characters, none of them a control character`;

/** True if a text has no control character and no unpaired surrogate. */
export function isPlainText(text: string): boolean {
  return !UNFIT.test(text);
}

/** True if a value is a valid id of a Message, a context or a Task. */
export function isIdentifier(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || !isPlainText(value)) return false;
  return value.length <= LONGEST_ID || [...value].length <= LONGEST_ID;
}
