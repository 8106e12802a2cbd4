import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import type { JsonObject } from '../../libs/protocol/src/index.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { freshDataDir, type Parley, startParley } from '../support/parley.js';
import { Api } from '../support/workflow.js';

/** The built service on a database of its own, with a model for its agents. */
export interface InteropStage {
  parley: Parley;
  api: Api;
  /** What the model answers to a text; to any other it says `about …`. */
  says: Map<string, FakeAnswer>;
  /** Something to end after the tests of the suite. */
  defer(end: () => unknown): void;
}

interface Service {
  parley: Parley;
  api: Api;
  says: Map<string, FakeAnswer>;
  stop(): Promise<void>;
}

let service: Promise<Service> | undefined;
/** The suites that are not over. */
let suites = 0;

/** The stage of a suite: the service is that of all suites, and stops after the last; what is deferred is its own. */
export function useInteropStage(): InteropStage {
  const ends: (() => unknown)[] = [];
  suites += 1;
  const stage = { defer: (end: () => unknown) => void ends.push(end) } as InteropStage;
  before(async () => {
    const { parley, api, says } = await (service ??= startService());
    Object.assign(stage, { parley, api, says });
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
    suites -= 1;
    if (suites === 0) await (await service)?.stop();
  });
  return stage;
}

async function startService(): Promise<Service> {
  const says = new Map<string, FakeAnswer>();
  const llm = await FakeLlm.start();
  llm.answer = (body) => {
    const text = lastText(body);
    return says.get(text) ?? `about ${text}`;
  };
  const data = freshDataDir();
  const env = { LLM_BASE_URL: llm.url, LLM_MODEL: 'fake' };
  const parley = await startParley({ dataDir: data.path, env });
  const stop = async (): Promise<void> => {
    await parley.stop();
    await llm.stop();
    await data.remove();
  };
  return { parley, api: new Api(parley.url), says, stop };
}

function lastText({ messages }: JsonObject): string {
  const last = (messages as unknown as { content: string | { text?: string }[] }[]).at(-1)?.content ?? '';
  return typeof last === 'string' ? last : last.map(({ text = '' }) => text).join('');
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
