import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { OutboundHttp } from '#libs/http-client';
import type { JsonObject } from '#libs/protocol';
import { loadConfig, ReceivedAnswers } from '#libs/service';
import { CardAgent } from '../../../test/support/card-agent.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

const MIB = 1024 * 1024;

describe('the card of an agent that was called', () => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  let directory: HttpAgentDirectory;
  let agent: CardAgent;

  beforeEach(async () => {
    directory = new HttpAgentDirectory({ http });
    agent = await CardAgent.start();
  });
  afterEach(() => agent.stop());
  afterAll(() => http.close());

  /** Resolves a client for the agent at `path`, which serves this card. */
  async function called(card: JsonObject, path = '/one'): Promise<unknown> {
    const text = JSON.stringify(agent.plainCard(card));
    agent.places.set(`${path}/.well-known/agent-card.json`, (_request, response) => void response.end(text));
    return directory.resolveClient(agent.url + path);
  }

  it('is kept with its client where it is short', async () => {
    const client = await called({});
    expect(await called({})).toBe(client);
    expect(directory.kept.clients).toBe(1);
    expect(directory.kept.bytes).toBeLessThan(16 * 1024);
  });

  it('is not kept where it has more than 64 KiB', async () => {
    await called({ description: 'x'.repeat(64 * 1024) });
    expect(directory.kept).toEqual({ clients: 0, bytes: 0 });
  });

  it('is not kept where it is short and takes much memory', async () => {
    await called({ skills: Array<JsonObject>(10_000).fill({}) });
    expect(directory.kept).toEqual({ clients: 0, bytes: 0 });
  });

  it('is forgotten where a longer one has taken its place', async () => {
    await called({});
    await called({ description: 'x'.repeat(64 * 1024) });
    expect(directory.kept).toEqual({ clients: 0, bytes: 0 });
  });

  it('gives its room to others where the sum of all is reached', async () => {
    for (let place = 0; place < 80; place += 1) await called({ skills: Array<JsonObject>(900).fill({}) }, `/${place}`);
    expect(directory.kept.clients).toBeLessThan(80);
    expect(directory.kept.clients).toBeGreaterThan(40);
    expect(directory.kept.bytes).toBeLessThanOrEqual(32 * MIB);
  });

  it('has at most 2 MiB, counted after gzip is taken off', async () => {
    const text = gzipSync(JSON.stringify(agent.plainCard({ description: 'x'.repeat(2 * MIB) })));
    agent.places.set('/.well-known/agent-card.json', (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(text);
    });
    const failure = { kind: 'invalid-response', message: `the answer is longer than ${2 * MIB} bytes` };
    await expect(directory.resolveClient(agent.url)).rejects.toMatchObject(failure);
  });

  it('is read in the room of all answers', async () => {
    const room = new ReceivedAnswers({ bytes: 1, waitMs: 1 });
    directory = new HttpAgentDirectory({ http, room });
    const other = room.openPlace({ tenant: 'b', owner: 'other' });
    await other.countRead(100_000);
    const long = { description: 'x'.repeat(100_000) };
    await expect(called(long)).rejects.toMatchObject({ kind: 'overloaded' });
    other[Symbol.dispose]();
    await called(long);
  });

  it('is counted as it lies in memory while it is not admitted yet', async () => {
    const room = new ReceivedAnswers({ bytes: 16 * MIB });
    const admitted = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const guard = {
      findPinnedCard: async () => undefined,
      admitCard: (): Promise<void> => {
        asked.resolve();
        return admitted.promise;
      },
    };
    directory = new HttpAgentDirectory({ http, room, guard });
    const client = called({ skills: Array<JsonObject>(5_000).fill({}) });
    await Promise.race([asked.promise, client]);
    const other = room.openPlace({ tenant: 'b', owner: 'other' });
    const reading = other.countRead(4 * MIB);
    expect(reading).toBeInstanceOf(Promise);
    admitted.resolve();
    await client;
    await reading;
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['1.0', {}],
    ['0.3', { supportedInterfaces: undefined, protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' }],
    ['0.3 that is called as REST', { supportedInterfaces: undefined, preferredTransport: 'HTTP+JSON' }],
  ])('leaves little of itself with a call, where it is one of %s', async (_version, members) => {
    const card = { ...MANY_SKILLS, ...manySchemes(), url: `${agent.url}/rpc`, ...members };
    await called(card as JsonObject);
    const before = usedHeap();
    const clients: unknown[] = [];
    for (let nth = 0; nth < 10; nth += 1) clients.push(await called(card as JsonObject, `/${nth}`));
    expect(usedHeap() - before).toBeLessThan(4 * MIB);
    expect(clients).toHaveLength(10);
  });

  it('is read in full where it is asked for', async () => {
    await called(MANY_SKILLS);
    expect((await directory.resolveCard(`${agent.url}/one`))?.skills).toHaveLength(10_000);
    expect((await directory.resolveClient(`${agent.url}/one`)).card).toEqual({
      name: 'card agent',
      capabilities: { extensions: [] },
      defaultInputModes: ['text/plain'],
    });
  });

  it('is refused where its tenant is longer than any URL', async () => {
    const at = { url: `${agent.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
    await called({ supportedInterfaces: [{ ...at, tenant: 't'.repeat(2_048) }] });
    const message = 'the agent card is refused: a tenant has more than 2048 characters';
    await expect(called({ supportedInterfaces: [{ ...at, tenant: 't'.repeat(2_049) }] })).rejects.toThrow(message);
  });
});

const MANY_SKILLS: JsonObject = { skills: Array<JsonObject>(10_000).fill({}) };

/** Returns members of a card with 2,000 security schemes and requirements, which take much memory. */
function manySchemes(): JsonObject {
  const names = Array.from({ length: 2_000 }, (_, nth) => `scheme-${nth}`);
  const scheme = { type: 'http', scheme: 'bearer' };
  return {
    securitySchemes: Object.fromEntries(names.map((name) => [name, scheme])),
    security: names.map((name) => ({ [name]: [] })),
  };
}

/** Collects garbage, and returns the used bytes of the heap. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
  return process.memoryUsage().heapUsed;
}
