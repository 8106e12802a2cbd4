import { getTask, rpc } from '../support/a2a.js';
import { type Brainstorm, BrainstormApi, STEP, transforms } from '../support/brainstorm.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { ends, holds } from '../support/fake-behaviour.js';
import { ids, range } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { script, unique } from '../support/workflow.js';

const stage = useSharedStage();
let brainstorms: BrainstormApi;
let a: FakeAgent;
let b: FakeAgent;

beforeAll(() => {
  brainstorms = new BrainstormApi(stage.api);
});

beforeEach(async () => {
  [a, b] = [await stage.fake({ streaming: true }), await stage.fake({ streaming: true })];
  for (const agent of [a, b]) agent.always(transforms());
});

describe('rows J: the management API', () => {
  it('J16 202 with an id at once; the shape of a brainstorm', async () => {
    const reply = await brainstorms.post({ idea: 'bees', agents: [{ agent: a.url, name: 'Ada' }, { agent: b.url }] });
    expect(reply.status).toBe(202);
    expect(reply.body).toEqual({ brainstormId: expect.any(String) });
    expect(reply.headers.get('location')).toBe(`/api/brainstorms/${reply.body.brainstormId}`);
    const shown = await brainstorms.rested(reply.body.brainstormId);
    expect(shown).toMatchObject({
      brainstormId: reply.body.brainstormId,
      status: 'converged',
      iteration: 2,
      agents: [
        { agent: a.url, name: 'Ada', role: 'build' },
        { agent: b.url, role: 'review' },
      ],
      state: { idea: 'bees', execution_plan: [STEP] },
      provenance: { 'metrics.confidence': { agent: a.url, role: 'build', iteration: 1 } },
      passes: [{ iteration: 1, confidence: 0.9, agents: [{ agent: a.url, status: 'completed' }, {}] }, {}],
      convergence: expect.stringMatching(/^Converged in iteration 2: .*\.$/),
    } satisfies Partial<Record<keyof Brainstorm, unknown>>);
  });

  it('the same Idempotency-Key and body is the same brainstorm, another body is 409', async () => {
    const body = { idea: 'once', agents: [{ agent: a.url }, { agent: b.url }], maxIterations: 1 };
    const headers = { 'idempotency-key': unique('key') };
    const [first, second] = await Promise.all([brainstorms.post(body, headers), brainstorms.post(body, headers)]);
    expect(first.body).toEqual(second.body);
    const other = await brainstorms.post({ ...body, idea: 'twice' }, headers);
    expect(other.status).toBe(409);
    expect(other.text).toContain('IDEMPOTENCY_CONFLICT');
    await brainstorms.rested(first.body.brainstormId);
    expect(a.sends).toHaveLength(1);
  });

  const TWO = [{ agent: 'http://127.0.0.1:1' }, { agent: 'http://127.0.0.1:1' }];

  it.each<[string, number, string, unknown]>([
    ['J11 one agent', 422, 'agents', { idea: 'x', agents: TWO.slice(1) }],
    ['J11 a role that is none', 422, 'agents[1].role', { idea: 'x', agents: [TWO[0], { ...TWO[1], role: 'chief' }] }],
    ['an empty idea', 422, 'idea', { idea: ' ', agents: TWO }],
    ['no iterations', 422, 'maxIterations', { idea: 'x', agents: TWO, maxIterations: 0 }],
    ['an agent that is not here', 422, 'agents[0].agent', { idea: 'x', agents: [{ agent: 'nobody' }, TWO[1]] }],
    ['a reference that is none', 422, 'agents[0].agent', { idea: 'x', agents: [{ agent: 'a b' }, TWO[1]] }],
    [
      'a credential that is no name',
      422,
      'llmConfig.credential_ref',
      { idea: 'x', agents: TWO, llmConfig: { credential_ref: 'sk-123' } },
    ],
    ['a secret', 400, 'llmConfig.apiKey', { idea: 'x', agents: TWO, llmConfig: { apiKey: 'sk-123' } }],
    ['an idea that is no text', 400, 'idea', { idea: 7, agents: TWO }],
    ['agents that are no list', 400, 'agents', { idea: 'x', agents: 'all' }],
    ['an agent without a reference', 400, 'agents[1].agent', { idea: 'x', agents: [TWO[0], {}] }],
    ['an llmConfig that is no object', 400, 'llmConfig', { idea: 'x', agents: TWO, llmConfig: 'best' }],
    ['a member that nobody knows', 400, 'maxIteration', { idea: 'x', agents: TWO, maxIteration: 1 }],
    [
      'such a member of an agent',
      400,
      'agents[0].modle',
      { idea: 'x', agents: [{ ...TWO[0], modle: 'small' }, TWO[1]] },
    ],
    ['an agent that is a text', 400, 'agents[0]', { idea: 'x', agents: ['http://127.0.0.1:1', TWO[1]] }],
    ['no object', 400, '', []],
  ])('refuses %s with %i, names the field, and writes nothing', async (_, status, path, body) => {
    const before = await stage.database.counts();
    const reply = await brainstorms.post(body);
    expect({ status: reply.status, text: reply.text }).toMatchObject({ status });
    expect(reply.headers.get('content-type')).toContain('application/problem+json');
    expect(reply.text).not.toContain('sk-123');
    const problem = reply.body as unknown as { errors: { path: string }[] };
    expect(problem.errors.map((it) => it.path)).toContain(path);
    expect(await stage.database.counts()).toEqual(before);
  });

  it.each(['agents[1].credential_ref', 'llmConfig.credential_ref'])(
    'J15 refuses a %s that is no stored credential with 422, in words that do not tell which variables there are',
    async (path) => {
      const before = await stage.database.counts();
      const replies = await Promise.all(
        ['PATH', 'HOME', 'NO_SUCH_VARIABLE'].map((credential_ref) => {
          const isForAll = path.startsWith('llmConfig');
          const agents = isForAll ? TWO : [TWO[0], { ...TWO[1], credential_ref }];
          return brainstorms.post({ idea: 'x', agents, ...(isForAll && { llmConfig: { credential_ref } }) });
        }),
      );
      const problems = replies.map(({ body }) => (body as unknown as { errors: unknown[] }).errors);
      expect(replies.map(({ status }) => status)).toEqual([422, 422, 422]);
      for (const errors of problems) expect(errors).toEqual([expect.objectContaining({ path })]);
      expect(new Set(problems.map((errors) => JSON.stringify(errors))).size).toBe(1);
      expect(await stage.database.counts()).toEqual(before);
    },
  );

  it('a skill that neither we nor the card of the agent know is refused; a card that cannot be read too', async () => {
    const unknown = await brainstorms.post({
      idea: 'x',
      agents: [{ agent: a.url, skills: ['juggling'] }, { agent: b.url }],
    });
    expect(unknown.status).toBe(422);
    expect(unknown.body).toMatchObject({ errors: [{ path: 'agents[0].skills[0]' }] });
    const away = await brainstorms.post({
      idea: 'x',
      agents: [{ agent: 'http://127.0.0.1:1', skills: ['juggling'] }, { agent: b.url }],
    });
    expect(away.status).toBe(422);
    expect(away.body).toMatchObject({ errors: [{ path: 'agents[0].skills' }] });
  });

  it.each(['GET /', 'GET /events', 'POST /iterate', 'POST /approve', 'POST /cancel'])(
    'an unknown brainstorm is 404 for %s',
    async (call) => {
      const [method = '', path = ''] = call.split(' ');
      for (const id of ['unknown', '%00', 'a'.repeat(300)]) {
        expect((await stage.api.call(method, `/brainstorms/${id}${path.replace(/\/$/, '')}`)).status).toBe(404);
      }
    },
  );

  it('J16 events: numbered without a gap, in the order of the pass, resumable, and the last one says how it rests', async () => {
    const id = await brainstorms.start([a, b], { maxIterations: 1 });
    const frames = await brainstorms.log(id);
    expect(frames.map(({ event }) => event)).toEqual([
      'brainstorm.started',
      'iteration.started',
      'agent.started',
      'agent.phase',
      'agent.completed',
      'agent.started',
      'agent.phase',
      'agent.completed',
      'iteration.completed',
      'brainstorm.converged',
    ]);
    expect(ids(frames)).toEqual(range(1, frames.length));
    for (const { data, id: at } of frames) {
      expect(data).toMatchObject({ brainstormId: id, sequence: Number(at), timestamp: expect.stringMatching(/^2/) });
    }
    const rest = await (await brainstorms.events(id, 7)).all();
    expect(rest.map(({ raw }) => raw)).toEqual(frames.slice(7).map(({ raw }) => raw));
    expect((await stage.api.call('GET', `/brainstorms/${id}/events?since=999`)).status).toBe(400);
  });

  it('J16 the stream of one that fails says which agent and why; after iterate it goes on from there', async () => {
    b.next(ends('TASK_STATE_REJECTED', 'not me'));
    const id = await brainstorms.start([a, b], { maxIterations: 1 });
    const frames = await brainstorms.log(id);
    expect(frames.at(-1)).toMatchObject({
      event: 'brainstorm.failed',
      data: { payload: { agent: b.url, error: 'the agent rejected the message: not me' } },
    });
    await brainstorms.act(id, 'iterate');
    const rest = await (await brainstorms.events(id, frames.length)).all();
    expect(rest[0]).toMatchObject({ event: 'iteration.requested', id: String(frames.length + 1) });
    expect(rest.at(-1)?.event).toBe('brainstorm.converged');
    const whole = await brainstorms.log(id);
    expect(ids(whole)).toEqual(range(1, frames.length + rest.length));
  });

  it('J14 a caller approves what has converged: it ends, and neither iterates nor is canceled any more', async () => {
    const id = await brainstorms.start([a, b]);
    await brainstorms.rested(id);
    const approved = await brainstorms.act(id, 'approve');
    expect(approved).toMatchObject({ status: 200, body: { brainstormId: id, status: 'approved' } });
    expect((await brainstorms.act(id, 'approve')).status).toBe(200);
    expect((await brainstorms.act(id, 'iterate')).status).toBe(409);
    expect((await brainstorms.act(id, 'cancel')).status).toBe(409);
    expect(await brainstorms.get(id)).toMatchObject({
      status: 'approved',
      iteration: 2,
      state: { execution_plan: [STEP] },
    });
    const task = await getTask(`${stage.parley.url}/a2a`, id);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts[0]?.data).toEqual((await brainstorms.get(id)).state);
  });

  it('J14 a caller approves in the middle of a pass: the last merged state counts, the agent at work is canceled', async () => {
    b.always((call, index) => (index === 1 ? holds() : transforms({ metrics: { confidence: 0.6 } })(call, index)));
    const id = await brainstorms.start([a, b]);
    await brainstorms.reached(id, ({ passes }) => passes[1]?.agents[1]?.status === 'running');
    await b.sent(2);
    await until(() => b.taskIds().length === 2, { what: 'the second Task' });
    expect((await brainstorms.act(id, 'approve')).body.status).toBe('approved');
    expect(await brainstorms.get(id)).toMatchObject({
      status: 'approved',
      iteration: 1,
      state: { metrics: { confidence: 0.6 } },
    });
    await until(() => b.cancels.length === 1, { what: 'CancelTask at the agent' });
  });

  it('nothing can be approved before a pass is complete', async () => {
    a.always(holds());
    const id = await brainstorms.start([a, b]);
    await a.sent();
    expect((await brainstorms.act(id, 'approve')).status).toBe(409);
    expect((await brainstorms.act(id, 'cancel')).body.status).toBe('canceled');
  });

  it('J7 cancel in the middle of a pass: CANCELED, the agent at work too, nothing more after it', async () => {
    a.always(holds());
    const id = await brainstorms.start([a, b]);
    await brainstorms.reached(id, () => a.taskIds().length === 1);
    await until(async () => (await brainstorms.get(id)).passes[0]?.agents[0]?.status === 'running');
    const reply = await brainstorms.act(id, 'cancel');
    expect(reply).toMatchObject({ status: 200, body: { brainstormId: id, status: 'canceled' } });
    expect((await brainstorms.act(id, 'cancel')).status).toBe(200);
    expect((await brainstorms.act(id, 'approve')).status).toBe(409);
    const frames = await brainstorms.log(id);
    expect(frames.at(-1)?.event).toBe('brainstorm.canceled');
    expect((await getTask(`${stage.parley.url}/a2a`, id)).status.state).toBe('TASK_STATE_CANCELED');
    await until(() => a.cancels.length === 1, { what: 'CancelTask at the agent' });
    expect(b.sends).toHaveLength(0);
    expect((await brainstorms.get(id)).passes[0]?.agents[0]?.status).toBe('canceled');
  });

  it('J7 CancelTask of A2A ends one that rests', async () => {
    const id = await brainstorms.start([a, b]);
    await brainstorms.rested(id);
    const { body } = await rpc(`${stage.parley.url}/a2a`, 'CancelTask', { id });
    expect(body.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    expect((await brainstorms.get(id)).status).toBe('canceled');
  });

  it("an agent of this service takes part by its name, in the brainstorm's context", async () => {
    const state = {
      idea: 'x',
      architecture: 'Own',
      execution_plan: [STEP],
      risks: [],
      assumptions: [],
      open_questions: [],
    };
    const answer = { artifact: { parts: [{ data: { ...state, metrics: { confidence: 0.9 } } }] } };
    const workflow = unique('own');
    await stage.api.save({ name: workflow, nodes: [script('it', answer, { complete: 'done' })], edges: [] });
    const ended = await brainstorms.finish([{ agent: `workflows/${workflow}/nodes/it` }, { agent: b.url }], {
      maxIterations: 1,
    });
    expect(ended).toMatchObject({
      status: 'converged',
      state: { architecture: 'Own' },
      agents: [{ name: 'it' }, {}],
      provenance: { architecture: { agent: `workflows/${workflow}/nodes/it`, role: 'build', iteration: 1 } },
    });
  });
});

