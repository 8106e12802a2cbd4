import { briefText } from './brief-text.js';
import { textBefore } from './text-ends.js';

/** Maximum number of UTF-16 code units of a URL that is saved, read from a card or called. */
export const LONGEST_URL = 2_048;

/** Problem of a longer URL, to follow its name in a sentence. */
export const TOO_LONG_URL = `must have at most ${LONGEST_URL} characters`;

/**
 * Problem of an agent's URL with a user name or password, to follow its name in a sentence. Credentials belong into
 * stored credentials, since URLs are shown.
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
 * Returns the problem of a URL that must not be saved or called, to follow its name in a sentence; `undefined` if there
 * is none.
 */
export function urlProblem(url: string): string | undefined {
  if (url.length > LONGEST_URL) return TOO_LONG_URL;
  return hasUserinfo(url) ? NO_USERINFO : undefined;
}

/** Returns a URL without user name and password, as shown to its owner. */
export function withoutUserinfo(url: string): string {
  if (!hasUserinfo(url)) return url;
  if (!URL.canParse(url)) return url.replace(USERINFO, '$1');
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}

/**
 * Returns a URL as shown in logs and errors: without user name, password, query and fragment, which may hold secrets.
 */
export function redactedUrl(url: string): string {
  return briefText(textBefore(withoutUserinfo(url), '?#'), LONGEST_URL);
}

const USERINFO = /^([a-z][a-z0-9+.-]*:\/*)[^/?#]*@/i;
