import { after, answers, ends, holds, when } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { external, linear, output, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();
const broken = { rpcError: { code: -32000, message: 'broken' } };

/** Nodes without edges: all start at once. */
function beside(name: string, nodes: Workflow['nodes'], onFailure?: Workflow['onFailure']): Workflow {
  return { name, nodes, edges: [], ...(onFailure !== undefined && { onFailure }) };
}

describe('rows C7 and C8: failure', () => {
  it('C7 the first error wins: it is named, the later one is not', async () => {
    const [first, second] = await Promise.all([stage.fake(), stage.fake()]);
    const told = (): boolean => first.sends[0]?.doneAt !== undefined;
    first.always(when(() => second.sends.length > 0, { rpcError: { code: -32000, message: 'the earlier' } }));
    second.always(when(told, after(300, { rpcError: { code: -32000, message: 'the later' } })));
    const run = await stage.api.finish(
      beside(unique('c7'), [external('late', second.url), external('early', first.url)]),
    );
    expect(run.error).toMatchObject({ node: 'early', message: expect.stringContaining('node "early": ') });
    expect(run.error?.message).toContain('the earlier');
    expect(run.error?.message).not.toContain('the later');
  });

  it('C8 a failing node aborts the connection of its running sibling', async () => {
    const [bad, slow] = await Promise.all([stage.fake(), stage.fake()]);
    slow.always({ hang: true });
    bad.always(when(() => slow.sends.length > 0, broken));
    const run = await stage.api.finish(beside(unique('c8'), [external('bad', bad.url), external('slow', slow.url)]));
    await until(() => slow.sends.find(({ aborted }) => aborted), {
      what: 'the sibling to be aborted',
    });
    expect(run.status).toBe('failed');
    expect(run.nodes.slow?.status).toBe('canceled');
  });

  it('C8 L9 a running sibling whose Task is known gets CancelTask', async () => {
    const [bad, slow] = await Promise.all([stage.fake(), stage.fake({ streaming: true })]);
    slow.always(holds());
    bad.always(when(() => slow.sends.length > 0, after(300, broken)));
    const run = await stage.api.finish(beside(unique('c8'), [external('bad', bad.url), external('slow', slow.url)]));
    await until(() => slow.calls.find(({ method }) => method === 'CancelTask'), {
      what: 'CancelTask',
    });
    expect(slow.cancels).toEqual(slow.taskIds());
    expect(run.nodes.slow?.status).toBe('canceled');
    expect(run.error?.node).toBe('bad');
  });

  it('C8 what was not started when a node failed is skipped and never called', async () => {
    const [bad, slow, later] = await Promise.all([stage.fake(), stage.fake({ streaming: true }), stage.fake()]);
    slow.always(holds());
    bad.always(broken);
    const workflow: Workflow = {
      name: unique('c8'),
      nodes: [external('bad', bad.url), external('slow', slow.url), external('later', later.url), output('out')],
      edges: [
        { from: 'slow', to: 'later' },
        { from: 'later', to: 'out' },
        { from: 'bad', to: 'out' },
      ],
    };
    const run = await stage.api.finish(workflow);
    slow.release();
    expect(run.nodes).toMatchObject({ later: { status: 'skipped' }, out: { status: 'skipped' } });
    expect(later.calls).toHaveLength(0);
    expect((await stage.api.run(run.runId)).status).toBe('failed');
  });

  it('C8 a remote that does not answer CancelTask does not keep the run from failing', async () => {
    const [bad, deaf] = await Promise.all([stage.fake(), stage.fake({ streaming: true, cancel: 'hang' })]);
    deaf.always(holds());
    bad.always(() => ({ delay: 200, then: broken }));
    const run = await stage.api.finish(beside(unique('c8'), [external('bad', bad.url), external('deaf', deaf.url)]));
    expect(run.status).toBe('failed');
    expect(run.error?.node).toBe('bad');
  });
});

describe('row K8: an answer that is not completed is not success', () => {
  it.each(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_CANCELED'] as const)(
    'K8 E4 a remote Task that ends %s is a node error',
    async (state) => {
      for (const streaming of [false, true]) {
        const [fake, next] = await Promise.all([stage.fake({ streaming }), stage.fake()]);
        fake.always(ends(state, 'because'));
        const run = await stage.api.finish(linear(unique('k8'), external('x', fake.url), external('y', next.url)));
        expect(run.status).toBe('failed');
        expect(run.error?.message).toContain('node "x": ');
        expect(run.nodes).toMatchObject({ x: { status: 'failed' }, y: { status: 'skipped' } });
        expect(next.sends).toHaveLength(0);
      }
    },
  );

  it.each(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const)(
    'K8 a remote Task in %s makes the run wait',
    async (state) => {
      const fake = await stage.fake();
      fake.always(ends(state, 'what colour?'));
      const workflow = await stage.api.save(linear(unique('k8'), external('x', fake.url)));
      const run = await stage.api.reached(await stage.api.start(workflow.name), [
        'input-required',
        'failed',
        'completed',
      ]);
      expect(run.status).toBe('input-required');
      expect(run.nodes.x?.status).toBe('input-required');
    },
  );
});

describe('rows K9 and K13', () => {
  it('K9 a run that its user cancels is canceled, neither completed nor failed, and so are its nodes', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const workflow = await stage.api.save(linear(unique('k9'), external('x', fake.url), external('y', fake.url)));
    const runId = await stage.api.start(workflow.name);
    await fake.sent();
    const reply = await stage.api.call('POST', `/runs/${runId}/cancel`);
    const run = await stage.api.ended(runId);
    expect(reply.status).toBe(200);
    expect(run.status).toBe('canceled');
    expect(run.nodes).toMatchObject({ x: { status: 'canceled' } });
    expect(['skipped', 'canceled']).toContain(run.nodes.y?.status);
    expect(run.error).toBeUndefined();
  });

  it('K13 with onFailure "continue" only what descends from the failed node is skipped', async () => {
    const [bad, good, never] = await Promise.all([stage.fake(), stage.fake(), stage.fake()]);
    bad.always(broken);
    good.always({ delay: 400, then: answers('fine') });
    const workflow: Workflow = {
      ...linear(unique('k13'), external('bad', bad.url), external('child', never.url)),
      onFailure: 'continue',
    };
    workflow.nodes.push(external('other', good.url), external('next', good.url));
    workflow.edges.push({ from: 'other', to: 'next' });
    const run = await stage.api.finish(workflow);
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ node: 'bad' });
    expect(run.nodes).toMatchObject({
      bad: { status: 'failed' },
      child: { status: 'skipped' },
      other: { status: 'completed' },
      next: { status: 'completed' },
    });
    expect(never.calls).toHaveLength(0);
    expect(good.sends).toHaveLength(2);
  });

  it('K13 with onFailure "continue" and two failures the first one is named', async () => {
    const [bad, worse] = await Promise.all([stage.fake(), stage.fake()]);
    bad.always(broken);
    let isKnown = false;
    worse.always(when(() => isKnown, { rpcError: { code: -32000, message: 'worse' } }));
    const nodes = [external('worse', worse.url), external('bad', bad.url)];
    const { name } = await stage.api.save(beside(unique('k13'), nodes, 'continue'));
    const runId = await stage.api.start(name);
    const isFailed = async () => (await stage.api.run(runId)).nodes['bad']?.status === 'failed';
    await until(isFailed, { what: 'the first failure to be known' });
    isKnown = true;
    const run = await stage.api.ended(runId);
    expect(run.error?.node).toBe('bad');
    expect(run.nodes).toMatchObject({ bad: { status: 'failed' }, worse: { status: 'failed' } });
  });
});
