import { compactVerify, importJWK, type JWK } from 'jose';
import { canonicalJson, type JsonValue } from '#libs/protocol';
import { catalogFaults, serverCardFaults } from '../support/ai-catalog-schema.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { FakeAgent } from '../support/fake-agent.js';
import { type Parley, startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { Api, echo, input, linear, output, unique } from '../support/workflow.js';

const PUBLIC_URL = 'https://flows.example.com';
const DID = 'did:web:flows.example.com';
const CATALOG = '/.well-known/ai-catalog.json';

interface Entry {
  identifier: string;
  type: string;
  url: string;
}

interface Catalog {
  entries: Entry[];
  host: { identifier?: string };
  signature?: { jws: string };
}

const ann = testCaller('ann');
const env = { ...apiKeyEnv(ann), PUBLIC_URL };
const stage = useStage({ env });
const name = unique('listed');
let replica: Parley;

beforeAll(async () => {
  replica = await startParley({ databaseUrl: stage.database.url, env });
  stage.defer(() => replica.stop());
  const api = new Api(stage.parley.url, ann.headers);
  await api.save(linear(name, input('in'), echo('work'), output('out')));
  const agent = await FakeAgent.start();
  stage.defer(() => agent.stop());
  const made = await api.call('POST', '/agents', { name: 'pricing', url: agent.url });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
});

/** Fetches an address of the service as it names it in its documents. */
function fetchAt(url: string, headers: Record<string, string> = {}, at = stage.parley): Promise<Response> {
  return fetch(url.replace(PUBLIC_URL, at.url), { headers });
}

async function catalogAt(url: string, headers: Record<string, string> = {}, at = stage.parley): Promise<Catalog> {
  const response = await fetchAt(url, headers, at);
  expect([url, response.status, response.headers.get('content-type')]).toEqual([
    url,
    200,
    'application/ai-catalog+json',
  ]);
  const catalog = (await response.json()) as Catalog;
  expect(catalogFaults(catalog)).toEqual([]);
  return catalog;
}

/** Reads a catalog and the nested catalogs, at most four levels deep. */
async function crawl(headers: Record<string, string>, url = `${PUBLIC_URL}${CATALOG}`, depth = 1): Promise<Entry[]> {
  expect([url, depth <= 4]).toEqual([url, true]);
  const { entries } = await catalogAt(url, headers);
  const nested = entries.filter(({ type }) => type === 'application/ai-catalog+json');
  const below = await Promise.all(nested.map((entry) => crawl(headers, entry.url, depth + 1)));
  return [...entries.filter((it) => !nested.includes(it)), ...below.flat()];
}

describe('the AI Catalog', () => {
  it('leads a caller to every card of the service, its workflows, nodes and registered agents, and of MCP', async () => {
    const found = await crawl(ann.headers);
    const urn = 'urn:air:flows.example.com';
    expect(found.map(({ identifier }) => identifier).toSorted()).toEqual([
      `${PUBLIC_URL}/a2a/agents/pricing`,
      `${urn}:agent:service`,
      `${urn}:mcp:service`,
      `${urn}:workflow:${name}`,
      ...['in', 'out', 'work'].map((id) => `${urn}:workflow:${name}:node:${id}`),
    ]);
    for (const { type, url } of found) {
      const response = await fetchAt(url, ann.headers);
      const card = (await response.json()) as { supportedInterfaces?: { url: string }[] };
      const isMcp = type === 'application/mcp-server-card+json';
      expect([url, isMcp ? serverCardFaults(card) : card.supportedInterfaces?.[0]?.url]).toEqual([
        url,
        isMcp ? [] : url.replace('/.well-known/agent-card.json', ''),
      ]);
    }
  });

  it('shows a reader without credentials what the public card of the service shows', async () => {
    const found = await crawl({});
    expect(found.map(({ identifier }) => identifier.replace(/^.*?:flows\.example\.com:/, ''))).toEqual([
      'agent:service',
      'mcp:service',
      `workflow:${name}`,
    ]);
    const key = new Api(stage.parley.url, ann.headers);
    const made = await key.call('POST', '/keys', { name: 'author', scopes: ['workflows'] });
    const author = { authorization: `Bearer ${(made.body as { key: string }).key}` };
    for (const [who, headers] of Object.entries({ nobody: {}, author })) {
      for (const query of ['list=agents', `list=nodes&workflow=${name}`]) {
        const response = await fetchAt(`${PUBLIC_URL}${CATALOG}?${query}`, headers);
        const { error } = (await response.json()) as { error?: { message: string } };
        expect([who, query, response.status, error?.message]).toEqual([
          who,
          query,
          403,
          expect.stringContaining('agents'),
        ]);
      }
    }
    expect(await crawl(author)).toEqual(found);
    expect(await crawl({ authorization: 'Bearer nobody' })).toEqual(found);
  });

  it.each([
    ['list=models', 'list'],
    ['list=nodes', 'workflow'],
    ['list=workflows&workflow=x', 'workflow'],
    ['from=a', 'list'],
    ['list=workflows&from=a&from=b', 'from'],
    ['list=workflows&to=%00', 'to'],
  ])('refuses %s, and names the parameter %s', async (query, field) => {
    const response = await fetchAt(`${PUBLIC_URL}${CATALOG}?${query}`, ann.headers);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(`"field":"${field}"`)]);
  });

  it('answers 404 for the nodes of an unknown workflow', async () => {
    for (const workflow of ['no-such', '..%2Fagents%2Fpricing']) {
      const response = await fetchAt(`${PUBLIC_URL}${CATALOG}?list=nodes&workflow=${workflow}`, ann.headers);
      expect([workflow, response.status]).toEqual([workflow, 404]);
    }
  });
});

