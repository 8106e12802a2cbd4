import type { OutboundRequester } from '#libs/outbound';

/** A `fetch` whose own limits may be set; 0 turns one off. */
export type AgentFetch = (
  input: string | URL | Request,
  init?: RequestInit & { firstByteMs?: number; idleMs?: number },
) => Promise<Response>;

/** The outbound door, as far as agents need it; OutboundHttp is one. */
export interface AgentHttp {
  readonly fetch: AgentFetch;
  /** A GET through an HTTP cache that honours `max-age` and `ETag` (row K15). */
  readonly cachedFetch: AgentFetch;
  /** The same doors without the objects of the web, which cost more than the call. Absent: `fetch` does their work. */
  readonly request?: OutboundRequester;
  readonly cachedRequest?: OutboundRequester;
  /** Until when the cache alone answers a GET (`Date.now()`); 0, or absent, where it has to be asked at each call. */
  readonly freshUntil?: (url: URL, headers: Record<string, string>) => number;
}
