import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { type Api, input, linear, type Run, unique, type Workflow } from '../support/workflow.js';

interface Slot {
  limit: number;
  key?: string;
  place: number;
  since: string;
}

type WaitingRun = Run & { waitsFor?: { slot?: Slot } };

const stage = useSharedStage();

/** Creates a workflow whose runs ask a question, so that they are under way until they are answered. */
function asking(concurrency: object): Workflow & { concurrency: object } {
  const gate = { id: 'gate', type: 'human', config: { prompt: 'Go on?' } };
  return { ...linear(unique('limited'), input('for'), gate), concurrency };
}

/** Starts a run, and returns it once it asks its question. */
async function begun(api: Api, workflow: string, about = 'x'): Promise<string> {
  const runId = await api.start(workflow, { for: about });
  await api.reached(runId, ['input-required']);
  return runId;
}

/** Starts a run, and returns it once it waits for a slot at a place. */
async function waiting(workflow: string, place: number, about = 'x'): Promise<string> {
  const runId = await stage.api.start(workflow, { for: about });
  await atPlace(runId, place);
  return runId;
}

async function slotOf(runId: string): Promise<Slot | undefined> {
  return ((await stage.api.run(runId)) as WaitingRun).waitsFor?.slot;
}

async function atPlace(runId: string, place: number): Promise<Slot> {
  let last: Slot | undefined;
  const what = (): string => `run ${runId} to wait at place ${place}; it waits for ${JSON.stringify(last)}`;
  return until(async () => ((last = await slotOf(runId))?.place === place ? last : false), { what });
}

async function answer(runId: string): Promise<void> {
  const reply = await stage.api.call('POST', `/runs/${runId}/answers`, { node: 'gate', parts: [{ text: 'yes' }] });
  expect([reply.status, reply.text]).toEqual([202, expect.anything()]);
}

describe('A workflow with concurrency', () => {
  it('begins further runs in order, as earlier ones end', async () => {
    const { name } = await stage.api.save(asking({ limit: 1 }));
    const first = await begun(stage.api, name);
    const second = await waiting(name, 1);
    const third = await waiting(name, 2);
    expect(await slotOf(second)).toEqual({ limit: 1, place: 1, since: expect.stringMatching(/^\d{4}-.*Z$/) });
    const listed = await stage.api.call<{ runs: WaitingRun[] }>('GET', `/runs?workflow=${name}`);
    const places = listed.body.runs.map(({ runId, waitsFor }) => [runId, waitsFor?.slot?.place]);
    expect(new Map(places as [string, number][])).toEqual(
      new Map<string, number | undefined>([
        [first, undefined],
        [second, 1],
        [third, 2],
      ]),
    );
    await answer(first);
    await stage.api.reached(second, ['input-required']);
    await atPlace(third, 1);
    await answer(second);
    await stage.api.reached(third, ['input-required']);
    await answer(third);
    for (const runId of [first, second, third]) expect((await stage.api.ended(runId)).status).toBe('completed');
  });

  it('passes the slot of a canceled run on, and forgets a canceled run that waits', async () => {
    const { name } = await stage.api.save(asking({ limit: 1 }));
    const first = await begun(stage.api, name);
    const [second, third] = [await waiting(name, 1), await waiting(name, 2)];
    expect((await stage.api.call('POST', `/runs/${second}/cancel`)).status).toBe(200);
    await atPlace(third, 1);
    expect((await stage.api.call('POST', `/runs/${first}/cancel`)).status).toBe(200);
    await stage.api.reached(third, ['input-required']);
    expect((await stage.api.run(second)).status).toBe('canceled');
    await stage.api.call('POST', `/runs/${third}/cancel`);
  });

  it('has a limit for each value of its key', async () => {
    const { name } = await stage.api.save(asking({ limit: 1, key: 'inputs["for"]' }));
    const acme = await begun(stage.api, name, 'acme');
    const other = await begun(stage.api, name, 'other');
    const second = await waiting(name, 1, 'acme');
    expect(await slotOf(second)).toMatchObject({ limit: 1, key: 'acme', place: 1 });
    await answer(acme);
    await stage.api.reached(second, ['input-required']);
    for (const runId of [other, second]) await answer(runId);
  });

  it('has the limit of its newest revision once a run of it begins', async () => {
    const workflow = await stage.api.save(asking({ limit: 1 }));
    const first = await begun(stage.api, workflow.name);
    const second = await waiting(workflow.name, 1);
    const changed = { ...workflow, concurrency: { limit: 3 } };
    expect((await stage.api.call('PUT', `/workflows/${workflow.name}`, changed)).status).toBe(200);
    const third = await begun(stage.api, workflow.name);
    await stage.api.reached(second, ['input-required']);
    for (const runId of [first, second, third]) await answer(runId);
  });

  it('cancels a further run with a reason, if onFull is skip', async () => {
    const { name } = await stage.api.save(asking({ limit: 1, onFull: 'skip' }));
    const first = await begun(stage.api, name);
    const skipped = await stage.api.ended(await stage.api.start(name, { for: 'x' }));
    expect([skipped.status, skipped.nodes['gate']?.status]).toEqual(['canceled', 'skipped']);
    const task = await stage.api.call('GET', `/runs/${skipped.runId}/events?live=false`);
    expect(task.text).toContain('Skipped: 1 run of this workflow is under way (concurrency).');
    await answer(first);
    await stage.api.ended(first);
    await answer(await begun(stage.api, name));
  });

  it('cancels the oldest run for a further one, if onFull is cancel-oldest', async () => {
    const { name } = await stage.api.save(asking({ limit: 2, onFull: 'cancel-oldest' }));
    const [first, second] = [await begun(stage.api, name), await begun(stage.api, name)];
    const third = await begun(stage.api, name);
    expect((await stage.api.ended(first)).status).toBe('canceled');
    expect((await stage.api.run(second)).status).toBe('input-required');
    for (const runId of [second, third]) await answer(runId);
  });

  it('fails a run whose deadline passes while it waits', async () => {
    const first = asking({ limit: 1 });
    const { name } = await stage.api.save({ ...first, deadline: '2s' } as typeof first);
    const runIds = [await stage.api.start(name, { for: 'x' }), await stage.api.start(name, { for: 'x' })];
    const runs = await Promise.all(runIds.map((runId) => stage.api.ended(runId)));
    for (const { error } of runs) expect(error?.message).toBe('the run did not finish within 2s');
  });

  it('fails a run whose key cannot be evaluated, and names the member', async () => {
    const { name } = await stage.api.save(asking({ limit: 1, key: 'inputs["for"].customer' }));
    const run = await stage.api.ended(await stage.api.start(name, { for: 'x' }));
    expect(run).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('concurrency.key') } });
  });

  it('is refused with a field for each fault', async () => {
    const reply = await stage.api.call('POST', '/workflows', asking({ limit: 0, key: 'nodes.gate.text' }));
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('concurrency.limit');
    expect(reply.text).toContain('concurrency.key');
  });
});
