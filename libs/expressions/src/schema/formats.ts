import { readTimestamp } from '#libs/protocol';

/** As HTML has it for what a browser takes as an email address; labels are bounded, so it goes back over little. */
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
/** Of RFC 5321. */
const LONGEST_EMAIL = 320;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const SCHEME = /^[a-z][a-z\d+.-]*:/i;
/** Characters beyond ASCII may stand in it, as in the address bar of a browser. */
const NOT_IN_A_URI = /[\s\p{Cc}"<>\\^`{|}]|%(?![\da-f]{2})/iu;

/**
 * The formats that texts are held to; any other one only tells. So does `time`: pydantic, zod and browsers write times
 * without an offset, which draft 7 asks for.
 */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', (text) => readTimestamp(`${text}T00:00:00Z`) !== undefined],
  ['date-time', (text) => readTimestamp(text) !== undefined],
  ['email', (text) => text.length <= LONGEST_EMAIL && EMAIL.test(text)],
  ['uri', (text) => SCHEME.test(text) && !NOT_IN_A_URI.test(text)],
  ['uuid', (text) => UUID.test(text)],
]);

/** Whether a text has a format, in a time that grows with its length at most. */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS.get(format)?.(text) ?? true;
}
