import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Below those that systems give to whoever asks for any port, and above the last one that browsers refuse to call. */
const [FIRST, END] = [10_100, 30_000];

/** Number of tries after which a port may be used again, since nearly all of them have been. */
const MOST_TRIES = 1_000;

/**
 * Has a server listen on a free port of 127.0.0.1 that no other server of this run of tests gets: it finds the port
 * free when it comes back, however long it was away, and no shared service knows the card of another agent there.
 */
export async function listenAnywhere(server) {
  for (let tries = 0; ; tries += 1) {
    const port = randomInt(FIRST, END);
    if (tries < MOST_TRIES && !isUnused(port)) continue;
    server.listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch (error) {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
    }
  }
}

/** Notes a port, and returns true if this run of tests has not used it before. */
function isUnused(port) {
  const folder = process.env.PARLEY_TEST_PORTS;
  if (folder === undefined) return true;
  try {
    writeFileSync(join(folder, String(port)), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
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
