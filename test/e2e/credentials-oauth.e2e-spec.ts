import type { JsonObject } from '#libs/protocol';
import { asksFor, keepCredential, newSecret } from '../support/credentials.js';
import { databaseText } from '../support/database-text.js';
import type { FakeAgent, FakeCall } from '../support/fake-agent.js';
import { after, answers } from '../support/fake-behaviour.js';
import { useStage } from '../support/stage.js';
import { TokenServer } from '../support/token-server.js';
import { diamond, external, input, linear, output, type Run, unique } from '../support/workflow.js';

const stage = useStage({ env: { LOG_LEVEL: 'trace' } });
const seen: string[] = [];

/** An authorization server whose tokens may be nowhere but in calls. */
async function tokenServer(lifetime?: number): Promise<TokenServer> {
  const server = await TokenServer.start(lifetime);
  stage.defer(async () => server.stop());
  issuers.push(server);
  return server;
}
const issuers: TokenServer[] = [];

/** An agent that lets in whoever has a token of the server that has not ended. */
function guarded(tokens: TokenServer, card: JsonObject = {}): Promise<FakeAgent> {
  return stage.fake({ card, admits: ({ headers }) => tokens.accepts(headers.authorization) });
}

function client(tokens: TokenServer, fields: JsonObject = {}): Promise<string> {
  const clientSecret = newSecret();
  seen.push(clientSecret);
  const settings = { kind: 'oauth2-client-credentials', tokenUrl: tokens.url, clientId: 'parley', clientSecret };
  return keepCredential(stage.api, { ...settings, ...fields });
}

function runWith(auth: string, agent: FakeAgent): Promise<Run> {
  return stage.api.finish(linear(unique('w'), external('e', agent.url, { auth })));
}

function errorOf(run: Run): string {
  expect(run.status).toBe('failed');
  return run.nodes.e?.error as string;
}

