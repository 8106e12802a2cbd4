import { AGREED, BrainstormApi, payloadOf, STEP, transforms } from '../support/brainstorm.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { ends } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';

const stage = useSharedStage();
let brainstorms: BrainstormApi;

beforeAll(() => {
  brainstorms = new BrainstormApi(stage.api);
});

async function agents(count: number): Promise<FakeAgent[]> {
  const all = await Promise.all(Array.from({ length: count }, () => stage.fake()));
  for (const agent of all) agent.always(transforms());
  return all;
}

describe('rows J: passes', () => {
  it.each([
    [2, ['build', 'review']],
    [3, ['build', 'review', 'refine']],
    [4, ['build', 'review', 'refine', 'devils_advocate']],
    [6, ['build', 'review', 'refine', 'devils_advocate', 'review', 'review']],
  ])('J11 %i agents have the roles %j, fixed from the beginning', async (count, roles) => {
    const all = await agents(count);
    const ended = await brainstorms.finish(all, { maxIterations: 2 });
    expect(ended.agents.map(({ role }) => role)).toEqual(roles);
    expect(ended.state.meta.agents.map(({ role }) => role)).toEqual(roles);
    for (const [index, agent] of all.entries()) {
      expect(agent.sends.map((call) => payloadOf(call).role)).toEqual([roles[index], roles[index]]);
    }
  });

  it('J11 a role that is asked for counts', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    const ended = await brainstorms.finish([{ agent: a.url, role: 'refine' }, { agent: b.url }], { maxIterations: 1 });
    expect(ended.agents.map(({ role }) => role)).toEqual(['refine', 'review']);
  });

  it('J9 J10 J12 one after the other, each gets what the one before made; meta is ours alone', async () => {
    const all = await agents(3);
    for (const [index, agent] of all.entries()) {
      agent.always(
        transforms((state) => ({
          ...AGREED,
          assumptions: [...state.assumptions, `of ${index}`],
          meta: { iteration: 99, agents: [] },
        })),
      );
    }
    const ended = await brainstorms.finish(all, { maxIterations: 1 });
    expect(all.map(({ sends }) => payloadOf(sends[0]).state.assumptions)).toEqual([[], ['of 0'], ['of 0', 'of 1']]);
    for (const { sends } of all) {
      expect(payloadOf(sends[0]).state.meta).toMatchObject({ iteration: 1, agents: [{}, {}, {}] });
    }
    const [first, second, third] = all.map(({ sends }) => sends[0]);
    expect(first?.doneAt).toBeLessThanOrEqual(second?.at ?? 0);
    expect(second?.doneAt).toBeLessThanOrEqual(third?.at ?? 0);
    expect(ended.state.assumptions).toEqual(['of 0', 'of 1', 'of 2']);
    expect(ended.state.meta.agents[0]).toEqual({
      agent_id: all[0]?.url,
      name: new URL(all[0]?.url ?? '').host,
      role: 'build',
      provider: 'parley',
      model: 'echo',
      skills: [],
    });
  });

  it('J13 L12 the pass is merged, and each part names agent, role and iteration', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    const risk = (text: string, resolved = false) => ({ text, severity: 'high' as const, resolved });
    a.always(transforms({ ...AGREED, risks: [risk('Fire'), risk('Flood')], architecture: 'Boxes' }));
    b.always(transforms({ ...AGREED, risks: [risk(' fire ', true), risk('Theft')], architecture: 'Boxes' }));
    const ended = await brainstorms.finish([a, b], { maxIterations: 2 });
    expect(ended.state.risks).toEqual([risk('Flood'), risk('Theft')]);
    const of = (agent: FakeAgent, role: string) => ({ agent: agent.url, role, iteration: 1 });
    expect(ended.provenance).toEqual({
      architecture: of(a, 'build'),
      'execution_plan[0]': of(a, 'build'),
      'risks[0]': of(a, 'build'),
      'risks[1]': of(b, 'review'),
      'metrics.confidence': of(a, 'build'),
    });
  });

  it('J14 it converges when nothing critical is new, a plan is there and confidence rests', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    b.always(
      transforms((_, index) => ({
        execution_plan: [STEP],
        metrics: { confidence: [0.5, 0.8, 0.81, 0.82][index] ?? 1 },
        risks: index === 2 ? [{ text: 'Fire', severity: 'critical', resolved: false }] : [],
      })),
    );
    a.always(transforms({}));
    const ended = await brainstorms.finish([a, b]);
    expect(ended).toMatchObject({ status: 'converged', iteration: 4 });
    expect(ended.convergence).toMatch(
      /^Converged in iteration 4: .* a plan of 1 step, and confidence moved by 0\.01 to 0\.82\.$/,
    );
    expect(ended.passes.map(({ confidence }) => confidence)).toEqual([0.5, 0.8, 0.81, 0.82]);
  });

  it('J14 the most iterations end it, ten where nothing else is said', async () => {
    const [a, b] = (await agents(2)) as [FakeAgent, FakeAgent];
    a.always(transforms({}));
    b.always(transforms({}));
    const ended = await brainstorms.finish([a, b]);
    expect(ended).toMatchObject({ status: 'converged', iteration: 10 });
    expect(ended.convergence).toMatch(/^Stopped after 10 iterations, the most allowed: the plan has no complete step/);
  });

  it('J16 L12 an error ends the pass; going on asks the agent that failed, and none before it', async () => {
    const [a, b, c] = (await agents(3)) as [FakeAgent, FakeAgent, FakeAgent];
    b.next(ends('TASK_STATE_FAILED', 'out of order'));
    const id = await brainstorms.start([a, b, c], { maxIterations: 1 });
    const failed = await brainstorms.rested(id);
    expect(failed).toMatchObject({
      status: 'failed',
      iteration: 0,
      error: { agent: b.url, message: 'the agent failed: out of order' },
    });
    expect((await brainstorms.act(id, 'iterate')).status).toBe(202);
    const ended = await brainstorms.reached(id, ({ status }) => status === 'converged');
    expect([a, b, c].map(({ sends }) => sends.length)).toEqual([1, 2, 1]);
    expect(ended.passes).toEqual([
      {
        iteration: 1,
        confidence: 0.9,
        agents: [a, b, c].map(({ url }, index) => ({
          agent: url,
          role: ['build', 'review', 'refine'][index],
          status: 'completed',
        })),
      },
    ]);
    const ids = b.sends.map(({ message }) => message?.messageId);
    expect(new Set(ids).size).toBe(2);
  });

  it('J16 going on with what has converged is one pass more', async () => {
    const all = await agents(2);
    const id = await brainstorms.start(all);
    expect((await brainstorms.rested(id)).iteration).toBe(2);
    await brainstorms.act(id, 'iterate');
    const again = await brainstorms.reached(id, ({ iteration, status }) => iteration === 3 && status === 'converged');
    expect(again.passes.map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
  });
});
