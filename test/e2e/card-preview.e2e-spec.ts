import { createServer } from 'node:http';
import type { JsonObject } from '#libs/protocol';
import { CardAgent, cardSigning, sendJson } from '../support/card-agent.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { Pre10Agent } from '../support/pre-1-0-agent.js';
import { freePort, type Parley, startParley } from '../support/parley.js';
import { useSharedStage } from '../support/shared-stage.js';
import { Api, type ApiReply, external, linear, unique } from '../support/workflow.js';

const stage = useSharedStage();
const agents: CardAgent[] = [];

afterAll(async () => {
  for (const agent of agents) await agent.stop();
});

async function agent(): Promise<CardAgent> {
  const made = await CardAgent.start();
  agents.push(made);
  return made;
}

const REFUSED = { level: 'error', path: 'url', detail: 'the address may not be called' };

function preview(url: string, api = stage.api): Promise<ApiReply<JsonObject>> {
  return api.call('GET', `/agent-card?url=${encodeURIComponent(url)}`);
}

describe('row E9: GET /api/agent-card', () => {
  it('E9 gives the parsed card, with nothing to say of a good one but that it is plain HTTP', async () => {
    const callee = await agent();
    callee.card = callee.plainCard({ capabilities: { streaming: true } });
    for (const url of [callee.url, `${callee.url}/.well-known/agent-card.json`, `${callee.url}/some/agent`]) {
      const { status, body } = await preview(url);
      expect(status).toBe(200);
      expect(body).toEqual({
        url,
        cardUrl: `${callee.url}/.well-known/agent-card.json`,
        version: '1.0',
        card: callee.card,
        signature: { state: 'unsigned', signatures: [] },
        problems: [{ level: 'warning', path: 'supportedInterfaces[0].url', detail: 'is not encrypted' }],
      });
    }
    expect(callee.messages).toBe(0);
  });

  it('E9 tells what is wrong, field by field, also where the card cannot be read at all', async () => {
    const callee = await agent();
    callee.card = { ...callee.plainCard(), skills: [], version: 7 };
    const wrong = await preview(callee.url);
    expect(wrong.body.problems).toEqual(
      expect.arrayContaining([
        { level: 'error', path: 'version', detail: 'is required' },
        { level: 'error', path: 'skills', detail: 'must be a list with at least one skill' },
      ]),
    );
    callee.card = { ...callee.plainCard(), skills: [null] };
    const broken = await preview(callee.url);
    expect(broken.status).toBe(200);
    expect(broken.body).not.toHaveProperty('card');
    expect(broken.body.problems).toContainEqual({ level: 'error', path: 'skills[0]', detail: 'must be an object' });
    callee.card = undefined;
    const none = await preview(callee.url);
    expect(none.body).toMatchObject({
      problems: [{ level: 'error', path: 'url', detail: expect.stringContaining('HTTP 404') }],
    });
  });

  it('E9 finds a card from before A2A 1.0 below its agent, and says what that agent cannot do', async () => {
    const old = await Pre10Agent.start({ path: '/x', cardAt: '/x/agent-card' });
    for (const url of [old.url, `${old.url}/agent-card`]) {
      const { body } = await preview(url);
      expect(body).toMatchObject({ cardUrl: `${old.url}/agent-card`, version: 'pre-1.0', card: { name: 'old' } });
      expect(body.problems).toMatchObject([
        { path: '', level: 'warning' },
        { path: 'url', level: 'warning' },
      ]);
    }
    await old.stop();
  });

  it('E9 gives a card of 0.3 in the form of 1.0', async () => {
    const callee = await agent();
    const { supportedInterfaces: _, ...rest } = callee.plainCard();
    callee.card = { ...rest, url: `${callee.url}/rpc`, protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' };
    const { body } = await preview(callee.url);
    expect(body).toMatchObject({ version: '0.3', card: { supportedInterfaces: [{ url: `${callee.url}/rpc` }] } });
  });

  it('E9 tells the state of signatures, and whether the card is the one that is pinned', async () => {
    const callee = await agent();
    const signing = await cardSigning('k');
    callee.places.set('/jwks.json', (_request, response) => sendJson(response, signing.jwks));
    const header = { jku: `${callee.url}/jwks.json` };
    callee.card = await signing.sign(callee.plainCard(), header);
    const first = await preview(callee.url);
    expect(first.body).toMatchObject({ signature: { state: 'valid', signatures: [{ kid: 'k', trust: 'origin' }] } });
    expect(first.body).not.toHaveProperty('pin');
    await stage.api.finish(linear(unique('e9'), external('x', callee.url)));
    expect((await preview(callee.url)).body).toMatchObject({ pin: { status: 'pinned', blocked: false, same: true } });
    callee.card = { ...callee.card, name: 'mallory' };
    const changed = await preview(callee.url);
    expect(changed.body).toMatchObject({ signature: { state: 'invalid' }, pin: { status: 'pinned', same: false } });
  });

  it('E9 shows our own agents too', async () => {
    const { body } = await preview(`${stage.parley.url}/a2a`);
    expect(body).toMatchObject({ card: { name: 'parley' }, signature: { state: 'valid' } });
  });

  it.each(['', 'nonsense', 'ftp://a.example', 'http://', `http://a.example/${'x'.repeat(2_048)}`])(
    'E9 refuses the url %j',
    async (url) => {
      const reply = await preview(url);
      expect([reply.status, reply.body.errors]).toMatchObject([400, [{ path: 'url' }]]);
    },
  );

  it('E9 goes nowhere that calls may not go', async () => {
    for (const url of ['http://169.254.169.254/latest/meta-data', 'http://10.0.0.1', 'http://[fd00::1]']) {
      const { status, body } = await preview(url);
      expect([status, body]).toEqual([200, { url, problems: [REFUSED] }]);
    }
  });

  it('E9 says that nobody answers, and reads no card without end', async () => {
    const nobody = await preview(`http://127.0.0.1:${await freePort()}`);
    expect(nobody.body.problems).toMatchObject([{ path: 'url', detail: expect.stringContaining('cannot be reached') }]);
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, ' ')));
      };
      response.on('drain', more);
      more();
    });
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    const endless = await preview(`http://127.0.0.1:${port}`);
    expect(endless.body.problems).toMatchObject([{ path: 'url', detail: expect.stringContaining('is longer than') }]);
    server.closeAllConnections();
    server.close();
  });
});

describe('who may look at cards of agents', () => {
  const ann = testCaller('ann');
  let guarded: Parley;

  beforeAll(async () => {
    guarded = await startParley({ databaseUrl: stage.database.url, env: apiKeyEnv(ann) });
  });

  afterAll(() => guarded?.stop());

  it('a caller that draws workflows; only an administrator accepts changes', async () => {
    const admin = new Api(guarded.url, ann.headers);
    const made = await admin.call<{ key: string }>('POST', '/keys', { name: 'bob', scopes: ['workflows'] });
    const bob = new Api(guarded.url, { authorization: `Bearer ${made.body.key}` });
    expect((await preview(`${guarded.url}/a2a`, bob)).status).toBe(200);
    expect((await bob.call('GET', '/agent-cards')).status).toBe(200);
    const id = '00000000-0000-4000-8000-000000000000';
    expect((await bob.call('POST', `/agent-cards/${id}/accept`)).status).toBe(403);
    expect((await admin.call('POST', `/agent-cards/${id}/accept`)).status).toBe(404);
    expect((await fetch(`${guarded.url}/api/agent-card?url=http://a.example`)).status).toBe(401);
  });
});