describe('the caching of the AI Catalog', () => {
  it('is private for callers, public for others, and a reader that has the catalog gets 304', async () => {
    for (const [headers, cache] of [
      [ann.headers, 'private'],
      [{}, 'public'],
    ] as [Record<string, string>, string][]) {
      const first = await fetchAt(`${PUBLIC_URL}${CATALOG}`, headers);
      const etag = first.headers.get('etag') ?? '';
      expect(first.headers.get('cache-control')).toBe(`${cache}, max-age=60, must-revalidate`);
      expect(first.headers.get('vary')).toContain('Authorization');
      for (const at of [stage.parley, replica]) {
        const again = await fetchAt(`${PUBLIC_URL}${CATALOG}`, { ...headers, 'if-none-match': etag }, at);
        expect([cache, again.status, await again.text(), again.headers.get('etag')]).toEqual([cache, 304, '', etag]);
      }
    }
  });

  it('ends on every replica when a workflow is saved on one', async () => {
    const before = await fetchAt(`${PUBLIC_URL}${CATALOG}`, {}, replica);
    const late = unique('late');
    await new Api(stage.parley.url, ann.headers).save(linear(late, input('in'), output('out')));
    const headers = { 'if-none-match': before.headers.get('etag') ?? '' };
    const after = await fetchAt(`${PUBLIC_URL}${CATALOG}`, headers, replica);
    expect([after.status, await after.text()]).toEqual([200, expect.stringContaining(`:workflow:${late}"`)]);
    await new Api(stage.parley.url, ann.headers).call('DELETE', `/workflows/${late}`);
  });
});

describe('the signature of the AI Catalog (profile did-web-v1)', () => {
  it('verifies with the DID document of any replica, and covers the whole catalog', async () => {
    for (const [at, other] of [
      [stage.parley, replica],
      [replica, stage.parley],
    ] as const) {
      const catalog = await catalogAt(`${PUBLIC_URL}${CATALOG}`, ann.headers, at);
      expect(catalog).toMatchObject({ host: { identifier: DID }, signature: { signer: DID, profile: 'did-web-v1' } });
      const did = (await (await fetchAt(`${PUBLIC_URL}/.well-known/did.json`, {}, other)).json()) as DidDocument;
      const header = await verified(catalog, did);
      expect(header).toEqual({ alg: 'ES256', typ: 'ai-catalog+jws', kid: did.assertionMethod[0] });
      await expect(verified({ ...catalog, entries: catalog.entries.slice(1) }, did)).rejects.toThrow(
        'verification failed',
      );
    }
  });

  it('is absent where the service has no domain of its own, and so is the DID document', async () => {
    const local = await startParley({ databaseUrl: stage.database.url, env: apiKeyEnv(ann) });
    stage.defer(() => local.stop());
    const catalog = await catalogAt(`${local.url}${CATALOG}`);
    expect(catalog.signature).toBeUndefined();
    expect(catalog.entries[0]?.identifier).toBe(`${local.url}/a2a`);
    expect((await fetch(`${local.url}/.well-known/did.json`)).status).toBe(404);
  });
});

describe('the card of the MCP server', () => {
  it('may be read by pages of any origin, says that credentials are needed, and revalidates', async () => {
    const response = await fetchAt(`${PUBLIC_URL}/mcp/server-card`, { origin: 'https://elsewhere.example' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/mcp-server-card+json']);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toMatchObject({
      name: 'com.example.flows/mcp',
      remotes: [{ url: `${PUBLIC_URL}/mcp`, headers: [{ name: 'Authorization', isRequired: true, isSecret: true }] }],
    });
    const etag = response.headers.get('etag') ?? '';
    const again = await fetchAt(`${PUBLIC_URL}/mcp/server-card`, { 'if-none-match': etag }, replica);
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});

interface DidDocument {
  id: string;
  verificationMethod: { id: string; controller: string; publicKeyJwk: JWK }[];
  assertionMethod: string[];
}

/** Verifies the signature of a catalog as its specification says. @returns the protected header */
async function verified(catalog: Catalog, did: DidDocument): Promise<unknown> {
  const { jws = '', ...signature } = catalog.signature ?? {};
  const payload = Buffer.from(canonicalJson({ ...catalog, signature } as unknown as JsonValue)).toString('base64url');
  const [head, , sealed] = jws.split('.');
  const { kid } = JSON.parse(Buffer.from(head ?? '', 'base64url').toString()) as { kid: string };
  const method = did.verificationMethod.find((it) => it.id === kid && did.assertionMethod.includes(it.id));
  if (did.id !== DID || method?.controller !== DID) throw new Error(`${kid} is no key of ${did.id}`);
  const key = await importJWK(method.publicKeyJwk, 'ES256');
  return (await compactVerify(`${head}.${payload}.${sealed}`, key)).protectedHeader;
}
