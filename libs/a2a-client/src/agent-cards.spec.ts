import { OutboundHttp } from '#libs/http-client';
import type { JsonObject } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { CardAgent } from '../../../test/support/card-agent.js';
import { HttpAgentDirectory } from './http-agent-directory.js';

describe('the card of an agent', () => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  const directory = new HttpAgentDirectory({ http, onCardless: () => undefined });
  let agent: CardAgent;

  beforeEach(async () => {
    agent = await CardAgent.start();
  });
  afterEach(() => agent.stop());
  afterAll(() => http.close());

  function hasAt(path: string, card: JsonObject): void {
    agent.places.set(path, (_request, response) => void response.end(JSON.stringify(card)));
  }

  const old = (): JsonObject => ({
    name: 'old',
    description: '',
    version: '1',
    protocolVersion: '0.2.5',
    url: `${agent.url}/rpc`,
    capabilities: {},
    skills: [],
  });

  it.each(['', '/below'])('is found at agent.json, by the URL of the agent with %j', async (path) => {
    agent.card = undefined;
    hasAt(`${path}/.well-known/agent.json`, old());
    expect((await directory.resolveClient(agent.url + path)).card).toMatchObject({ name: 'old' });
  });

  it('is none where agent.json has one of 1.0', async () => {
    const { card } = agent;
    agent.card = undefined;
    hasAt('/.well-known/agent.json', card!);
    expect((await directory.resolveClient(agent.url)).card).toBeUndefined();
  });

  it('is taken from its own place first', async () => {
    hasAt('/.well-known/agent.json', old());
    expect((await directory.resolveClient(agent.url)).card).toMatchObject({ name: 'card agent' });
    expect(agent.asked.filter((path) => path.endsWith('agent.json'))).toEqual([]);
  });

  it('that names a relative URL alone is refused with that URL', async () => {
    agent.card = agent.plainCard({
      supportedInterfaces: [{ url: '/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    });
    const failure = {
      kind: 'invalid-response',
      message: 'the agent card names the URL "/a2a", which must be absolute',
    };
    await expect(directory.resolveClient(agent.url)).rejects.toMatchObject(failure);
  });
});
