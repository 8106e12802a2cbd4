import type { FakeAgent } from '../support/fake-agent.js';
import { holds, when } from '../support/fake-behaviour.js';
import { type Parley, startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { before, until } from '../support/until.js';
import { Api, external, linear, unique } from '../support/workflow.js';

const stage = useStage();
interface Cancel {
  children: { node: string; agentUrl: string; taskId?: string; outcome: string }[];
}

describe('a cancel that did not reach its agent', () => {
  it('is tried again until the agent is back, and the run tells', async () => {
    const { fake, runId } = await running(stage.api);
    await fake.goDown();
    const child = { node: 'x', agentUrl: fake.url, taskId: fake.taskIds()[0] };
    const canceled = await stage.api.call<Cancel>('POST', `/runs/${runId}/cancel`);
    expect(canceled.body).toEqual({ runId, status: 'canceled', children: [{ ...child, outcome: 'unreachable' }] });
    expect((await outcomes(runId)).children).toEqual([{ ...child, outcome: 'unreachable' }]);
    await until(async () => (await counted(stage.parley, 'unreachable')) > 0, { what: 'a try in vain' });
    await fake.comeUp();
    await until(async () => (await outcome(runId)) === 'acknowledged', { what: 'the acknowledgement' });
    expect(fake.cancels).toEqual([child.taskId]);
    // It is kept before it is counted.
    await until(async () => (await counted(stage.parley, 'acknowledged')) > 0, { what: 'it to be counted' });
    expect(await counted(stage.parley, 'acknowledged')).toBe(1);
    const again = await stage.api.call<Cancel>('POST', `/runs/${runId}/cancel`);
    expect(again.body.children).toEqual([{ ...child, outcome: 'acknowledged' }]);
    await until(async () => (await waiting()) === 0, { what: 'no job left' });
    expect(fake.cancels).toHaveLength(1);
  });

  it('is tried again by another replica when the one that canceled has died', async () => {
    const second = await startParley({ databaseUrl: stage.database.url });
    const { fake, runId } = await running(new Api(second.url));
    await fake.goDown();
    const canceled = await new Api(second.url).call<Cancel>('POST', `/runs/${runId}/cancel`);
    expect(canceled.body.children).toMatchObject([{ outcome: 'unreachable' }]);
    await second.kill9();
    await fake.comeUp();
    await until(async () => (await outcome(runId)) === 'acknowledged', { what: 'the acknowledgement' });
    expect(fake.cancels).toEqual(fake.taskIds());
  });

  it('is made by another replica when the one that canceled died before it knew the outcome', async () => {
    const second = await startParley({ databaseUrl: stage.database.url });
    const { fake, runId } = await running(new Api(second.url), 'hang');
    const unanswered = new Api(second.url).call('POST', `/runs/${runId}/cancel`).catch(() => undefined);
    await until(() => fake.cancels.length === 1, { what: 'the first CancelTask' });
    // Whoever takes over may ask as soon as the other has died.
    fake.options.cancel = 'acknowledge';
    await second.kill9();
    await unanswered;
    await before(stage.api.ended(runId));
    await until(async () => (await outcome(runId)) === 'acknowledged', { what: 'the acknowledgement' });
    expect(fake.cancels).toHaveLength(2);
    expect(fake.sends).toHaveLength(1);
  });

  it('is tried again for what a failure stopped', async () => {
    const [bad, gone] = [await stage.fake(), await stage.fake({ streaming: true })];
    gone.always(holds());
    let isGone = false;
    bad.always(when(() => isGone, { rpcError: { code: -32_603, message: 'broken' } }));
    const workflow = {
      name: unique('failed'),
      nodes: [external('bad', bad.url), external('gone', gone.url)],
      edges: [],
    };
    await stage.api.save(workflow);
    const runId = await stage.api.start(workflow.name);
    await until(async () => (await stage.api.run(runId)).nodes.gone?.taskId !== undefined, { what: 'the child' });
    await gone.goDown();
    isGone = true;
    expect((await stage.api.ended(runId)).status).toBe('failed');
    await gone.comeUp();
    await until(() => gone.cancels.length > 0, { what: 'CancelTask' });
    expect(gone.cancels).toEqual(gone.taskIds());
  });
});

/** A run that waits for a fake agent, whose Task is known. */
async function running(
  api: Api,
  cancel: 'acknowledge' | 'hang' = 'acknowledge',
): Promise<{ fake: FakeAgent; runId: string }> {
  const fake = await stage.fake({ streaming: true, cancel });
  fake.always(holds());
  const workflow = await api.save(linear(unique('cancel'), external('x', fake.url)));
  const runId = await api.start(workflow.name);
  await until(async () => (await api.run(runId)).nodes.x?.taskId !== undefined, { what: 'the child to be known' });
  return { fake, runId };
}

async function outcomes(runId: string): Promise<Cancel> {
  return (await stage.api.call<Cancel>('GET', `/runs/${runId}`)).body;
}

async function outcome(runId: string): Promise<string | undefined> {
  return (await outcomes(runId)).children?.[0]?.outcome;
}

async function counted(parley: Parley, outcomeWord: string): Promise<number> {
  const text = await (await fetch(`${parley.url}/metrics`)).text();
  return Number(new RegExp(`parley_cancel_retries_total\\{outcome="${outcomeWord}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}

async function waiting(): Promise<number> {
  const [row] = await stage.database.query<{ n: number }>('SELECT count(*)::int AS n FROM graphile_worker.jobs');
  return row?.n ?? -1;
}
