/**
 * Maximum number of UTF-16 code units of an agent's failure text. A longer text is truncated, as such texts are often
 * repeated.
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

/** Removes an unpaired high surrogate from the end of a text; the next piece may have the other half. */
export function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

/** Maximum number of UTF-16 code units that are searched for a stack trace. */
const LONGEST_TRACE = 64 * 1024;
/** First line of a stack trace of Python, which ends with the error itself. */
const PYTHON_TRACE = /^\s*Traceback \(most recent call last\):/;
/** Line of a stack trace of JavaScript, Java, Kotlin or .NET. */
const TRACE_LINE = /^\s+at |^\s*Caused by: |^\s*\.\.\. \d+ (more|common frames omitted)/;

/** Returns the text of an error without the stack trace that some agents send with it. */
export function withoutStackTrace(text: string): string {
  const lines = textStart(text, LONGEST_TRACE).split('\n');
  const trace = lines.findIndex((line) => PYTHON_TRACE.test(line) || TRACE_LINE.test(line));
  if (trace < 0) return text;
  const before = lines.slice(0, trace);
  const isPython = PYTHON_TRACE.test(lines[trace] ?? '');
  const last = isPython ? lines.slice(trace).findLast((line) => /^\S/.test(line)) : undefined;
  return [...before, last ?? ''].join('\n').trim() || (lines[trace] ?? '').trim();
}

/**
 * Removes the characters of a set from the end of a text. Takes time linear in the number of removed characters: the
 * pattern `/\/+$/` restarts at each slash and takes quadratic time.
 * @param characters set of characters, each of one UTF-16 code unit
 */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

/** Returns the text before the first character of a set, or the whole text without one. Reads each character once. */
export function textBefore(text: string, characters: string): string {
  const ends = Array.from(characters, (character) => text.indexOf(character)).filter((end) => end >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

/** Maximum length of the id of a Message, context or Task, in characters. */
export const LONGEST_ID = 256;

/**
 * Characters that ids must not have: PostgreSQL rejects NUL, and encodes all unpaired surrogates alike, which would
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

/** Maximum number of UTF-16 code units of a URL that is saved, read from a card or called. */
export const LONGEST_URL = 2_048;

/** Error text for a URL longer than LONGEST_URL; in a sentence it follows the name of the URL. */
export const TOO_LONG_URL = `must have at most ${LONGEST_URL} characters`;

/**
 * Error text for an agent's URL with a user name or password; in a sentence it follows the name of the URL. Credentials
 * belong in stored credentials, since URLs are shown.
 */
export const NO_USERINFO = 'must not carry a user name or password';

/** True if a URL has a user name or password (`http://user:password@host/`). */
export function hasUserinfo(url: string): boolean {
  if (!url.includes('@')) return false;
  if (!URL.canParse(url)) return USERINFO.test(url);
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

/**
 * Returns the error text for a URL that must not be saved or called; in a sentence it follows the name of the URL.
 * `undefined` for a valid URL.
 */
export function urlProblem(url: string): string | undefined {
  if (url.length > LONGEST_URL) return TOO_LONG_URL;
  return hasUserinfo(url) ? NO_USERINFO : undefined;
}

/** Returns a URL without its user name and password, as it is shown to its owner. */
export function withoutUserinfo(url: string): string {
  if (!hasUserinfo(url)) return url;
  if (!URL.canParse(url)) return url.replace(USERINFO, '$1');
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}

/** Returns a URL for logs and errors: without user name, password, query and fragment, which may hold secrets. */
export function redactedUrl(url: string): string {
  return briefText(textBefore(withoutUserinfo(url), '?#'), LONGEST_URL);
}

const USERINFO = /^([a-z][a-z0-9+.-]*:\/*)[^/?#]*@/i;
