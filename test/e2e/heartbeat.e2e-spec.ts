import { rpc, sendParams, sendTask, stream, subscribe, VERSION } from '../support/a2a.js';
import { holds } from '../support/fake-behaviour.js';
import { SseReader } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { external, linear, script, unique } from '../support/workflow.js';

const stage = useSharedStage();

describe('quiet streams', () => {
  it('a comment comes every 15 s, over A2A and over /api, so that nothing between takes the stream for dead', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const workflow = await stage.api.save(linear(unique('quiet'), external('x', fake.url, { timeout: 600 })));
    const quiet = await stage.api.save(
      linear(unique('quiet'), script('a', { status: 'working' }, { sleep: 600_000 }, { complete: 'done' })),
    );
    const task = await sendTask(stage.api.base(quiet.name, 'a'), 'x', { configuration: { returnImmediately: true } });
    const runId = await stage.api.start(workflow.name);
    await fake.sent();
    const base = stage.api.base(quiet.name, 'a');
    const readers: SseReader[] = await Promise.all([
      stage.api.events(runId),
      SseReader.open(`${stage.api.url}/api/workflows/${quiet.name}/run`, { method: 'POST', body: { inputs: {} } }),
      subscribe(base, task.id),
      stream(base, 'x'),
      SseReader.open(`${base}/tasks/${task.id}:subscribe`, { headers: VERSION }),
      SseReader.open(`${base}/message:stream`, { method: 'POST', headers: VERSION, body: sendParams('x') }),
    ]);
    const headers = { ...VERSION, 'user-agent': 'python-httpx/0.28.1' };
    const python = await SseReader.open(`${base}/tasks/${task.id}:subscribe`, { headers });
    for (const { response } of readers) expect(response.headers.get('x-accel-buffering')).toBe('no');
    await until(() => readers.every(({ comments }) => comments.length > 0), {
      what: 'a heartbeat on every stream',
    });
    // The SDK for Python gives up after five seconds of silence, so it gets more comments.
    expect(python.comments.length).toBeGreaterThan(1);
    [...readers, python].forEach((reader) => reader.abort());
    await stage.api.call('POST', `/runs/${runId}/cancel`);
    await rpc(base, 'CancelTask', { id: task.id });
  });
});
