const START = '/';
/** Maximum length of the path, as it is given and as it is encoded. */
const MAX_LENGTH = 1_000;
/**
 * Base URL for resolving a path; no service has it. If a path resolves to another origin than this, the path names
 * another host and is not accepted.
 */
const BASE = 'http://parley.invalid';

/**
 * Reads the page of the console to show after a sign-in. Only an address of this service is accepted, so that a link
 * to a sign-in cannot lead a person elsewhere; any other text yields the start page.
 */
export function readReturnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > MAX_LENGTH) return START;
  // Browsers read a backslash as a slash, and skip tabs and line breaks.
  if (!/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted)) return START;
  const url = URL.parse(wanted, BASE);
  if (url?.origin !== BASE || /^\/(\/|auth(\/|$))/.test(url.pathname)) return START;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // Encoded, a text can be nine times as long, and a browser drops a cookie of more than 4 KiB.
  return path.length > MAX_LENGTH ? START : path;
}
