import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

/** Milliseconds after which Node's servers close an idle connection by default. */
const { keepAliveTimeout: USUAL_MS } = http.createServer();
/** Milliseconds after which servers of tests do, unless they choose a time. */
const KEPT_MS = 60_000;
const { createServer } = http;

/**
 * Lets the HTTP servers of tests keep idle connections for a minute instead of five seconds. A process of tests may stand
 * still so long that both its server's time and a request are due next: the server would close the connection first, and
 * the client would see "fetch failed".
 */
export function keepConnections() {
  http.createServer = (...given) => {
    const server = createServer(...given);
    if (server.keepAliveTimeout === USUAL_MS) server.keepAliveTimeout = KEPT_MS;
    return server;
  };
  syncBuiltinESMExports();
}
