import type { Schemas } from '#libs/client';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { FakeLlm } from '../support/fake-llm.js';
import { ParleyCommand } from '../support/parley-command.js';
import { useStage } from '../support/stage.js';
import { Api, echo, linear, output, ruled, script, unique } from '../support/workflow.js';

const [ann, bob] = [testCaller('ann'), testCaller('bob')];
const stage = useStage({ env: { ...apiKeyEnv(ann, bob), OUTBOUND_ALLOW: '127.0.0.1' } });
let [api, bobs]: Api[] = [];

beforeAll(() => {
  [api, bobs] = [ann, bob].map(({ headers }) => new Api(stage.parley.url, headers));
});

type Overview = Schemas['Overview'];

async function overview(by = api!, query = ''): Promise<Overview> {
  const { status, body, text } = await by.call<Overview>('GET', `/overview${query}`);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body;
}

const causes = ({ failures }: Overview, node: string) => failures.filter((cause) => cause.node === node);

describe('The overview', () => {
  it('groups failed runs by cause, whatever their numbers and ids', async () => {
    const node = unique('plan');
    const failing = (text: string) => linear(unique('fails'), script(node, { fail: text }), output('out'));
    const first = await api!.finish(failing('order 17 is closed'));
    const second = await api!.finish(failing('order 4711 is closed'));
    await api!.finish(failing('the model is away'));
    const found = causes(await overview(), node);
    expect(found).toEqual([
      {
        id: expect.stringMatching(/^[\w-]{16}$/),
        node,
        kind: 'failed',
        message: expect.stringContaining('order <n> is closed'),
        runs: 2,
        firstSeen: first.updatedAt,
        lastSeen: second.updatedAt,
        runId: second.runId,
        workflows: [second.workflow, first.workflow],
      },
      expect.objectContaining({ message: expect.stringContaining('the model is away'), runs: 1 }),
    ]);
  });

  it('leads to all runs of a cause, in the list, as CSV, for a bulk action, and from the command', async () => {
    const node = unique('plan');
    const expected: string[] = [];
    for (const text of ['order 1 is closed', 'order 2 is closed', 'order 3 is closed', 'another reason']) {
      const run = await api!.finish(linear(unique('fails'), script(node, { fail: text }), output('out')));
      if (text.startsWith('order')) expected.unshift(run.runId);
    }
    const [cause] = causes(await overview(), node);
    expect(cause?.runs).toBe(3);
    const idsOf = ({ body }: { body: Schemas['RunPage'] }): string[] => body.runs.map(({ runId }) => runId);
    const list = (by: Api, query: string) => by.call<Schemas['RunPage']>('GET', `/runs?cause=${cause!.id}${query}`);
    expect(idsOf(await list(api!, ''))).toEqual(expected);
    const first = await list(api!, '&pageSize=2');
    expect(idsOf(first)).toEqual(expected.slice(0, 2));
    expect(idsOf(await list(api!, `&pageToken=${first.body.nextPageToken}`))).toEqual(expected.slice(2));
    expect(idsOf(await list(api!, `&since=${new Date(Date.now() + 60_000).toISOString()}`))).toEqual([]);
    expect(idsOf(await list(bobs!, ''))).toEqual([]);
    expect((await list(api!, '&search=order')).body).toMatchObject({ status: 400, errors: [{ path: 'cause' }] });
    const csv = await api!.call('GET', `/runs.csv?cause=${cause!.id}`);
    expect(csv.text.trimEnd().split('\r\n')).toHaveLength(1 + expected.length);
    const report = await api!.call<Schemas['BulkReport']>('POST', `/runs/rerun?cause=${cause!.id}`, { dryRun: true });
    expect(report.body.runs.map(({ runId, outcome }) => [runId, outcome])).toEqual(
      expected.map((runId) => [runId, 'possible']),
    );
    const parley = new ParleyCommand({ PARLEY_URL: stage.parley.url, PARLEY_API_KEY: ann.key });
    stage.defer(() => parley.end());
    const shown = await parley.run('overview', '--since', '1h');
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(new RegExp(`^3 +${cause!.id} .*order <n> is closed`, 'm'));
    const listed = await parley.run('runs', '--cause', cause!.id, '--json');
    expect((JSON.parse(listed.out) as { runId: string }[]).map(({ runId }) => runId)).toEqual(expected);
  });

  it('counts runs of the range by status and workflow, with their latency', async () => {
    const done = await api!.finish(linear(unique('done'), echo('a', { prompt: 'x' }), output('out')));
    const { workflows, runs, before, more } = await overview();
    const line = workflows.find(({ workflow }) => workflow === done.workflow);
    expect(line).toMatchObject({ runs: { completed: 1, failed: 0 }, p50: expect.any(Number), p95: line?.p50 });
    expect([runs.completed > 0, before.completed, more]).toEqual([true, 0, false]);
    const later = await overview(
      api,
      `?since=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}&until=${encodeURIComponent(
        new Date(Date.now() + 120_000).toISOString(),
      )}`,
    );
    expect(later.workflows).toEqual([]);
    expect(later.runs.completed).toBe(0);
    const [from, to] = [new Date(Date.parse(done.updatedAt) + 1), new Date(Date.parse(done.updatedAt) + 86_400_000)];
    const next = await overview(api, `?since=${from.toISOString()}&until=${to.toISOString()}`);
    expect(next.before.completed).toBeGreaterThan(0);
  });

  it('has the work that waits, with the oldest of each kind', async () => {
    const asks = ruled('q', [{ when: { turn: 1 }, steps: [{ ask: 'Publish?' }] }], [{ complete: 'done' }]);
    const workflow = await api!.save(linear(unique('asks'), asks, output('out')));
    const before = (await overview()).waiting.questions;
    const runId = await api!.start(workflow.name);
    await api!.reached(runId, ['input-required']);
    const { questions, parked, queued } = (await overview()).waiting;
    expect(questions).toMatchObject({ total: before.total + 1, underHour: before.underHour + 1, more: false });
    expect(questions.oldest).toMatchObject(before.oldest ?? { runId, workflow: workflow.name, question: 'Publish?' });
    expect([parked.more, queued.more]).toEqual([false, false]);
    const { body } = await api!.call<Schemas['RunPage']>('GET', `/runs?workflow=${workflow.name}`);
    expect(body.runs).toMatchObject([{ runId, waitsFor: { instance: 'q', question: 'Publish?' } }]);
    await api!.call('POST', `/runs/${runId}/answers`, { node: 'q', parts: [{ text: 'yes' }] });
    await api!.ended(runId);
    expect((await overview()).waiting.questions).toEqual(before);
  });

  it('has the tokens of each workflow, and none for a workflow without calls', async () => {
    const llm = await FakeLlm.start();
    stage.defer(() => llm.stop());
    llm.answer = () => ({ text: 'hi', usage: { input: 5, output: 2 } });
    const model = unique('m');
    await api!.call('POST', '/models', { name: model, provider: 'openai-compatible', model, baseUrl: llm.url });
    const called = await api!.finish(linear(unique('w'), echo('a', { prompt: 'x', model }), output('out')));
    const echoed = await api!.finish(linear(unique('w'), echo('a', { prompt: 'x' }), output('out')));
    const { workflows, usage } = await overview();
    const line = (name: string) => workflows.find(({ workflow }) => workflow === name);
    expect(line(called.workflow)?.usage).toEqual({
      ...{ calls: 1, unreportedCalls: 0, unpricedCalls: 1 },
      ...{ inputTokens: 5, outputTokens: 2 },
    });
    expect(line(echoed.workflow)).not.toHaveProperty('usage');
    expect(usage.inputTokens).toBeGreaterThanOrEqual(5);
  });

  it('shows a caller nothing of the work of another one', async () => {
    const node = unique('secret');
    const failed = await api!.finish(linear(unique('fails'), script(node, { fail: 'x' }), output('out')));
    const text = JSON.stringify(await overview(bobs));
    expect([text.includes(node), text.includes(failed.workflow), text.includes(failed.runId)]).toEqual(
      Array(3).fill(false),
    );
    const { runs, waiting, usage, failures } = await overview(bobs);
    expect({ runs, failures, questions: waiting.questions.total, calls: usage.calls }).toEqual({
      runs: { running: 0, 'input-required': 0, completed: 0, failed: 0, canceled: 0 },
      failures: [],
      questions: 0,
      calls: 0,
    });
  });

  it.each([
    ['since=yesterday', 'since'],
    ['until=1', 'until'],
    ['since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z', 'since'],
    ['since=2026-01-02T00:00:00Z&until=2026-06-02T00:00:00Z', 'since'],
    ['until=0001-01-01T00:00:00Z', 'since'],
  ])('refuses the range %s, naming %s', async (query, path) => {
    const { status, body } = await api!.call('GET', `/overview?${query}`);
    expect([status, body]).toEqual([400, expect.objectContaining({ errors: [expect.objectContaining({ path })] })]);
  });
});
