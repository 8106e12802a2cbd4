import { briefText } from './brief-text.js';
import { textBefore } from './text-ends.js';

/** Number of UTF-16 code units that a URL may have wherever one is saved, read from a card or called. */
export const LONGEST_URL = 2_048;

/** Problem of a longer URL, to stand behind its name. */
export const TOO_LONG_URL = `must have at most ${LONGEST_URL} characters`;

/** What is wrong with an agent's URL that says who calls: there are credentials for that, and URLs are shown. */
export const NO_USERINFO = 'must not carry a user name or password';

/** Whether a URL says who calls (`http://user:password@host/`). */
export function hasUserinfo(url: string): boolean {
  if (!url.includes('@')) return false;
  if (!URL.canParse(url)) return USERINFO.test(url);
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

/** Returns why a URL is neither saved nor called, to stand behind its name; `undefined` if it may be. */
export function urlProblem(url: string): string | undefined {
  if (url.length > LONGEST_URL) return TOO_LONG_URL;
  return hasUserinfo(url) ? NO_USERINFO : undefined;
}

/** A URL as its owner is shown it: whoever else it names, it names no password. */
export function withoutUserinfo(url: string): string {
  if (!hasUserinfo(url)) return url;
  if (!URL.canParse(url)) return url.replace(USERINFO, '$1');
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}

/** A URL as logs and errors show it: where it leads, without what may be a secret in its query. */
export function shownUrl(url: string): string {
  return briefText(textBefore(withoutUserinfo(url), '?#'), LONGEST_URL);
}

const USERINFO = /^([a-z][a-z0-9+.-]*:\/*)[^/?#]*@/i;
