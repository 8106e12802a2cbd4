import type { IncomingHttpHeaders } from 'node:http';

/** Pages that may call: those of this service, by its hosts, and those that the operator lists. */
export interface CallingPages {
  /** Hosts of the service, with their ports, as the browser sees them. */
  own: readonly (string | undefined)[];
  /** Origins such as `https://app.example.com`; `*` matches all. */
  listed: ReadonlySet<string>;
}

/**
 * True if a page of another origin caused the request. A browser reports that in `Origin`, for all methods but GET and
 * for everything that a script may read, and in `Sec-Fetch-Site` (for trustworthy pages). A request with neither header
 * comes from no browser, or its response is not exposed to the page.
 */
export function isForeignPage(headers: IncomingHttpHeaders, { own, listed }: CallingPages): boolean {
  const { origin } = headers;
  if (origin !== undefined) {
    if (listed.has(origin) || listed.has('*')) return false;
    if (!own.some((host) => host !== undefined && isOriginOf(origin, host))) return true;
  }
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/**
 * True if an origin has this host. The scheme is ignored: behind a proxy that terminates TLS it differs, and browsers
 * report the difference in `Sec-Fetch-Site`.
 */
function isOriginOf(origin: string, host: string): boolean {
  const [, scheme, named] = ORIGIN.exec(origin) ?? [];
  if (named === undefined) return false;
  const standard = scheme === 'https' ? ':443' : ':80';
  return withoutEnding(named, standard) === withoutEnding(host.toLowerCase(), standard);
}

/** Origin as browsers write it; `null` does not match. */
const ORIGIN = /^(https?):\/\/([^/\s@?#]+)$/;

function withoutEnding(text: string, ending: string): string {
  return text.endsWith(ending) ? text.slice(0, -ending.length) : text;
}
