import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems give to whoever asks for any port, and above the last one that browsers refuse to call. */
const [FIRST, END] = [10_100, 30_000];

/**
 * Has a server listen on a free port of 127.0.0.1 that nobody else is given: it finds the port free when it comes back,
 * however long it was away.
 */
export async function listenAnywhere(server) {
  for (;;) {
    const port = randomInt(FIRST, END);
    server.listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch (error) {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
    }
  }
}

/** A port that was free a moment ago, and that nobody else is given, for a service that must come back on the same one. */
export async function freePort() {
  const probe = createServer();
  const port = await listenAnywhere(probe);
  probe.close();
  await once(probe, 'close');
  return port;
}
