import { readTimestamp } from '#libs/protocol';

/** Email address as HTML defines it for browsers. Labels have a maximum length, which bounds backtracking. */
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
/** Maximum length of an email address (RFC 5321). */
const LONGEST_EMAIL = 320;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const SCHEME = /^[a-z][a-z\d+.-]*:/i;
/** Characters that a URI must not contain. Characters beyond ASCII are allowed, as in the address bar of a browser. */
const NOT_IN_A_URI = /[\s\p{Cc}"<>\\^`{|}]|%(?![\da-f]{2})/iu;

/**
 * Formats that are enforced; any other one is only informative. `time` is not enforced: pydantic, zod and browsers
 * write times without the offset that draft 7 requires.
 */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', (text) => readTimestamp(`${text}T00:00:00Z`) !== undefined],
  ['date-time', (text) => readTimestamp(text) !== undefined],
  ['email', (text) => text.length <= LONGEST_EMAIL && EMAIL.test(text)],
  ['uri', (text) => SCHEME.test(text) && !NOT_IN_A_URI.test(text)],
  ['uuid', (text) => UUID.test(text)],
]);

/** True if a text has a format; any text has an unknown format. The check takes time linear in the text. */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS.get(format)?.(text) ?? true;
}
