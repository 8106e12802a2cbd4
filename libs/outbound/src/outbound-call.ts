/** One HTTP call as the outbound client sends it, without the forms of the web. */
export interface OutboundCall extends OutboundTimes {
  url: URL;
  method: 'GET' | 'POST';
  /** Names are in lower case. */
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** `error`: a redirect is refused instead of followed. */
  redirect?: 'follow' | 'error';
}

/**
 * The limits of one call, in milliseconds; 0 is no limit. The first two are watched by a coarse clock: they may come up
 * to a second late.
 */
export interface OutboundTimes {
  /** Until the answer's head has come, default 300,000. */
  firstByteMs?: number;
  /** Between two pieces of the answer's body, default 300,000. */
  idleMs?: number;
  /** Until the answer's body has ended, default no limit. */
  totalMs?: number;
}

/**
 * The answer to an OutboundCall: its head has come, its body is read once, by `text` or `pieces`, or given up by
 * `discard`. gzip, deflate and brotli are taken off. A failure in the body has the types of the outbound client.
 */
export interface OutboundAnswer {
  readonly status: number;
  /** A header by its name in lower case; several of one name are joined by commas. */
  header(name: string): string | undefined;
  /**
   * The whole body, as UTF-8.
   * @throws OutboundTooLongError beyond `maxBytes`, counted after decoding
   */
  text(maxBytes: number): Promise<string>;
  /** The body piece by piece, as it comes. Whoever stops before its end closes the connection. */
  pieces(): AsyncIterable<Uint8Array>;
  /** Lets go of the body unread. */
  discard(): void;
}
