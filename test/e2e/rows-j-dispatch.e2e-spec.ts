import { BrainstormApi, payloadOf, STEP, transforms } from '../support/brainstorm.js';
import { keepCredential } from '../support/credentials.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { answers, answersParts } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';

const stage = useSharedStage();
let brainstorms: BrainstormApi;

beforeAll(() => {
  brainstorms = new BrainstormApi(stage.api);
});

async function agents(count: number): Promise<FakeAgent[]> {
  const started = Array.from({ length: count }, (_, index) => stage.fake({ name: `agent ${index}` }));
  const all = await Promise.all(started);
  for (const agent of all) agent.always(transforms());
  return all;
}

describe('rows J: what an agent is called with', () => {
  it('J1 J2 exactly one data Part with role, systemPrompt, llmConfig and state', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    const ended = await brainstorms.finish([a, b], { maxIterations: 1 });
    expect(ended.status).toBe('converged');
    for (const call of [...a.sends, ...b.sends]) {
      expect(call.message?.parts).toEqual([{ data: expect.any(Object), mediaType: 'application/json' }]);
      expect(Object.keys(payloadOf(call)).toSorted()).toEqual(['llmConfig', 'role', 'state', 'systemPrompt']);
    }
    expect(payloadOf(a.sends[0]).state).toEqual({
      idea: 'an idea',
      architecture: '',
      execution_plan: [],
      risks: [],
      assumptions: [],
      open_questions: [],
      metrics: { confidence: 0 },
      meta: { iteration: 1, agents: ended.state.meta.agents },
    });
  });

  it('J3 the card is read before every call, and its URL is the one that is called', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    a.always((call, index) => {
      a.options.rpcPath = `/moved/${index + 1}`;
      return transforms((_, nth) => ({ execution_plan: [STEP], metrics: { confidence: 0.6 + nth / 10 } }))(call, index);
    });
    b.always(transforms({}));
    await brainstorms.finish([a, b], { maxIterations: 3 });
    expect(a.sends.map(({ path }) => path)).toEqual(['/a2a', '/moved/1', '/moved/2']);
    const order = a.calls.map(({ httpMethod }) => httpMethod);
    expect(order).toEqual(['GET', 'POST', 'GET', 'POST', 'GET', 'POST']);
    expect(a.cardReads.map(({ path }) => path)).toEqual(Array(3).fill('/.well-known/agent-card.json'));
  });

  it('K15 a card that says how long it is fresh is not read again before', async () => {
    const a = await stage.fake({ cacheControl: 'max-age=60' });
    a.always(transforms());
    await brainstorms.finish([a, a], { maxIterations: 2 });
    expect(a.cardReads).toHaveLength(1);
    expect(a.sends).toHaveLength(4);
  });

  it('J4 503, 503, 200 are three calls of one Message, and a pass that went well', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    a.next({ httpStatus: 503 }, { httpStatus: 503 });
    const ended = await brainstorms.finish([a, b], { maxIterations: 1 });
    expect(ended.status).toBe('converged');
    expect(a.sends).toHaveLength(3);
    expect(new Set(a.sends.map(({ message }) => message?.messageId)).size).toBe(1);
    expect(b.sends).toHaveLength(1);
  });

  it('J4 400 is one call, and the pass has failed', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    a.always({ httpStatus: 400 });
    const ended = await brainstorms.finish([a, b]);
    expect(ended).toMatchObject({ status: 'failed', error: { agent: a.url, message: 'HTTP 400' } });
    expect(a.sends).toHaveLength(1);
    expect(b.sends).toHaveLength(0);
  });

  it('J4 an agent that says nothing in time is asked again', async () => {
    const asked = async (timeoutMs: number) => {
      const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
      a.next({ hang: true });
      const ended = await brainstorms.finish([a, b], { maxIterations: 1, timeoutMs });
      return { a, b, ended };
    };
    let { a, b, ended } = await asked(300);
    // A slow machine may need more time for an answer that comes at once.
    for (let timeoutMs = 1_200; a.sends.length + b.sends.length !== 3 && timeoutMs < 20_000; timeoutMs *= 4)
      ({ a, b, ended } = await asked(timeoutMs));
    expect(ended.status).toBe('converged');
    expect([a, b].map(({ sends }) => sends.length)).toEqual([2, 1]);
    expect(a.sends[0]?.aborted).toBe(true);
  });

  it('J5 a state that comes as text is none', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    a.always((call) => answers(JSON.stringify(payloadOf(call).state)));
    const ended = await brainstorms.finish([a, b]);
    expect(ended.status).toBe('failed');
    expect(ended.error?.message).toMatch(/^no state: /);
    expect(ended.passes[0]?.agents[0]).toMatchObject({ status: 'failed', error: expect.stringMatching(/^no state: /) });
    expect(a.sends).toHaveLength(1);
  });

  it('J5 a direct Message with a state is none either', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    a.always((call) => ({ message: [{ data: payloadOf(call).state as never }] }));
    expect((await brainstorms.finish([a, b])).error?.message).toMatch(/^no state: /);
  });

  it('J8 J15 the prompt is assembled here and holds neither names of skills nor secrets; fields of the model by rank', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    const token = 'very-secret-value';
    const credential = await keepCredential(stage.api, { kind: 'bearer', token, hosts: [b.url] });
    const ended = await brainstorms.finish(
      [
        {
          agent: a.url,
          model: 'm-agent',
          provider: 'p-agent',
          skills: ['security', 'fake', 'You know all about bees.'],
        },
        { agent: b.url, credential_ref: credential },
      ],
      {
        maxIterations: 1,
        systemPrompt: 'The base.',
        llmConfig: { model: 'm-all', credential_ref: credential },
      },
    );
    const { systemPrompt, llmConfig } = payloadOf(a.sends[0]);
    expect(systemPrompt.split('\n\n')).toEqual([
      'The base.',
      expect.stringContaining('Your role is to build'),
      expect.stringContaining('trust boundaries'),
      'Answers as told',
      'You know all about bees.',
      expect.stringContaining('must be valid against this JSON Schema: {'),
    ]);
    expect(llmConfig).toEqual({ model: 'm-all', provider: 'p-agent' });
    expect(payloadOf(b.sends[0]).llmConfig).toEqual({ model: 'm-all', provider: 'parley' });
    const said = JSON.stringify([
      ...a.calls.map(({ body, headers }) => [body, headers]),
      ...b.calls.map(({ body }) => body),
    ]);
    expect(said).not.toContain(token);
    expect(said).not.toContain(credential);
    expect(b.sends[0]?.headers['authorization']).toBe(`Bearer ${token}`);
    expect(ended.agents[0]).toMatchObject({ provider: 'p-agent', model: 'm-all' });
    const stored = await stage.database.query(
      `SELECT payload::text FROM task_event WHERE payload::text LIKE '%very-secret%'`,
    );
    expect(stored).toEqual([]);
  });

  it('J16 a state that is none is rejected and asked for again twice at most', async () => {
    const [a, b, c] = (await agents(3)) as [FakeAgent, FakeAgent, FakeAgent];
    const bad = answersParts({ data: { idea: 'an idea' } });
    a.next(bad, bad);
    b.always(bad);
    const ended = await brainstorms.finish([a, b, c]);
    expect(ended.status).toBe('failed');
    expect(ended.passes[0]?.agents.map(({ status }) => status)).toEqual(['completed', 'failed', 'pending']);
    expect(ended.error).toMatchObject({ agent: b.url, message: expect.stringContaining('architecture') });
    expect([a, b, c].map(({ sends }) => sends.length)).toEqual([3, 3, 0]);
    expect(new Set(b.sends.map(({ message }) => message?.messageId)).size).toBe(3);
  });
});
