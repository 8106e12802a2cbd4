import type { IncomingHttpHeaders } from 'node:http';

/** Whose pages may call: those of this service, by its hosts, and those that the operator lists. */
export interface CallingPages {
  /** The hosts, with their ports, that the service has in the eyes of the browser. */
  own: readonly (string | undefined)[];
  /** `https://app.example.com`; `*` stands for all. */
  listed: ReadonlySet<string>;
}

/**
 * Whether a request was caused by a page of another origin. A browser says so in `Origin`, with all that is not GET and
 * with all that a script may read, and in `Sec-Fetch-Site` (of pages that it trusts to be where they say). What says
 * neither is no browser, or one that reads what it is not shown.
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
 * Whether an origin is a host's. Its scheme does not count: behind a proxy that ends TLS the host is called by another
 * one, and browsers tell the two apart in `Sec-Fetch-Site`.
 */
function isOriginOf(origin: string, host: string): boolean {
  const [, scheme, named] = ORIGIN.exec(origin) ?? [];
  if (named === undefined) return false;
  const standard = scheme === 'https' ? ':443' : ':80';
  return withoutEnding(named, standard) === withoutEnding(host.toLowerCase(), standard);
}

/** As browsers write it. `null` is none. */
const ORIGIN = /^(https?):\/\/([^/\s@?#]+)$/;

function withoutEnding(text: string, ending: string): string {
  return text.endsWith(ending) ? text.slice(0, -ending.length) : text;
}
