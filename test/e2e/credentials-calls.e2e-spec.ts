import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';
import { firstText, sendTask } from '../support/a2a.js';
import { BrainstormApi, transforms } from '../support/brainstorm.js';
import { asksFor, keepCredential, newSecret } from '../support/credentials.js';
import { databaseText } from '../support/database-text.js';
import type { FakeAgent, FakeCall } from '../support/fake-agent.js';
import { answers, holds } from '../support/fake-behaviour.js';
import { callingInTurn, keepModel } from '../support/kept-model.js';
import { startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, echo, external, linear, type Run, textOf, unique } from '../support/workflow.js';

const stage = useStage({ env: { LOG_LEVEL: 'trace' } });
const secrets: string[] = [];

/** A secret that this file looks for at its end, wherever it may not be. */
function secret(): string {
  const made = newSecret();
  secrets.push(made);
  return made;
}

/** A run of one node that calls an agent with a credential. */
function runWith(auth: string, url: string, config: JsonObject = {}): Promise<Run> {
  return stage.api.finish(linear(unique('w'), external('e', url, { auth, ...config })));
}

function errorOf(run: Run): string {
  expect(run.status).toBe('failed');
  return run.nodes.e?.error as string;
}

const apiKeyScheme = (location: string, name: string): JsonObject => ({ apiKeySecurityScheme: { location, name } });
const httpScheme = (scheme: string): JsonObject => ({ httpAuthSecurityScheme: { scheme } });
const sentTo = ({ sends }: FakeAgent): FakeCall => {
  expect(sends).toHaveLength(1);
  return sends[0] as FakeCall;
};