describe('the list of brainstorms', () => {
  it('filters by status and pages through all of them, newest first', async () => {
    const idea = unique('listed');
    const made: string[] = [];
    for (let index = 0; index < 3; index += 1)
      made.push((await brainstorms.finish([a, b], { idea, maxIterations: 1 })).brainstormId);
    b.always({ httpStatus: 400 });
    const failed = await brainstorms.finish([a, b], { idea });
    await brainstorms.act(made[0] ?? '', 'approve');
    type Page = {
      brainstorms: { brainstormId: string; status: string; iteration: number; idea: string }[];
      nextPageToken: string;
    };
    const page = async (query: string): Promise<Page> =>
      (await stage.api.call<Page>('GET', `/brainstorms?${query}`)).body;
    const mine = async (status: string): Promise<string[]> => {
      const found: string[] = [];
      for (let token = '', more = true; more;) {
        const it = await page(`status=${status}&pageSize=2&pageToken=${token}`);
        found.push(...it.brainstorms.filter((one) => one.idea === idea).map(({ brainstormId }) => brainstormId));
        [token, more] = [it.nextPageToken, it.nextPageToken !== ''];
      }
      return found;
    };
    expect(await mine('converged')).toEqual([made[2], made[1]]);
    expect(await mine('failed')).toEqual([failed.brainstormId]);
    expect(await mine('approved')).toEqual([made[0]]);
    const first = await page('pageSize=1');
    expect(first.brainstorms[0]).toMatchObject({ brainstormId: made[0], status: 'approved', iteration: 1, idea });
    expect((await stage.api.call('GET', '/brainstorms?status=happy')).status).toBe(400);
  });
});
