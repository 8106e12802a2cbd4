import { answers, answersParts, holds, when } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { rewriteStored } from '../support/stored-definition.js';
import { until } from '../support/until.js';
import { diamond, external, input, linear, output, textOf, unique } from '../support/workflow.js';

const stage = useSharedStage();

describe('row C4: the seven acceptance tests of the founding document', () => {
  it('C4 linear chain: each node gets what its parent answered', async () => {
    const fake = await stage.fake();
    fake.always((call) => answers(`<${call.text}>`));
    const run = await stage.api.finish(
      linear(unique('chain'), input('in'), external('a', fake.url), external('b', fake.url), external('c', fake.url)),
      { in: 'hello' },
    );
    expect(run).toMatchObject({ status: 'completed' });
    expect(fake.texts).toEqual(['hello', '<hello>', '<<hello>>']);
    expect(run.state).toMatchObject({ a: '<hello>', b: '<<hello>>', c: '<<<hello>>>' });
    expect(Object.values(run.nodes).map(({ status }) => status)).toEqual(Array(4).fill('completed'));
  });

  it('C4 C2 C3 fan-out and fan-in: the branches overlap, the join waits for all of them', async () => {
    const fake = await stage.fake();
    const slow = (): number => fake.sends.filter(({ text }) => text?.startsWith('slow')).length;
    fake.always(({ text }) => when(() => !text?.startsWith('slow') || slow() === 2, answers(`did ${text}`)));
    const run = await stage.api.finish(
      diamond(
        unique('fan'),
        external('a', fake.url, { prompt: 'quick' }),
        [external('b', fake.url, { prompt: 'slow b' }), external('c', fake.url, { prompt: 'slow c' })],
        external('d', fake.url, { prompt: 'join {{b}} and {{c}}' }),
      ),
    );
    const [a, b, c, d] = ['quick', 'slow b', 'slow c', 'join did slow b and did slow c'].map((text) =>
      fake.sends.find((call) => call.text === text),
    );
    expect(run.status).toBe('completed');
    expect(fake.sends).toHaveLength(4);
    expect(Math.max(b?.at ?? 0, c?.at ?? 0)).toBeLessThan(Math.min(b?.doneAt ?? 0, c?.doneAt ?? 0));
    expect(Math.min(b?.at ?? 0, c?.at ?? 0)).toBeGreaterThanOrEqual(a?.doneAt ?? Infinity);
    expect(d?.at).toBeGreaterThanOrEqual(Math.max(b?.doneAt ?? Infinity, c?.doneAt ?? Infinity));
  });

  it('C4 C6 missing URL: the run fails with `no URL for node "x"` and nothing else is done', async () => {
    const fake = await stage.fake();
    const workflow = linear(unique('nourl'), external('x', fake.url), external('after', fake.url));
    await stage.api.save(workflow);
    await rewriteStored(stage.database, workflow.name, (definition) => {
      for (const node of definition.nodes) if (node.id === 'x') node.config = {};
    });
    const run = await stage.api.ended(await stage.api.start(workflow.name));
    expect(run.status).toBe('failed');
    expect(run.error?.message).toBe('no URL for node "x"');
    expect(fake.sends).toHaveLength(0);
    expect(['skipped', 'canceled']).toContain(run.nodes.after?.status);
  });

  it('C4 C12 typed artifacts: every Part of every Artifact is kept under the node, and the first text is its state', async () => {
    const fake = await stage.fake();
    const parts = [
      { data: { key: 'val', list: [1, 2] }, mediaType: 'application/json' },
      { text: 'words', mediaType: 'text/plain' },
      { raw: Buffer.from('bytes').toString('base64'), mediaType: 'application/octet-stream', filename: 'a.bin' },
    ];
    fake.always({
      steps: [
        {
          artifact: { artifactId: 'one', name: 'first', description: 'the first', parts, metadata: { source: 'fake' } },
        },
        { artifact: { artifactId: 'two', parts: [{ text: 'second' }] } },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    });
    const run = await stage.api.finish(linear(unique('typed'), external('b', fake.url)));
    expect(run.status).toBe('completed');
    expect(run.artifacts.b?.[0]).toMatchObject({
      name: 'first',
      description: 'the first',
      parts,
      metadata: { source: 'fake' },
    });
    expect(run.artifacts.b?.[1]?.parts).toEqual([{ text: 'second' }]);
    expect(run.nodes.b?.artifacts).toEqual(run.artifacts.b);
    expect(run.state.b).toBe('words');
  });

  it('C4 C8 an error cancels what comes after it: a → b → c, b fails, c is never called', async () => {
    const [good, bad, last] = await Promise.all([stage.fake(), stage.fake(), stage.fake()]);
    bad.always({ rpcError: { code: -32000, message: 'broken' } });
    const run = await stage.api.finish(
      linear(unique('down'), external('a', good.url), external('b', bad.url), external('c', last.url)),
    );
    expect(run.status).toBe('failed');
    expect(run.error?.message).toContain('node "b": ');
    expect(last.calls.filter(({ httpMethod }) => httpMethod === 'POST')).toHaveLength(0);
    expect(run.nodes).toMatchObject({ a: { status: 'completed' }, b: { status: 'failed' }, c: { status: 'skipped' } });
  });

  it('C4 D7 template resolution: the agent gets exactly `Summarize: hello world`', async () => {
    const fake = await stage.fake();
    fake.always(answers('summary output'));
    const run = await stage.api.finish(
      linear(unique('template'), input('input1'), external('agent1', fake.url, { prompt: 'Summarize: {{input1}}' })),
      { input1: 'hello world' },
    );
    expect(run.status).toBe('completed');
    expect(fake.texts).toEqual(['Summarize: hello world']);
  });

  it('C4 E7 external node: input → external → output ends with the remote text as the result', async () => {
    const fake = await stage.fake();
    fake.always(answersParts({ text: 'bonjour le monde' }));
    const run = await stage.api.finish(
      linear(unique('mixed'), input('in'), external('translate', fake.url), output('out')),
      {
        in: 'hello world',
      },
    );
    expect(run.status).toBe('completed');
    expect(fake.texts).toEqual(['hello world']);
    expect(textOf(run.artifacts.translate)).toBe('bonjour le monde');
    expect(textOf(run.result)).toBe('bonjour le monde');
    expect(run.result?.[0]?.name).toBe('out');
  });
});

describe('rows C1 to C3 beside the acceptance tests', () => {
  it('C1 every node of an all-external workflow is called once', async () => {
    const fakes = await Promise.all([
      stage.fake(),
      stage.fake({ streaming: true }),
      stage.fake(),
      stage.fake({ streaming: true }),
    ]);
    const [a, b, c, d] = fakes.map((fake, index) => external(`n${index}`, fake.url));
    if (!a || !b || !c || !d) throw new Error('four fakes');
    const run = await stage.api.finish(diamond(unique('all'), a, [b, c], d));
    expect(run.status).toBe('completed');
    expect(fakes.map(({ sends }) => sends.length)).toEqual([1, 1, 1, 1]);
    expect(fakes.map(({ sends }) => sends[0]?.method)).toEqual([
      'SendMessage',
      'SendStreamingMessage',
      'SendMessage',
      'SendStreamingMessage',
    ]);
  });

  it('C2 a join does not start while one of its parents still works', async () => {
    const [fast, slow, join] = await Promise.all([stage.fake(), stage.fake({ streaming: true }), stage.fake()]);
    slow.always(holds('slow is done'));
    const workflow = {
      name: unique('join'),
      nodes: [external('fast', fast.url), external('slow', slow.url), external('join', join.url)],
      edges: [
        { from: 'fast', to: 'join' },
        { from: 'slow', to: 'join' },
      ],
    };
    await stage.api.save(workflow);
    const runId = await stage.api.start(workflow.name);
    await slow.sent();
    await until(async () => (await stage.api.run(runId)).nodes.fast?.status === 'completed');
    expect(join.sends).toHaveLength(0);
    expect((await stage.api.run(runId)).nodes).toMatchObject({
      slow: { status: 'running' },
      join: { status: 'pending' },
    });
    slow.release();
    expect((await stage.api.ended(runId)).status).toBe('completed');
    expect(join.texts).toEqual(['ok\n\nslow is done']);
  });

  it('C3 twenty independent nodes are all under way at once', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const name = unique('wide');
    await stage.api.save({
      name,
      nodes: Array.from({ length: 20 }, (_, index) => external(`n${index}`, fake.url)),
      edges: [],
    });
    const runId = await stage.api.start(name);
    await fake.sent(20);
    fake.release();
    expect((await stage.api.ended(runId)).status).toBe('completed');
    expect(fake.sends).toHaveLength(20);
  });
});
