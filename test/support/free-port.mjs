import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Range of ports below those that systems assign to connections, and without those that browsers refuse to call. */
const [FIRST, END] = [10_100, 30_000];

/** Number of tries after which a port may be used again, since nearly all ports have been used by then. */
const MOST_TRIES = 1_000;

/**
 * Makes a server listen on a free port of 127.0.0.1 that no other server of this test run gets. The server can
 * therefore return to the port after any time, and no shared service knows the card of another agent there.
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

/** Records a port. @returns true if this test run has not used the port before */
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

/** Returns a free port that no other caller of this function gets, for a service that must restart on the same port. */
export async function freePort() {
  const probe = createServer();
  const port = await listenAnywhere(probe);
  probe.close();
  await once(probe, 'close');
  return port;
}
