/** A `fetch` whose own limits may be set; 0 turns one off. */
export type AgentFetch = (
  input: string | URL | Request,
  init?: RequestInit & { firstByteMs?: number; idleMs?: number },
) => Promise<Response>;

/** The outbound door, as far as agents need it; the platform's OutboundHttp is one. */
export interface AgentHttp {
  readonly fetch: AgentFetch;
  /** A GET through an HTTP cache that honours `max-age` and `ETag` (row K15). */
  readonly cachedFetch: AgentFetch;
}
