import type { JsonObject } from '#libs/protocol';
import { ANN, EVE, KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';
import { Api, external, input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage(KNOWS_CALLERS);
let ann: Api;
let eve: Api;

beforeAll(() => {
  ann = new Api(stage.parley.url, ANN.headers);
  eve = new Api(stage.parley.url, EVE.headers);
});

const says = (name: string, prompt: string): Workflow => linear(name, input('in'), output('out', { prompt }));

async function replace(api: Api, workflow: Workflow): Promise<void> {
  const { status, text } = await api.call('PUT', `/workflows/${workflow.name}`, workflow);
  if (status !== 200) throw new Error(`Replacing failed: ${status} ${text}`);
}

async function revisionsOf(name: string): Promise<JsonObject[]> {
  return (await ann.call<{ revisions: JsonObject[] }>('GET', `/workflows/${name}/revisions`)).body.revisions;
}

describe('the history of a workflow', () => {
  it('names who saved each revision, with every way to save', async () => {
    const name = unique('authors');
    await ann.save(says(name, '1'));
    await replace(eve, says(name, '2'));
    await eve.call('POST', '/apply', { workflows: [{ definition: says(name, '3') }] });
    await ann.call('POST', `/workflows/${name}/revisions/1/restore`);
    const found = await revisionsOf(name);
    expect(found.map(({ revision, author, restoredFrom }) => [revision, author, restoredFrom])).toEqual([
      ['4', ANN.name, '1'],
      ['3', EVE.name, undefined],
      ['2', EVE.name, undefined],
      ['1', ANN.name, undefined],
    ]);
  });

  it('restores a revision as the next one, equal to the old one, under the condition of the request', async () => {
    const name = unique('restored');
    await ann.save(says(name, 'first'));
    await replace(ann, linear(name, output('other')));
    const path = `/workflows/${name}/revisions/1`;
    const stale = await ann.call('POST', `${path}/restore`, undefined, { 'if-match': '"1"' });
    expect([stale.status, (await ann.call('GET', `/workflows/${name}`)).body['revision']]).toEqual([412, '2']);
    const restored = await ann.call('POST', `${path}/restore`, undefined, { 'if-match': '"2"' });
    expect([restored.status, restored.headers.get('etag'), restored.body['revision']]).toEqual([200, '"3"', '3']);
    const [first, third] = [(await ann.call('GET', path)).body, (await ann.call('GET', `/workflows/${name}`)).body];
    expect({ ...third, revision: '1', updatedAt: first['updatedAt'] }).toEqual(first);
    const { body } = await ann.call('GET', `/workflows/${name}/revisions/3/diff?with=1`);
    expect(body).toEqual({ before: '1', after: '3', fields: [], nodes: [], edges: [], truncated: false });
    for (const [revision, status] of [
      ['3', 409],
      ['9', 404],
      ['x', 404],
    ] as const)
      expect((await ann.call('POST', `/workflows/${name}/revisions/${revision}/restore`)).status).toBe(status);
    expect((await revisionsOf(name)).length).toBe(3);
  });

  it('compares a revision with the one before, or with any other', async () => {
    const name = unique('compared');
    await ann.save(says(name, 'first'));
    await replace(ann, { ...linear(name, input('in'), script('new'), output('out', { prompt: 'second' })) });
    const changes = {
      nodes: [
        { id: 'new', type: 'script', change: 'added', fields: [] },
        {
          id: 'out',
          type: 'output',
          change: 'changed',
          fields: [{ path: 'config.prompt', before: 'first', after: 'second' }],
        },
      ],
      edges: [
        { from: 'in', to: 'new', change: 'added', index: 0, fields: [] },
        { from: 'new', to: 'out', change: 'added', index: 1, fields: [] },
        { from: 'in', to: 'out', change: 'removed', index: 0, fields: [] },
      ],
    };
    expect((await ann.call('GET', `/workflows/${name}/revisions/2/diff`)).body).toMatchObject(changes);
    const back = (await ann.call('GET', `/workflows/${name}/revisions/1/diff?with=2`)).body;
    expect(back).toMatchObject({ before: '2', after: '1', nodes: [{ id: 'out' }, { id: 'new', change: 'removed' }] });
    expect((await ann.call('GET', `/workflows/${name}/revisions/1/diff`)).status).toBe(409);
    const wrong = await ann.call('GET', `/workflows/${name}/revisions/2/diff?with=x`);
    expect([wrong.status, wrong.body['errors']]).toEqual([400, [{ path: 'with', detail: 'is not a revision' }]]);
  });

  it('keeps apart the histories of a workflow that was deleted and created again', async () => {
    const name = unique('again');
    await ann.save(says(name, 'first'));
    await replace(ann, says(name, 'second'));
    await ann.call('DELETE', `/workflows/${name}`);
    await eve.save(says(name, 'third'));
    await replace(eve, says(name, 'fourth'));
    const created = (await revisionsOf(name)).map(({ createdAt }) => createdAt);
    expect(created).toEqual([created[0], created[0], created[2], created[2]]);
    expect(created[0]).not.toBe(created[2]);
    expect((await ann.call('GET', `/workflows/${name}/revisions/4/diff`)).body).toMatchObject({ before: '3' });
    expect((await ann.call('GET', `/workflows/${name}/revisions/3/diff`)).status).toBe(409);
    expect((await ann.call('GET', `/workflows/${name}/revisions/3/diff?with=2`)).status).toBe(200);
    expect((await ann.call('POST', `/workflows/${name}/revisions/1/restore`)).body['revision']).toBe('5');
    expect((await revisionsOf(name))[0]).toMatchObject({ createdAt: created[0], restoredFrom: '1' });
  });
});

describe('the revision of a run', () => {
  it('is in the run and in the list of runs, also after ten later saves', async () => {
    const name = unique('later');
    const { runId } = await ann.finish(says(name, 'first'), { in: 'x' });
    for (let save = 2; save <= 11; save += 1) await replace(ann, says(name, String(save)));
    const newest = await ann.ended(await ann.start(name, { in: 'x' }));
    expect([(await ann.run(runId)).revision, newest.revision]).toEqual(['1', '11']);
    const { body } = await ann.call<{ runs: JsonObject[] }>('GET', `/runs?workflow=${name}`);
    expect(body.runs.map(({ revision }) => revision)).toEqual(['11', '1']);
  });

  it('tells since when the workflow fails: the caller sees own runs only, and a completed run ends it', async () => {
    const name = unique('failing');
    const good = says(name, 'fine');
    const bad = linear(name, input('in'), external('out', 'http://127.0.0.1:1', { timeout: 1 }));
    const failures = async (api = ann): Promise<JsonObject> =>
      (await api.call('GET', `/workflows/${name}/failures`)).body;
    const { runId: completed } = await ann.finish(good, { in: 'x' });
    expect(await failures()).toMatchObject({ failures: 0, completed: { revision: '1' }, more: false });
    await replace(ann, bad);
    const first = await ann.ended(await ann.start(name, { in: 'x' }));
    await replace(ann, { ...bad, description: 'again' });
    await ann.ended(await ann.start(name, { in: 'x' }));
    expect(await failures()).toMatchObject({
      failures: 2,
      first: { runId: first.runId, revision: '2', endedAt: expect.any(String) },
      completed: { runId: completed, revision: '1' },
    });
    expect(await failures(eve)).toEqual({ failures: 0, more: false });
    await ann.call('POST', `/workflows/${name}/revisions/1/restore`);
    await ann.ended(await ann.start(name, { in: 'x' }));
    expect(await failures()).toMatchObject({ failures: 0, completed: { revision: '4' } });
    await ann.call('DELETE', `/workflows/${name}`);
    await ann.save(good);
    expect(await failures()).toEqual({ failures: 0, more: false });
    expect((await ann.call('GET', `/workflows/${unique('no')}/failures`)).status).toBe(404);
  });
});

describe('two runs side by side', () => {
  it('a rerun names its origin and what differs', async () => {
    const name = unique('rerun');
    const origin = await ann.finish(says(name, 'first {{in}}'), { in: 'tea' });
    await replace(ann, says(name, 'second {{in}}'));
    const changed = { inputs: { in: 'coffee' }, revision: '2' };
    const { body } = await ann.call<{ runId: string }>('POST', `/runs/${origin.runId}/rerun`, changed);
    await ann.ended(body.runId);
    const { body: diff } = await ann.call('GET', `/runs/${body.runId}/diff`);
    expect(diff).toMatchObject({
      before: { runId: origin.runId, revision: '1', status: 'completed', durationMs: expect.any(Number) },
      after: { runId: body.runId, revision: '2', origin: origin.runId },
      differs: ['revision', 'inputs', 'nodes', 'result'],
      inputs: [{ path: 'in', before: 'tea', after: 'coffee' }],
      nodes: [
        { id: 'in', differs: ['output'] },
        { id: 'out', differs: ['output'], before: { output: 'first tea' }, after: { output: 'second coffee' } },
      ],
    });
    const back = await ann.call('GET', `/runs/${origin.runId}/diff?with=${body.runId}`);
    expect(back.body).toMatchObject({ before: { runId: body.runId }, after: { runId: origin.runId } });
  });

  it('refuses a run that is no rerun without another one, and runs of other callers', async () => {
    const { runId } = await ann.finish(says(unique('alone'), 'x'), { in: 'x' });
    const { runId: eves } = await eve.finish(says(unique('alone'), 'x'), { in: 'x' });
    const alone = await ann.call('GET', `/runs/${runId}/diff`);
    expect([alone.status, alone.body['errors']]).toEqual([
      400,
      [{ path: 'with', detail: 'is needed, because the run is not a rerun' }],
    ]);
    for (const path of [`${runId}/diff?with=${eves}`, `${eves}/diff?with=${runId}`, `${runId}/diff?with=nope`])
      expect((await ann.call('GET', `/runs/${path}`)).status).toBe(404);
  });
});
