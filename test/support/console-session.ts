import { Api } from './workflow.js';

/** Header that the console sends with every request. */
export const OF_CONSOLE = { 'x-requested-with': 'parley-console' };

/** Headers of a browser after a sign-in: its session cookie, and the header of the console. */
export interface SignedIn {
  headers: Record<string, string>;
  /** Complete value of `Set-Cookie`. */
  setCookie: string;
  token: string;
}

/** Signs a browser in with the credentials of a caller. */
export async function signIn(url: string, credentials: Record<string, string>): Promise<SignedIn> {
  const { status, headers, text } = await new Api(url, credentials).call('POST', '/session');
  if (status !== 201) throw new Error(`The sign-in was refused: ${status} ${text}`);
  const setCookie = headers.getSetCookie()[0] ?? '';
  const cookie = setCookie.split(';', 1)[0] ?? '';
  return { headers: { ...OF_CONSOLE, cookie }, setCookie, token: cookie.slice(cookie.indexOf('=') + 1) };
}

/** Returns the status with which a service answers a request for the list of runs. */
export async function statusFor(url: string, headers: Record<string, string>): Promise<number> {
  return (await new Api(url, headers).call('GET', '/runs')).status;
}
