import type { AgentCard, AgentSkill, JsonObject } from '#libs/protocol';
import { rpc, sendParams } from '../support/a2a.js';
import { BrainstormApi, STEP } from '../support/brainstorm.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { keepCredential, newSecret } from '../support/credentials.js';
import { FakeLlm } from '../support/fake-llm.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, echo, input, linear, output, textOf, unique } from '../support/workflow.js';

const ann = testCaller('ann');
const stage = useStage({ env: { ...apiKeyEnv(ann), OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'debug' } });
let api: Api;
let llm: FakeLlm;

beforeAll(async () => {
  api = new Api(stage.parley.url, ann.headers);
  llm = await FakeLlm.start();
  stage.defer(() => llm.stop());
});

const model = (more: JsonObject = {}): JsonObject => ({
  name: unique('m'),
  provider: 'openai-compatible',
  model: 'small',
  baseUrl: llm.url,
  ...more,
});

async function keep(more: JsonObject = {}): Promise<string> {
  const reply = await api.call<{ name: string }>('POST', '/models', model(more));
  if (reply.status !== 201) throw new Error(`Keeping a model failed: ${reply.status} ${reply.text}`);
  return reply.body.name;
}

const asking = (name: string) =>
  linear(unique('w'), input('in'), echo('a', { prompt: '{{in}}', model: name }), output('out'));

const CONTENT_TYPE_NOT_SUPPORTED = -32005;
/** Of the agent of a node, which stands last where there are more. */
const modesOf = (skills: readonly AgentSkill[] = []): unknown => skills.at(-1)?.inputModes;

