import { gzipSync } from 'node:zlib';
import { OutboundHttp } from '#libs/outbound';
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

  /** Calls an agent of the same host, whose card is this. */
  async function called(card: JsonObject, path = '/one'): Promise<unknown> {
    const text = JSON.stringify(agent.plainCard(card));
    agent.places.set(`${path}/.well-known/agent-card.json`, (_request, response) => void response.end(text));
    return directory.client(agent.url + path);
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
    for (let place = 0; place < 80; place += 1) await called({ description: 'x'.repeat(60_000) }, `/${place}`);
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
    await expect(directory.client(agent.url)).rejects.toMatchObject(failure);
  });

  it('is read in the room of all answers', async () => {
    const room = new ReceivedAnswers({ bytes: 1, waitMs: 1 });
    directory = new HttpAgentDirectory({ http, room });
    const other = room.place({ tenant: 'b', owner: 'other' });
    await other.read(100_000);
    const long = { description: 'x'.repeat(100_000) };
    await expect(called(long)).rejects.toMatchObject({ kind: 'overloaded' });
    other[Symbol.dispose]();
    await called(long);
  });
});