describe('OAuth 2.0 client credentials', () => {
  it('asks for a token as the credential says', async () => {
    const tokens = await tokenServer();
    const agent = await guarded(tokens);
    expect((await runWith(await client(tokens, { clientSecret: 'a&b=ü' }), agent)).status).toBe('completed');
    const inBody = { clientId: 'p:q', scopes: ['read', 'write'], audience: 'agents', clientAuthentication: 'body' };
    expect((await runWith(await client(tokens, inBody), agent)).status).toBe('completed');
    const [first, second] = tokens.requests;
    expect(first?.form).toEqual({ grant_type: 'client_credentials' });
    expect(first?.headers.authorization).toBe(`Basic ${btoa('parley:a%26b%3D%C3%BC')}`);
    expect(second?.form).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      audience: 'agents',
      client_id: 'p:q',
      client_secret: seen.at(-1),
    });
    expect(second?.headers.authorization).toBeUndefined();
  });

  it('fetches one token for calls that come at once, and uses it again', async () => {
    const tokens = await tokenServer();
    const agent = await guarded(tokens);
    const auth = await client(tokens);
    const many = Array.from({ length: 8 }, (_, index) => external(`e${index}`, agent.url, { auth }));
    const workflow = diamond(unique('w'), input('in'), many, output('out'));
    expect((await stage.api.finish(workflow, { in: 'x' })).status).toBe('completed');
    expect(await stage.api.ended(await stage.api.start(workflow.name, { in: 'y' }))).toMatchObject({
      status: 'completed',
    });
    expect(agent.sends).toHaveLength(16);
    expect(tokens.requests).toHaveLength(1);
  });

  it('lets no 401 reach a run that is much longer than its tokens', async () => {
    const tokens = await tokenServer();
    let calls = 0;
    const admits = ({ headers }: FakeCall): boolean => {
      calls += 1;
      if (calls % 5 === 0) tokens.revoke();
      return tokens.accepts(headers.authorization);
    };
    const agent = await stage.fake({ admits });
    const auth = await client(tokens);
    const nodes = Array.from({ length: 20 }, (_, index) => external(`e${index}`, agent.url, { auth }));
    const run = await stage.api.finish(linear(unique('w'), ...nodes));
    expect(run.status).toBe('completed');
    // Every fifth call finds that its token has ended, and is made once more.
    expect([calls, tokens.requests.length]).toEqual([24, 5]);
  });

  it('fetches another token for each call that is made after the time of the one before', async () => {
    const tokens = await tokenServer(1);
    const admits = ({ headers }: FakeCall): boolean => headers.authorization === `Bearer ${tokens.issued.at(-1)}`;
    const agent = (await stage.fake({ admits })).always(after(1_000, answers('ok')));
    const auth = await client(tokens);
    const nodes = Array.from({ length: 4 }, (_, index) => external(`e${index}`, agent.url, { auth }));
    expect((await stage.api.finish(linear(unique('w'), ...nodes))).status).toBe('completed');
    expect([agent.sends.length, tokens.requests.length]).toEqual([4, 4]);
  });

  it('makes a call once more with another token where the agent refuses the one it had', async () => {
    const tokens = await tokenServer();
    const agent = await guarded(tokens);
    const auth = await client(tokens);
    expect((await runWith(auth, agent)).status).toBe('completed');
    tokens.revoke();
    expect((await runWith(auth, agent)).status).toBe('completed');
    expect(tokens.requests).toHaveLength(2);
    expect(agent.sends.map(({ headers }) => headers.authorization)).toEqual(
      [0, 0, 1].map((index) => `Bearer ${tokens.issued[index]}`),
    );
  });

  it('does so once', async () => {
    const tokens = await tokenServer();
    const agent = await stage.fake({ admits: () => false });
    expect(errorOf(await runWith(await client(tokens), agent))).toContain('HTTP 401');
    expect([agent.sends.length, tokens.requests.length]).toEqual([2, 2]);
  });

  it('does not do so for 403', async () => {
    const tokens = await tokenServer();
    const agent = (await stage.fake()).always({ httpStatus: 403 });
    expect(errorOf(await runWith(await client(tokens), agent))).toContain('HTTP 403');
    expect([agent.sends.length, tokens.requests.length]).toEqual([1, 1]);
  });

  it('sends nothing where the server gives no token, and says why in words of the standard alone', async () => {
    const tokens = await tokenServer();
    const agent = await guarded(tokens);
    const answered: [number, string, string][] = [
      [401, JSON.stringify({ error: 'invalid_client', error_description: 'leaked' }), 'HTTP 401 (invalid_client)'],
      [400, JSON.stringify({ error: 'leaked' }), 'HTTP 400'],
      [200, '{}', 'answered without a token'],
      [200, JSON.stringify({ access_token: 'leaked', token_type: 'mac' }), 'no bearer token'],
      [200, JSON.stringify({ access_token: 'leaked\nx: y' }), 'answered without a token'],
      [200, 'leaked', 'answered without a token'],
      [200, `{"access_token":"${'x'.repeat(70_000)}"}`, 'answer is too long'],
      [307, '', 'HTTP 307'],
    ];
    const auth = await client(tokens);
    for (const [status, body, words] of answered) {
      tokens.next.push({ status, body });
      const error = errorOf(await runWith(auth, agent));
      expect(error).toContain(words);
      expect(error).not.toContain('leaked');
    }
    expect(tokens.requests).toHaveLength(answered.length);
    expect(agent.sends).toEqual([]);
  });

  it('asks again where the server fails for the moment', async () => {
    const tokens = await tokenServer();
    const agent = await guarded(tokens);
    tokens.next.push({ status: 503, body: '' }, { status: 429, body: '' });
    expect((await runWith(await client(tokens), agent)).status).toBe('completed');
    expect(tokens.requests).toHaveLength(3);
    expect(agent.sends).toHaveLength(1);
  });

  it('asks the server of the credential, whatever server a card names', async () => {
    const [tokens, cards] = [await tokenServer(), await tokenServer()];
    const flows = { clientCredentials: { tokenUrl: cards.url, scopes: { all: '' } } };
    const agent = await guarded(tokens, asksFor({ oauth: { oauth2SecurityScheme: { flows } } }));
    expect((await runWith(await client(tokens), agent)).status).toBe('completed');
    expect(cards.requests).toEqual([]);
  });

  it('sends nothing to an agent whose flow is another one', async () => {
    const tokens = await tokenServer();
    const flows = { authorizationCode: { authorizationUrl: tokens.url, tokenUrl: tokens.url, scopes: {} } };
    const agent = await guarded(tokens, asksFor({ oauth: { oauth2SecurityScheme: { flows } } }));
    expect(errorOf(await runWith(await client(tokens), agent))).toContain('oauth (oauth2 without clientCredentials)');
    expect([agent.sends, tokens.requests]).toEqual([[], []]);
  });

  it('uses no token of a credential that was replaced', async () => {
    const tokens = await tokenServer();
    const agent = await guarded(tokens);
    const auth = await client(tokens);
    await runWith(auth, agent);
    const clientSecret = newSecret();
    const settings = { kind: 'oauth2-client-credentials', tokenUrl: tokens.url, clientId: 'other', clientSecret };
    expect((await stage.api.call('PUT', `/credentials/${auth}`, settings)).status).toBe(200);
    expect((await runWith(auth, agent)).status).toBe('completed');
    expect(tokens.requests).toHaveLength(2);
    expect(agent.sends[1]?.headers.authorization).toBe(`Bearer ${tokens.issued[1]}`);
  });
});

it('leaves no client secret and no token in the database, in the logs or in the metrics', async () => {
  const metrics = await (await fetch(`${stage.parley.url}/metrics`)).text();
  const places = [await databaseText(stage.database), stage.parley.logs(), metrics].join('\n');
  const issued = issuers.flatMap((it) => it.issued);
  expect(issued.length).toBeGreaterThan(10);
  expect([...issued, ...seen].filter((it) => places.includes(it))).toEqual([]);
  expect(metrics).toMatch(/parley_oauth_token_requests_total\{outcome="ok"\} \d+/);
});
