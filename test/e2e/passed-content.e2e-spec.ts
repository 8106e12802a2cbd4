import { firstText, sendTask } from '../support/a2a.js';
import { answersParts } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, external, linear, textOf, unique } from '../support/workflow.js';

const stage = useSharedStage();
const PNG = { raw: Buffer.alloc(3_000, 7).toString('base64'), mediaType: 'image/png', filename: 'chart.png' };
const LINE = '[file chart.png, image/png, 3000 bytes]';
const MODES = { defaultInputModes: ['text/plain', 'application/json', 'image/*'] };

describe('an answer that is no text', () => {
  it('reaches an agent of the service as what it takes, and the result of an output node as it was', async () => {
    const fake = await stage.fake();
    fake.always(answersParts({ data: { total: 42 } }, PNG));
    const nodes = [external('ext', fake.url), echo('said'), { id: 'kept', type: 'output' }];
    const run = await stage.api.finish({
      name: unique('parts'),
      nodes,
      edges: [
        { from: 'ext', to: 'said' },
        { from: 'ext', to: 'kept' },
      ],
    });
    expect(run.status).toBe('completed');
    const said = run.artifacts.said?.[0]?.parts;
    expect(said?.find(({ data }) => data !== undefined)?.data).toEqual({ total: 42 });
    expect(said?.find(({ text }) => text !== undefined)?.text).toBe(LINE);
    expect(run.result?.[0]?.parts).toEqual([expect.objectContaining({ data: { total: 42 } }), PNG]);
    const frames = await (await stage.api.events(run.runId)).all();
    const leftOut = frames.flatMap(({ data }) => (data.type === 'parts.left-out' ? [data] : []));
    expect(leftOut).toMatchObject([{ node_id: 'said', payload: { count: 1, kinds: ['image/png'] } }]);
  });

  it('reaches an agent elsewhere by what its card accepts', async () => {
    const [source, plain, seeing] = await Promise.all([stage.fake(), stage.fake(), stage.fake({ card: MODES })]);
    source.always(answersParts({ data: { total: 42 } }, PNG));
    await stage.api.finish(linear(unique('parts'), external('a', source.url), external('b', plain.url)));
    await stage.api.finish(linear(unique('parts'), external('a', source.url), external('b', seeing.url)));
    expect(plain.sends[0]?.message?.parts.map(({ text }) => text)).toContain(LINE);
    expect(seeing.sends[0]?.message?.parts).toEqual([expect.objectContaining({ data: { total: 42 } }), PNG]);
  });

  it('reaches another workflow as its text', async () => {
    const fake = await stage.fake();
    fake.always(answersParts({ data: { total: 42 } }));
    const child = await stage.api.save(linear(unique('child'), echo('said')));
    const nodes = [external('ext', fake.url), { id: 'run', type: 'workflow', config: { workflow: child.name } }];
    const run = await stage.api.finish(linear(unique('parts'), ...nodes));
    expect(textOf(run.artifacts.run)).toBe('{"total":42}');
  });

  it('goes through an external node that is called by itself, in both directions', async () => {
    const fake = await stage.fake({ card: MODES });
    fake.always(answersParts({ text: 'seen' }, PNG));
    const workflow = await stage.api.save(linear(unique('parts'), external('ext', fake.url)));
    const task = await sendTask(stage.api.base(workflow.name, 'ext'), [{ text: 'look' }, PNG]);
    expect(fake.sends[0]?.message?.parts).toEqual([expect.objectContaining({ text: 'look' }), PNG]);
    expect(firstText(task)).toBe('seen');
    expect(task.artifacts?.[0]?.parts).toEqual([expect.objectContaining({ text: 'seen' }), PNG]);
  });
});