describe('a node that names a credential', () => {
  it('sends it as the credential says, where the card asks for nothing', async () => {
    const value = secret();
    const forms: [JsonObject, (call: FakeCall) => string | undefined, string][] = [
      [{ kind: 'api-key', value }, ({ headers }) => headers['x-api-key'] as string, value],
      [{ kind: 'api-key', in: 'cookie', parameter: 'key', value }, ({ headers }) => headers.cookie, `key=${value}`],
      [{ kind: 'api-key', in: 'query', parameter: 'key', value }, ({ path }) => path, `/a2a?key=${value}`],
      [{ kind: 'bearer', token: value }, ({ headers }) => headers.authorization, `Bearer ${value}`],
      [
        { kind: 'basic', username: 'ann', password: `${value}ü` },
        ({ headers }) => headers.authorization,
        `Basic ${Buffer.from(`ann:${value}ü`).toString('base64')}`,
      ],
    ];
    for (const [fields, seen, expected] of forms) {
      const agent = await stage.fake();
      const run = await runWith(await keepCredential(stage.api, fields), agent.url);
      expect(run.status).toBe('completed');
      expect(seen(sentTo(agent))).toBe(expected);
      for (const read of agent.cardReads) expect(JSON.stringify([read.headers, read.path])).not.toContain(value);
    }
  });

  it.each<[string, JsonObject, (value: string) => (call: FakeCall) => boolean]>([
    [
      'a header',
      asksFor({ k: apiKeyScheme('header', 'X-Agent-Key') }),
      (value) => (call) => call.headers['x-agent-key'] === value && call.headers['x-own'] === undefined,
    ],
    ['the query', asksFor({ k: apiKeyScheme('query', 'k') }), (value) => (call) => call.path.endsWith(`?k=${value}`)],
    [
      'a cookie',
      asksFor({ k: apiKeyScheme('cookie', 'sid') }),
      (value) => (call) => call.headers.cookie === `sid=${value}`,
    ],
    [
      'its own header, where the card offers several',
      asksFor({ a: httpScheme('Bearer'), b: apiKeyScheme('header', 'X-Other'), c: apiKeyScheme('header', 'X-OWN') }),
      (value) => (call) => call.headers['x-own'] === value,
    ],
    [
      'a header, in the words of 0.3',
      { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'X-Old' } }, security: [{ k: [] }] },
      (value) => (call) => call.headers['x-old'] === value,
    ],
    [
      'a header that is described and not asked for',
      { securitySchemes: { k: apiKeyScheme('header', 'X-Optional') } },
      (value) => (call) => call.headers['x-optional'] === value,
    ],
  ])('sends an API key in %s, as the card asks', async (_where, card, matches) => {
    const value = secret();
    const agent = await stage.fake({ card, admits: matches(value) });
    const auth = await keepCredential(stage.api, { kind: 'api-key', parameter: 'X-Own', value });
    const run = await runWith(auth, agent.url);
    expect(run.nodes.e).toMatchObject({ status: 'completed' });
  });

  it.each<[string, JsonObject, string]>([
    ['another scheme', asksFor({ basicAuth: httpScheme('Basic') }), 'the agent asks for basicAuth (http basic)'],
    [
      'two schemes at once',
      {
        securitySchemes: { a: apiKeyScheme('header', 'X-A'), b: httpScheme('bearer') },
        securityRequirements: [{ schemes: { a: { list: [] }, b: { list: [] } } }],
      },
      'the agent asks for a (apiKey in header X-A) with b (http bearer)',
    ],
    [
      'a header that means something else',
      asksFor({ k: apiKeyScheme('header', 'Content-Length') }),
      'the agent asks for k (apiKey in header Content-Length)',
    ],
    [
      'what it does not describe',
      { securityRequirements: [{ schemes: { x: { list: [] } } }] },
      'the agent asks for x (not described)',
    ],
  ])('sends nothing to an agent that asks for %s', async (_what, card, words) => {
    const agent = await stage.fake({ card });
    const auth = await keepCredential(stage.api, { kind: 'api-key', value: secret() });
    expect(errorOf(await runWith(auth, agent.url))).toContain(`credential "${auth}": ${words}`);
    expect(agent.sends).toEqual([]);
    expect(await lastErrorOf(auth)).toContain(words);
  });

  it('sends nothing where there is no such credential', async () => {
    const agent = await stage.fake();
    expect(errorOf(await runWith('nobody', agent.url))).toContain('there is no credential "nobody"');
    expect(agent.sends).toEqual([]);
  });

  it('sends it where an agent is the tool of a model; without it, with another one or with none the model reads why not', async () => {
    const value = secret();
    const agent = await stage.fake({ admits: ({ headers }) => headers.authorization === `Bearer ${value}` });
    const good = await keepCredential(stage.api, { kind: 'bearer', token: value });
    const bad = await keepCredential(stage.api, { kind: 'bearer', token: secret() });
    const { name: model, llm } = await keepModel(stage.api, stage.defer);
    llm.answer = callingInTurn(['agent__x']);
    const called = async (auth: JsonObject): Promise<unknown> => {
      const tools = [{ agent: agent.url, name: 'x', ...auth }];
      const run = await stage.api.finish(linear(unique('w'), echo('a', { prompt: 'go', model, tools })));
      const [result] = JSON.parse(run.state['a'] as string) as unknown[];
      return result;
    };
    expect(await called({ auth: good })).toBe('{"status":"completed","text":"ok"}');
    const missing = await called({ auth: 'nobody' });
    expect(missing).toContain('its credential is missing or cannot be used');
    expect(missing).not.toContain('nobody');
    expect(agent.sends).toHaveLength(1);
    expect(await called({ auth: bad })).toContain('HTTP 401');
    expect(await called({})).toContain('HTTP 401');
    for (const { body } of llm.calls) expect(JSON.stringify(body)).not.toContain(value);
  });

  it('is refused at save where the name is none', async () => {
    const workflow = linear(unique('w'), external('e', 'http://127.0.0.1:9', { auth: 'no name' }));
    const reply = await stage.api.call('POST', '/workflows', workflow);
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('auth must be the name of a credential');
  });

  it('does not follow a card to another origin, unless the credential is meant for it', async () => {
    const [value, target] = [secret(), await stage.fake()];
    const leads = await stage.fake({
      card: { supportedInterfaces: [{ url: `${target.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
    });
    const plain = await keepCredential(stage.api, { kind: 'api-key', value });
    expect(errorOf(await runWith(plain, leads.url))).toContain(`it is not meant for ${target.url}`);
    expect(target.calls).toEqual([]);
    const bound = await keepCredential(stage.api, { kind: 'api-key', value, hosts: [target.url] });
    expect((await runWith(bound, leads.url)).status).toBe('completed');
    expect(sentTo(target).headers['x-api-key']).toBe(value);
    const other = await stage.fake();
    expect(errorOf(await runWith(bound, other.url))).toContain(`it is not meant for ${other.url}`);
    expect(other.sends).toEqual([]);
  });

  it('does not follow a redirect', async () => {
    const value = secret();
    const seen: IncomingMessage[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    const agent = createServer((request, response) => {
      const base = `http://${request.headers.host}`;
      if (request.url?.endsWith('agent-card.json')) return response.end(JSON.stringify(restCard(base)));
      const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
      if (request.method === 'GET') return response.writeHead(302, { location }).end();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } }));
    }).listen(0, '127.0.0.1');
    stage.defer(() => [agent, elsewhere].map((it) => it.close()));
    await Promise.all([once(agent, 'listening'), once(elsewhere, 'listening')]);
    const auth = await keepCredential(stage.api, { kind: 'api-key', parameter: 'X-Mine', value });
    const run = await runWith(auth, `http://127.0.0.1:${(agent.address() as AddressInfo).port}`);
    expect(errorOf(run)).toContain('the address may not be called');
    expect(seen).toEqual([]);
  });

  it.each([401, 403])(
    'fails at once where the agent answers %i, and hides what the agent quotes',
    async (httpStatus) => {
      const value = secret();
      const agent = await stage.fake();
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -31401, message: `bad key ${value}` } });
      agent.always({ httpStatus, headers: { 'content-type': 'application/json' }, body });
      const auth = await keepCredential(stage.api, { kind: 'api-key', value });
      const error = errorOf(await runWith(auth, agent.url));
      expect(error).toContain(`HTTP ${httpStatus}`);
      expect(error).toContain('bad key [secret]');
      expect(agent.sends).toHaveLength(1);
      expect(await lastErrorOf(auth)).toContain(`HTTP ${httpStatus}`);
    },
  );

  it('carries it with every call: a cancel, and what its own agent is asked', async () => {
    const value = secret();
    const agent = await stage.fake({
      streaming: true,
      admits: ({ headers }) => headers.authorization === `Bearer ${value}`,
    });
    const auth = await keepCredential(stage.api, { kind: 'bearer', token: value });
    const workflow = await stage.api.save(linear(unique('w'), external('e', agent.url, { auth })));
    agent.always(holds());
    const runId = await stage.api.start(workflow.name);
    await agent.sent();
    await until(async () => (await stage.api.run(runId)).nodes.e?.taskId);
    const canceled = await stage.api.call('POST', `/runs/${runId}/cancel`);
    expect(canceled.body).toMatchObject({ children: [{ outcome: 'acknowledged' }] });
    agent.always(answers('direct'));
    const task = await sendTask(stage.api.base(workflow.name, 'e'), 'hello');
    expect(firstText(task)).toBe('direct');
  });

  it('uses a replaced credential with the next call, and says when it was used', async () => {
    const [before, now] = [secret(), secret()];
    const agent = await stage.fake({ admits: ({ headers }) => headers['x-api-key'] === now });
    const auth = await keepCredential(stage.api, { kind: 'api-key', value: before });
    expect(errorOf(await runWith(auth, agent.url))).toContain('HTTP 401');
    await stage.api.call('PUT', `/credentials/${auth}`, { kind: 'api-key', value: now });
    const run = await runWith(auth, agent.url);
    expect(textOf(run.nodes.e?.artifacts)).toBe('ok');
    const used = await until(async () => {
      const { body } = await stage.api.call<{ lastUsedAt?: string; lastError?: object }>('GET', `/credentials/${auth}`);
      return body.lastUsedAt !== undefined && body;
    });
    expect(Date.now() - Date.parse(used.lastUsedAt ?? '')).toBeLessThan(60_000);
    expect(used.lastError).toBeUndefined();
  });

  it('A7 uses a replaced credential in what another replica resumes after a kill', async () => {
    const [old, now] = [secret(), secret()];
    const agents = await Promise.all(Array.from({ length: 4 }, () => stage.fake()));
    const [first, cut, builder, reviewer] = agents as [FakeAgent, FakeAgent, FakeAgent, FakeAgent];
    const hosts = agents.map(({ url }) => url);
    const auth = await keepCredential(stage.api, { kind: 'bearer', token: old, hosts });
    expect((await runWith(auth, first.url)).status).toBe('completed');
    const doomed = await startParley({ databaseUrl: stage.database.url, env: { LOG_LEVEL: 'trace' } });
    stage.defer(() => doomed.kill9());
    cut.next({ hang: true });
    builder.always(transforms({}));
    reviewer.next({ hang: true }).always(transforms({}));
    const nodes = [external('a', first.url, { auth }), external('b', cut.url, { auth })];
    const runId = await new Api(doomed.url).start((await stage.api.save(linear(unique('w'), ...nodes))).name);
    const roles = [builder, reviewer].map(({ url }) => ({ agent: url, credential_ref: auth }));
    const brainstormId = await new BrainstormApi(new Api(doomed.url)).start(roles, { maxIterations: 1 });
    await Promise.all([cut.sent(), reviewer.sent()]);
    await stage.api.call('PUT', `/credentials/${auth}`, { kind: 'bearer', token: now, hosts });
    await doomed.kill9();
    const run = await stage.api.ended(runId);
    const brainstorm = await new BrainstormApi(stage.api).rested(brainstormId);
    expect([run.status, brainstorm.status]).toEqual(['completed', 'converged']);
    const sent = agents.map(({ sends }) => sends.map(({ headers }) => headers.authorization));
    const [before, after] = [`Bearer ${old}`, `Bearer ${now}`];
    expect(sent).toEqual([[before, before], [before, after], [before], [before, after]]);
    const bodies = agents.flatMap(({ calls }) => calls.map(({ body }) => body));
    const told = JSON.stringify([bodies, run, brainstorm, doomed.logs()]);
    expect([old, now].filter((it) => told.includes(it))).toEqual([]);
  });
});

it('leaves no secret in the database, in the logs or in the metrics', async () => {
  const metrics = await (await fetch(`${stage.parley.url}/metrics`)).text();
  const places = [await databaseText(stage.database), stage.parley.logs(), metrics].join('\n');
  expect(secrets.length).toBeGreaterThan(10);
  const forms = secrets.flatMap((it) => [
    it,
    Buffer.from(it).toString('base64').slice(0, 16),
    Buffer.from(it).toString('hex'),
  ]);
  expect(forms.filter((it) => places.includes(it))).toEqual([]);
});

/** Nobody waits for it to be kept. */
function lastErrorOf(auth: string): Promise<string> {
  return until(
    async () => {
      const { body } = await stage.api.call<{ lastError?: { message: string } }>('GET', `/credentials/${auth}`);
      return body.lastError?.message;
    },
    { what: 'the error to be kept' },
  );
}

function restCard(url: string): JsonObject {
  return {
    name: 'rest',
    description: '',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
    capabilities: { streaming: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}
