/** HTTP call of the outbound client, without the objects of the Fetch API. */
export interface OutboundCall extends OutboundTimes {
  url: URL;
  method: 'GET' | 'POST';
  /** Headers, with names in lower case. */
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** Handling of redirects; `error` refuses them. */
  redirect?: 'follow' | 'error';
}

/**
 * Limits of one call, in milliseconds; 0 is no limit. The first two are checked by a coarse clock and may expire up to
 * a second late.
 */
export interface OutboundTimes {
  /** Time until the answer's head has arrived, default 300,000. */
  firstByteMs?: number;
  /** Time between two pieces of the answer's body, default 300,000. */
  idleMs?: number;
  /** Time until the answer's body has ended, default no limit. */
  totalMs?: number;
}

/**
 * Answer to an OutboundCall whose head has arrived.
 *
 * - Its body is read once, as text or in pieces, or discarded.
 * - gzip, deflate and brotli are decoded.
 * - A failure in the body has the error types of the outbound client.
 */
export interface OutboundAnswer {
  readonly status: number;
  /** Returns a header by its lower-case name; several values are joined by commas. */
  getHeader(name: string): string | undefined;
  /**
   * Reads the whole body as UTF-8.
   * @throws OutboundTooLongError beyond `maxBytes`, counted after decoding
   */
  readText(maxBytes: number): Promise<string>;
  /** Yields the body piece by piece as it arrives. Stopping before its end closes the connection. */
  readPieces(): AsyncIterable<Uint8Array>;
  /** Discards the body unread. */
  discardBody(): void;
}
