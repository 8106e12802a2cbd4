/** Maximum time for a client to send its headers. */
const MAX_HEADERS_MS = 20_000;

/** Returns Fastify's options for slow requests; those of Node's own server are under `http`. */
export function requestTimes(requestTimeoutMs: number) {
  const headersTimeout = Math.min(MAX_HEADERS_MS, requestTimeoutMs);
  return {
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout, connectionsCheckingInterval: headersTimeout / 4 },
  };
}

/** Returns CORS options: what pages of these origins may send and read. */
export function corsOptions(origins: readonly string[]) {
  return {
    origin: [...origins],
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: [
      'Content-Type',
      'Content-Disposition',
      'Authorization',
      'X-API-Key',
      'A2A-Version',
      'A2A-Extensions',
      'X-A2A-Extensions',
      'Last-Event-ID',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'If-Range',
      'Range',
      'Mcp-Method',
      'Mcp-Name',
      'Mcp-Protocol-Version',
      'Mcp-Session-Id',
      'traceparent',
      'tracestate',
    ],
    exposedHeaders: [
      'A2A-Extensions',
      'Content-Disposition',
      'Content-Range',
      'X-A2A-Extensions',
      'ETag',
      'Link',
      'Location',
      'Mcp-Session-Id',
      'Next-Page-Token',
      'Retry-After',
      'WWW-Authenticate',
    ],
  };
}