describe('/api/models', () => {
  it('keeps, shows, lists, replaces and deletes a model', async () => {
    const price = { input: '0.25', output: '2', cachedInput: '0.025', cacheWrite: '0.3' };
    const defaults = {
      temperature: 0,
      topP: 0.9,
      stop: ['END'],
      maxTokens: 2_000,
      waitSeconds: 600,
      toolCalls: 'schema',
    };
    const sent = model({ price, defaults, auth: 'a-key', input: ['image/*', 'image/*', 'application/pdf'] });
    const created = await api.call('POST', '/models', sent);
    expect([created.status, created.headers.get('location')]).toEqual([201, `/api/models/${sent['name'] as string}`]);
    expect(created.body).toEqual({
      ...sent,
      input: ['image/*', 'application/pdf'],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const name = sent['name'] as string;
    const replaced = await api.call('PUT', `/models/${name}`, { provider: 'anthropic', model: 'claude' });
    expect([replaced.status, replaced.body]).toEqual([
      200,
      {
        name,
        provider: 'anthropic',
        model: 'claude',
        input: [],
        createdAt: created.body['createdAt'],
        updatedAt: expect.any(String),
      },
    ]);
    expect((await api.call('GET', `/models/${name}`)).body).toEqual(replaced.body);
    expect((await api.call<{ models: JsonObject[] }>('GET', '/models')).body.models).toContainEqual(replaced.body);
    expect((await api.call('POST', '/models', { ...sent })).status).toBe(409);
    expect((await api.call('DELETE', `/models/${name}`)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await api.call(method, `/models/${name}`)).status).toBe(404);
    expect((await api.call('PUT', `/models/${name}`, sent)).status).toBe(404);
  });

  it.each<[string, JsonObject, string[]]>([
    ['a name that is none', { name: '-x' }, ['name']],
    ['the name of the built-in model', { name: 'echo' }, ['name']],
    ['another provider', { provider: 'acme' }, ['provider']],
    ['no model', { model: '' }, ['model']],
    ['an address that is none', { baseUrl: 'models' }, ['baseUrl']],
    ['an address with what the database does not keep', { baseUrl: 'https://models.example.com/\0' }, ['baseUrl']],
    ['an address with a password', { baseUrl: 'https://u:p@models.example.com/v1' }, ['baseUrl']],
    ['an address of the cloud’s metadata', { baseUrl: 'http://169.254.169.254/v1' }, ['baseUrl']],
    ['a credential that is no name', { auth: 'a key' }, ['auth']],
    ['media types that are none', { input: ['image/*', 'pictures', 3] }, ['input[1]', 'input[2]']],
    ['a price that is a number', { price: { input: 0.5, output: '2' } }, ['price.input']],
    ['a price below zero', { price: { input: '1', output: '-2' } }, ['price.output']],
    ['a price with too many decimals', { price: { input: '0.0000001', output: '2' } }, ['price.input']],
    ['a price of output alone', { price: { output: '2' } }, ['price.input']],
    ['a price in another currency', { price: { input: '1', output: '2', currency: 'EUR' } }, ['price.currency']],
    ['a price that is no object', { price: '1' }, ['price']],
    ['a price that is a list', { price: [] }, ['price']],
    ['a temperature out of range', { defaults: { temperature: 2.5 } }, ['defaults.temperature']],
    ['a text as a number of tokens', { defaults: { maxTokens: '9' } }, ['defaults.maxTokens']],
    ['an empty text as the end', { defaults: { stop: ['x', ''] } }, ['defaults.stop[1]']],
    ['a wait without end', { defaults: { waitSeconds: 3_601 } }, ['defaults.waitSeconds']],
    ['another form of tool calls', { defaults: { toolCalls: 'xml' } }, ['defaults.toolCalls']],
    ['another default', { defaults: { seed: 1 } }, ['defaults.seed']],
    ['another field', { apiKey: 'sk-x' }, ['apiKey']],
  ])('refuses %s, naming the field and no value', async (_what, fields, paths) => {
    const reply = await api.call<{ errors: { path: string }[] }>('POST', '/models', model(fields));
    expect([reply.status, reply.body.errors.map(({ path }) => path)]).toEqual([400, paths]);
    expect(reply.text).not.toMatch(/u:p@|sk-x/);
  });

  it('wants to know where an OpenAI-compatible model is', async () => {
    const reply = await api.call('POST', '/models', { ...model(), baseUrl: undefined });
    expect([reply.status, reply.body]).toEqual([
      400,
      expect.objectContaining({ errors: [expect.objectContaining({ path: 'baseUrl' })] }),
    ]);
  });

  it('answers for an agent node that names it, with its credential; a change counts from the next call on', async () => {
    const [first, second] = [newSecret(), newSecret()];
    const auth = await keepCredential(api, { kind: 'bearer', token: first });
    const name = await keep({ auth });
    llm.answer = () => 'from the model';
    const { name: workflow } = await api.save(asking(name));
    const run = async () => api.ended(await api.start(workflow, { in: 'x' }));
    expect(textOf((await run()).result)).toBe('from the model');
    await api.call('PUT', `/credentials/${auth}`, { kind: 'bearer', token: second });
    await api.call('PUT', `/models/${name}`, model({ model: 'large', auth }));
    await run();
    const sent = llm.calls.slice(-2).map(({ headers, body }) => [headers['authorization'], body['model']]);
    expect(sent).toEqual([
      [`Bearer ${first}`, 'small'],
      [`Bearer ${second}`, 'large'],
    ]);
    expect(stage.parley.logs()).not.toMatch(new RegExp(`${first}|${second}`));
  });

  it('says why a model did not answer, and keeps what came of its credential', async () => {
    const secret = newSecret();
    const auth = await keepCredential(api, { kind: 'bearer', token: secret });
    const [refused, lost] = [await keep({ auth }), await keep({ auth: 'nobody-kept-it' })];
    llm.answer = () => ({ status: 401, error: `no such key: ${secret}` });
    const failed = async (name: string): Promise<string | undefined> =>
      (await api.finish(asking(name), { in: 'x' })).error?.message;
    expect(await failed(refused)).toMatch(/the provider refused the key \(HTTP 401\): no such key/);
    expect(await failed(lost)).toMatch(/there is no credential "nobody-kept-it"/);
    expect(await failed('tpyo')).toMatch(/there is no model "tpyo"/);
    // Nobody waits for it to be kept.
    const shown = await until(
      async () => {
        const reply = await api.call<{ lastError?: { message: string } }>('GET', `/credentials/${auth}`);
        return reply.body.lastError && reply;
      },
      { what: 'the error to be kept' },
    );
    expect(shown.body.lastError?.message).toMatch(/refused the key/);
    expect(`${shown.text}${stage.parley.logs()}`).not.toContain(secret);
  });

  it('says on the cards of its agents what it takes at the moment, and they take that', async () => {
    const name = await keep({ input: ['image/*'] });
    llm.answer = () => 'seen';
    const { name: workflow } = await api.save(linear(unique('w'), echo('a', { model: name })));
    const base = api.base(workflow, 'a');
    const modes = async (): Promise<unknown[]> => {
      const response = await fetch(`${base}/.well-known/agent-card.json`, { headers: ann.headers });
      const { defaultInputModes, skills } = (await response.json()) as AgentCard;
      const { result } = (await rpc<AgentCard>(base, 'GetExtendedAgentCard', {}, { headers: ann.headers })).body;
      const whole = await rpc<AgentCard>(api.base(workflow), 'GetExtendedAgentCard', {}, { headers: ann.headers });
      return [defaultInputModes, ...[skills, result?.skills, whole.body.result?.skills].map(modesOf)];
    };
    const picture = (): ReturnType<typeof rpc> =>
      rpc(base, 'SendMessage', sendParams([{ raw: 'iVBORw0KGgo=', mediaType: 'image/png' }]), { headers: ann.headers });
    const all = ['text/plain', 'application/json', 'image/*'];
    expect(await modes()).toEqual([all, all, all, all]);
    expect(JSON.stringify((await picture()).body.result)).toContain('TASK_STATE_COMPLETED');
    await api.call('PUT', `/models/${name}`, model());
    expect(await modes()).toEqual([['text/plain', 'application/json'], ['text/plain'], ['text/plain'], ['text/plain']]);
    expect((await picture()).body.error?.code).toBe(CONTENT_TYPE_NOT_SUPPORTED);
  });

  it('does not delete what is named: a model by a workflow, a credential by a model', async () => {
    const auth = await keepCredential(api, { kind: 'bearer', token: newSecret() });
    const name = await keep({ auth });
    const { name: workflow } = await api.save(asking(name));
    const kept = await api.call('DELETE', `/models/${name}`);
    expect([kept.status, kept.body]).toMatchObject([409, { errors: [{ path: `workflows/${workflow}` }] }]);
    const used = await api.call('DELETE', `/credentials/${auth}`);
    expect([used.status, used.body]).toMatchObject([409, { errors: [{ path: `models/${name}` }] }]);
    for (const path of [`/workflows/${workflow}`, `/models/${name}`, `/credentials/${auth}`])
      expect((await api.call('DELETE', path)).status).toBe(204);
  });
});

describe('a brainstorm of agent nodes', () => {
  const STATE = {
    idea: 'x',
    architecture: 'y',
    execution_plan: [STEP],
    risks: [],
    assumptions: [],
    open_questions: [],
    metrics: { confidence: 0.9 },
  };
  let brainstorms: BrainstormApi;

  beforeEach(() => {
    brainstorms = new BrainstormApi(api);
    llm.answer = () => JSON.stringify(STATE);
  });

  const hosts = (): string[] => [new URL(llm.url).origin];

  /** Two agents of the service whose model has a credential of its own. */
  async function twoAgents(token = newSecret()): Promise<[string, string]> {
    const name = await keep({ auth: await keepCredential(api, { kind: 'bearer', token }) });
    const workflow = unique('w');
    await api.save({ name: workflow, nodes: [echo('a', { model: name }), echo('b', { model: name })], edges: [] });
    return [`workflows/${workflow}/nodes/a`, `workflows/${workflow}/nodes/b`];
  }

  const tokens = (from: number): unknown[] => llm.calls.slice(from).map(({ headers }) => headers['authorization']);

  it('mends an answer whose steps and risks are texts, and says so in its events', async () => {
    const [a, b] = await twoAgents();
    const answers = [{ ...STATE, execution_plan: ['Begin'], risks: ['It rains'] }, STATE, STATE];
    llm.answer = () => JSON.stringify(answers.shift());
    const before = llm.calls.length;
    const ended = await brainstorms.finish([{ agent: a }, { agent: b }], { maxIterations: 1 });
    expect(ended.status).toBe('converged');
    expect(ended.passes[0]?.agents[0]).toMatchObject({ status: 'completed', repairs: 1 });
    const repaired = (await brainstorms.log(ended.brainstormId)).filter(({ data }) => data.type === 'agent.repaired');
    expect(repaired.map(({ data }) => data.payload)).toEqual([
      expect.objectContaining({
        position: 0,
        faults: expect.stringContaining('output.execution_plan[0] must be object'),
      }),
    ]);
    const [first] = llm.calls.slice(before).map(({ body }) => JSON.stringify(body['messages']));
    expect(first?.match(/must be valid against this JSON Schema/g)).toHaveLength(1);
  });

  it('calls models with its credential in place of theirs, that of all agents before that of one', async () => {
    const [own, mine, all] = [newSecret(), newSecret(), newSecret()];
    const [a, b] = await twoAgents(own);
    const ref = await keepCredential(api, { kind: 'bearer', token: mine, hosts: hosts() });
    const forAll = await keepCredential(api, { kind: 'bearer', token: all, hosts: hosts() });
    const before = llm.calls.length;
    const agents: JsonObject[] = [{ agent: a, credential_ref: ref }, { agent: b }];
    const ended = await brainstorms.finish(agents, { maxIterations: 1 });
    expect(ended.status).toBe('converged');
    await brainstorms.finish(agents, { maxIterations: 1, llmConfig: { credential_ref: forAll } });
    expect(tokens(before)).toEqual([mine, own, all, all].map((token) => `Bearer ${token}`));
    const written = JSON.stringify([llm.calls.slice(before).map(({ body }) => body), ended]);
    for (const secret of [own, mine, all, ref, forAll]) expect(written).not.toContain(secret);
  });

  it('calls models with its credential as that is at each call, and fails while it is gone', async () => {
    const [first, second] = [newSecret(), newSecret()];
    const [a, b] = await twoAgents();
    const name = await keepCredential(api, { kind: 'bearer', token: first, hosts: hosts() });
    const before = llm.calls.length;
    const agents = [a, b].map((agent) => ({ agent, credential_ref: name }));
    const { brainstormId } = await brainstorms.finish(agents, { maxIterations: 1 });
    const iterate = async () => {
      await api.call('POST', `/brainstorms/${brainstormId}/iterate`);
      return brainstorms.rested(brainstormId);
    };
    await api.call('DELETE', `/credentials/${name}`);
    const gone = await iterate();
    expect(gone).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('is not a credential that this agent can use') },
    });
    await api.call('POST', '/credentials', { name, kind: 'bearer', token: second, hosts: hosts() });
    expect((await iterate()).status).toBe('converged');
    expect(tokens(before)).toEqual([first, first, second, second].map((token) => `Bearer ${token}`));
  });

  it('refuses a credential in the same words whatever is wrong with it', async () => {
    const [a, b] = await twoAgents();
    const token = newSecret();
    const names = [
      'PATH',
      'HOME',
      'NO_SUCH_VARIABLE',
      await keepCredential(api, { kind: 'bearer', token }),
      await keepCredential(api, { kind: 'bearer', token, hosts: ['https://elsewhere.test'] }),
    ];
    const answers = new Set<string>();
    for (const name of names) {
      const reply = await brainstorms.post({ idea: 'x', agents: [{ agent: a }, { agent: b, credential_ref: name }] });
      expect(reply.status).toBe(422);
      expect(reply.body).toMatchObject({ errors: [{ path: 'agents[1].credential_ref' }] });
      const { detail, errors } = reply.body as unknown as JsonObject;
      answers.add(JSON.stringify([detail, errors]));
    }
    expect(answers.size).toBe(1);
  });
});
