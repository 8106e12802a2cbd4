import { type AgentCard as SdkAgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { ClientFactory as LegacyClientFactory, JsonRpcTransportFactory, RestTransportFactory } from 'a2a-sdk-v0/client';
import type { JWK } from 'jose';
import type { AgentCard } from '#libs/protocol';
import { rest, rpc } from '../support/a2a.js';
import { bindingsOf } from '../support/bindings.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { useStage } from '../support/stage.js';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.js';
import { Api, echo, input, linear, output, unique } from '../support/workflow.js';

const ann = testCaller('ann');
const stage = useStage({ env: { ...apiKeyEnv(ann), GRPC_PORT: '0' } });
const endpoints = { url: '', grpc: '' };
const name = unique('extended');

beforeAll(async () => {
  const api = new Api(stage.parley.url, ann.headers);
  await api.save({ ...linear(name, input('topic'), echo('think'), output('paper')), description: 'Thinks' });
  const card = await cardAt('');
  endpoints.url = stage.parley.url;
  endpoints.grpc = card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
});

describe.each(bindingsOf(() => endpoints).map((it) => [it.name, it] as const))(
  'GetExtendedAgentCard over %s',
  (_, binding) => {
    it('needs a caller that is known', async () => {
      const { error } = await binding.call('', 'GetExtendedAgentCard', {});
      expect(error?.reason).toBe('UNAUTHENTICATED');
    });

    it("of the service has every workflow's skill with an example and its schema", async () => {
      const { result } = await binding.call<AgentCard>('', 'GetExtendedAgentCard', {}, ann.headers);
      expect(result?.skills).toContainEqual(expect.objectContaining({ id: name, examples: ['{"topic":"text"}'] }));
      expect(schemaOf(result, name)).toEqual({
        input: {
          type: 'object',
          properties: { topic: { description: 'The input of the node topic' } },
          required: ['topic'],
        },
        artifacts: ['paper'],
      });
    });

    it('of a workflow has the skills of its nodes, and of a node what it is', async () => {
      const workflow = await binding.call<AgentCard>(`workflows/${name}`, 'GetExtendedAgentCard', {}, ann.headers);
      expect(workflow.result?.skills.map(({ id }) => id)).toEqual([name, 'paper', 'think', 'topic']);
      const node = await binding.call<AgentCard>(
        `workflows/${name}/nodes/think`,
        'GetExtendedAgentCard',
        {},
        ann.headers,
      );
      expect(node.result).toMatchObject({ name: 'think', capabilities: { extendedAgentCard: true } });
    });

    it('is signed', async () => {
      const { result } = await binding.call('', 'GetExtendedAgentCard', {}, ann.headers);
      await verifyAgentCardSignature(keyOf)(result as unknown as SdkAgentCard);
    });
  },
);

describe('the extended card', () => {
  it('is declared by every card, which tells less', async () => {
    for (const path of ['', `/workflows/${name}`, `/workflows/${name}/nodes/think`]) {
      const card = await cardAt(path);
      expect(card).toMatchObject({
        capabilities: { extendedAgentCard: true },
        supportsAuthenticatedExtendedCard: true,
      });
      expect(card.skills.every((it) => it.examples === undefined)).toBe(true);
      expect(JSON.stringify(card)).not.toContain('skill-schemas');
    }
  });

  it('is for its caller alone to keep, and is not sent again to whoever has it', async () => {
    const base = `${stage.parley.url}/a2a`;
    const { headers } = await rest(base, 'GET', '/extendedAgentCard', { headers: ann.headers });
    expect(headers.get('cache-control')).toBe('private, max-age=60, must-revalidate');
    const again = { ...ann.headers, 'a2a-version': '1.0', 'if-none-match': headers.get('etag') ?? '' };
    expect((await fetch(`${base}/extendedAgentCard`, { headers: again })).status).toBe(304);
  });

  it('carries nothing of 0.3 for callers of 1.0', async () => {
    const base = `${stage.parley.url}/a2a/workflows/${name}`;
    const overRpc = await rpc<AgentCard>(base, 'GetExtendedAgentCard', {}, { headers: ann.headers });
    const overRest = await rest<AgentCard>(base, 'GET', '/extendedAgentCard', { headers: ann.headers });
    for (const card of [overRpc.body.result, overRest.body]) {
      expect(card).toMatchObject({ name, skills: [{ id: name }, {}, {}, {}] });
      for (const old of ['protocolVersion', 'url', 'additionalInterfaces', 'supportsAuthenticatedExtendedCard']) {
        expect(card).not.toHaveProperty(old);
      }
    }
  });

  it('is found by callers of 0.3 too', async () => {
    const base = `${stage.parley.url}/a2a/workflows/${name}`;
    const headers = { ...ann.headers, 'a2a-version': '0.3' };
    const overRpc = await rpc<AgentCard>(base, 'agent/getAuthenticatedExtendedCard', {}, { headers });
    expect(overRpc.body.result).toMatchObject({ protocolVersion: '0.3.0', skills: [{ id: name }, {}, {}, {}] });
    const overRest = await rest<AgentCard>(base, 'GET', '/v1/card', { headers });
    expect(overRest.body).toMatchObject({ protocolVersion: '0.3.0', skills: [{ id: name }, {}, {}, {}] });
  });

  it.each(['JSONRPC', 'HTTP+JSON'])(
    "tells the official SDK's client of 0.3 how to get in, over %s",
    async (transport) => {
      const fetchImpl: typeof fetch = (url, init) =>
        fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...ann.headers } });
      const transports = { JSONRPC: JsonRpcTransportFactory, 'HTTP+JSON': RestTransportFactory };
      const client = await new LegacyClientFactory({
        transports: [new transports[transport as keyof typeof transports]({ fetchImpl })],
      }).createFromUrl(`${stage.parley.url}/a2a/workflows/${name}/`, '.well-known/agent-card.json');
      const card = await client.getAgentCard();
      expect(card.skills).toHaveLength(4);
      expect(card.securitySchemes).toMatchObject({
        bearer: { type: 'http', scheme: 'Bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      });
      // In ProtoJSON they have the scopes that 1.0 tells.
      const scopes = transport === 'JSONRPC' ? [] : ['agents'];
      expect(card.security).toEqual([{ bearer: scopes }, { apiKey: scopes }]);
    },
  );

  it("is what the official SDK's client gets", async () => {
    const url = `${stage.parley.url}/a2a/workflows/${name}/.well-known/agent-card.json`;
    const client = await new ClientFactory().createFromUrl(url, '');
    const card = await client.getAgentCard({ serviceParameters: ann.headers });
    expect(card.skills.map(({ id }) => id)).toEqual([name, 'paper', 'think', 'topic']);
  });
});

describe('the extended card of a tenant', () => {
  let issuer: TokenIssuer;
  let database: TestDatabase;
  let parley: Parley;

  beforeAll(async () => {
    issuer = await startTokenIssuer();
    database = await freshDatabase();
    parley = await startParley({ databaseUrl: database.url, env: issuer.env });
  });

  afterAll(async () => {
    await parley?.stop();
    await issuer?.stop();
    await database?.drop();
  });

  it("has that tenant's workflows, and nobody else's", async () => {
    for (const tenant of ['north', 'south']) {
      await new Api(parley.url, await issuer.headers('ann', tenant)).save(
        linear(`of_${tenant}`, input('in'), output('out')),
      );
    }
    for (const tenant of ['north', 'south']) {
      const headers = await issuer.headers('bob', tenant);
      const { body } = await rest<AgentCard>(`${parley.url}/a2a`, 'GET', '/extendedAgentCard', { headers });
      expect(body.skills.map(({ id }) => id)).toEqual([`of_${tenant}`]);
    }
    const strangers = await fetch(`${parley.url}/.well-known/agent-card.json`);
    expect(await strangers.text()).not.toContain('of_');
  });
});

async function cardAt(path: string): Promise<AgentCard> {
  return (await (await fetch(`${stage.parley.url}/a2a${path}/.well-known/agent-card.json`)).json()) as AgentCard;
}

function schemaOf(card: AgentCard | undefined, skill: string): unknown {
  const extension = card?.capabilities.extensions?.find((it) => it.uri === 'urn:parley:extension:skill-schemas:v1');
  return (extension?.params?.skills as Record<string, unknown> | undefined)?.[skill];
}

async function keyOf(kid: string, jku?: string): Promise<JWK> {
  const { keys } = (await (await fetch(jku ?? '')).json()) as { keys: JWK[] };
  const key = keys.find((it) => it.kid === kid);
  if (!key) throw new Error(`No key ${kid} at ${jku}`);
  return key;
}
