import { rpc, sendTask, subscribe } from '../support/a2a.js';
import { holds } from '../support/fake-behaviour.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { external, linear, script, unique } from '../support/workflow.js';

const stage = useStage();

describe('quiet streams', () => {
  it('a comment comes every 15 s, over A2A and over /api, so that nothing between takes the stream for dead', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const workflow = await stage.api.save(linear(unique('quiet'), external('x', fake.url, { timeout: 120 })));
    const quiet = await stage.api.save(
      linear(unique('quiet'), script('a', { status: 'working' }, { sleep: 60_000 }, { complete: 'done' })),
    );
    const task = await sendTask(stage.api.base(quiet.name, 'a'), 'x', { configuration: { returnImmediately: true } });
    const runId = await stage.api.start(workflow.name);
    await fake.sent();
    const readers = await Promise.all([stage.api.events(runId), subscribe(stage.api.base(quiet.name, 'a'), task.id)]);
    await until(() => readers.every(({ comments }) => comments.length > 0), {
      within: 18_000,
      what: 'a heartbeat on both streams',
    });
    readers.forEach((reader) => reader.abort());
    await stage.api.call('POST', `/runs/${runId}/cancel`);
    await rpc(stage.api.base(quiet.name, 'a'), 'CancelTask', { id: task.id });
  });
});
