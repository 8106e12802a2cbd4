/** What is wrong with an agent's URL that says who calls: there are credentials for that, and URLs are shown. */
export const NO_USERINFO = 'must not carry a user name or password';

/** Whether a URL says who calls (`http://user:password@host/`). */
export function hasUserinfo(url: string): boolean {
  if (!url.includes('@')) return false;
  if (!URL.canParse(url)) return USERINFO.test(url);
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
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
  return withoutUserinfo(url).replace(/[?#].*$/s, '');
}

const USERINFO = /^([a-z][a-z0-9+.-]*:\/*)[^/?#]*@/i;
