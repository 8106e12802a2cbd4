import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import { freshDataDir, type Parley, startParley } from '../support/parley.js';
import { Api } from '../support/workflow.js';

/** The built service on a database of its own. */
export interface InteropStage {
  parley: Parley;
  api: Api;
  /** Something to end before the service does. */
  defer(end: () => unknown): void;
}

/** Starts the service before the tests of a suite, and stops it after them with all that was deferred. */
export function useInteropStage(): InteropStage {
  const ends: (() => unknown)[] = [];
  const stage = { defer: (end: () => unknown) => void ends.push(end) } as InteropStage;
  const data = freshDataDir();
  before(async () => {
    stage.parley = await startParley({ dataDir: data.path });
    stage.api = new Api(stage.parley.url);
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
    await stage.parley?.stop();
    await data.remove();
  });
  return stage;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A server whose port is known before what it serves is made: frameworks write it into their cards. */
export async function serve(make: (port: number) => Promise<Handler>): Promise<{ url: string; stop(): void }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.on('request', await make(port));
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}
