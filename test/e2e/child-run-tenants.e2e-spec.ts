import { useTenants } from '../support/tenant-stage.js';
import { type Api, input, linear, output, type Run, textOf, unique, type Workflow } from '../support/workflow.js';

describe.each(['local', 'http'])('child runs of tenants, NODE_DISPATCH=%s', (dispatch) => {
  const tenants = useTenants({ NODE_DISPATCH: dispatch });
  const name = unique('children');
  const runsChild = { id: 'c', type: 'workflow', config: { workflow: `${name}_child` } };
  let ann: Api;
  let bob: Api;
  let other: Api;

  beforeAll(async () => {
    ann = await tenants.caller('ann', 'acme');
    bob = await tenants.caller('bob', 'acme');
    other = await tenants.caller('ann', 'other');
    for (const [api, says] of [
      [ann, 'of acme'],
      [other, 'of other'],
    ] as const) {
      await api.save(linear(`${name}_child`, input('in'), output('out', { prompt: says })));
      await api.save(linear(name, input('in'), runsChild, output('out')));
    }
  });

  const finished = async (api: Api): Promise<Run> => api.ended(await api.start(name, { in: 'x' }));
  const statusOf = async (api: Api, path: string): Promise<number> => (await api.call('GET', path)).status;
  const listed = async (api: Api, parent: string): Promise<unknown> => {
    const reply = await api.call<{ runs: Run[] }>('GET', `/runs?parent=${parent}`);
    return reply.body.runs.map(({ runId }) => runId);
  };

  it('are of the workflows of the tenant', async () => {
    expect(textOf((await finished(ann)).result)).toBe('of acme');
    expect(textOf((await finished(other)).result)).toBe('of other');
    const only: Workflow = linear(`${name}_only`, { ...runsChild, config: { workflow: `${name}_mine` } });
    await ann.save(linear(`${name}_mine`, input('in')));
    expect((await ann.call('POST', '/workflows', only)).status).toBe(201);
    expect((await other.call('POST', '/workflows', only)).text).toContain('UNKNOWN_WORKFLOW');
  });

  it('are seen by whoever owns the run that they belong to, and by nobody else', async () => {
    const run = await finished(ann);
    const child = run.nodes['c']?.taskId ?? '';
    expect(await listed(ann, run.runId)).toEqual([child]);
    expect(await ann.run(child)).toMatchObject({ status: 'completed', workflow: `${name}_child` });
    for (const stranger of [bob, other]) {
      expect(await listed(stranger, run.runId)).toEqual([]);
      for (const path of ['', '/events', '/workflow', '/nodes/in'])
        expect([path, await statusOf(stranger, `/runs/${child}${path}`)]).toEqual([path, 404]);
      expect((await stranger.call('POST', `/runs/${child}/cancel`)).status).toBe(404);
    }
  });
});
