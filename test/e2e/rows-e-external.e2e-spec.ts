import { firstText, sendTask } from '../support/a2a.js';
import { answers, answersParts, ends, type FakeBehaviour } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { rewriteStored } from '../support/stored-definition.js';
import { external, linear, textOf, unique } from '../support/workflow.js';

const stage = useSharedStage();

/** A saved workflow of one external node, and the node's own agent. */
async function node(url: string, config: object = {}): Promise<{ id: string; workflow: string; base: string }> {
  const id = unique('ext');
  const workflow = unique('e');
  await stage.api.save(linear(workflow, external(id, url, { ...config })));
  return { id, workflow, base: stage.api.base(workflow, id) };
}

describe('rows E: the external node', () => {
  it('E1 it is saved with endpoint_url and timeout as they were given', async () => {
    const { workflow, id } = await node('http://127.0.0.1:9/a2a', { timeout: 12 });
    const { body } = await stage.api.call('GET', `/workflows/${workflow}`);
    expect(body.nodes).toEqual([
      expect.objectContaining({
        id,
        type: 'external',
        config: { endpoint_url: 'http://127.0.0.1:9/a2a', timeout: 12 },
      }),
    ]);
  });

  it.each([0, -1, 'soon'])('E1 a timeout of %p is refused', async (timeout) => {
    const reply = await stage.api.call(
      'POST',
      '/workflows',
      linear(unique('e1'), external('x', 'http://127.0.0.1:9', { timeout })),
    );
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('timeout');
  });

  it.each([
    ['missing', {}],
    ['empty', { endpoint_url: '' }],
  ])("E2 a %s endpoint_url is refused at save with the row's text", async (_what, config) => {
    const reply = await stage.api.call(
      'POST',
      '/workflows',
      linear(unique('e2'), { id: 'x', type: 'external', config }),
    );
    expect(reply.status).toBe(422);
    expect(JSON.stringify(reply.body)).toContain('external node \\"x\\": missing endpoint_url config');
  });

  it('E2 a stored node without it answers a Message with the same text', async () => {
    const { id, workflow, base } = await node('http://127.0.0.1:9');
    await rewriteStored(stage.database, workflow, (definition) => {
      for (const it of definition.nodes) it.config = {};
    });
    const task = await sendTask(base, 'hello');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(task.status.message?.parts[0]?.text).toBe(`Error: external node "${id}": missing endpoint_url config`);
  });

  it('E3 K14 called from outside it passes the Message on, and without one says `Execute external node <id>`', async () => {
    const fake = await stage.fake();
    const { id, base } = await node(fake.url);
    await sendTask(base, 'pass this on');
    await sendTask(base, [{ data: { no: 'text' } }]);
    expect(fake.texts).toEqual(['pass this on', `Execute external node ${id}`]);
  });

  it.each([false, true])(
    'E4 a remote Task that failed is `external agent <url> failed` (streaming: %p)',
    async (streaming) => {
      const fake = await stage.fake({ streaming });
      fake.always(ends('TASK_STATE_FAILED', 'its own words'));
      const { id, workflow, base } = await node(fake.url);
      const task = await sendTask(base, 'hello');
      expect(task.status.state).toBe('TASK_STATE_FAILED');
      expect(task.status.message?.parts[0]?.text).toContain(`external agent ${fake.url} failed`);
      const run = await stage.api.ended(await stage.api.start(workflow));
      expect(run.error?.message).toContain(`node "${id}": external agent ${fake.url} failed`);
    },
  );

  it('E4 a call that failed is `external agent call to <url>: <cause>`', async () => {
    const fake = await stage.fake();
    fake.always({ rpcError: { code: -32000, message: 'test error' } });
    const { id, workflow, base } = await node(fake.url);
    const task = await sendTask(base, 'hello');
    expect(task.status.message?.parts[0]?.text).toContain(
      `external agent call to ${fake.url}: a2a error -32000: test error`,
    );
    const run = await stage.api.ended(await stage.api.start(workflow));
    expect(run.error?.message).toContain(
      `node "${id}": external agent call to ${fake.url}: a2a error -32000: test error`,
    );
  });

  it.each<[string, FakeBehaviour, string]>([
    ['the text of the first Artifact', answersParts({ data: 1 }, { text: 'words' }, { text: ' more' }), 'words more'],
    ['else its data as JSON', answersParts({ data: { key: 'val' } }), '{"key":"val"}'],
    ['else `no output`', { steps: [{ status: 'TASK_STATE_COMPLETED' }] }, 'no output'],
  ])('E5 what it answers from outside is %s', async (_what, behaviour, text) => {
    const fake = await stage.fake();
    fake.always(behaviour);
    const { base } = await node(fake.url);
    expect(firstText(await sendTask(base, 'hello'))).toBe(text);
  });

  it("E6 K14 in a run the endpoint is called directly, once, and never through the node's own route", async () => {
    const fake = await stage.fake();
    fake.always(answersParts({ data: { kept: true } }));
    const { id, workflow, base } = await node(fake.url);
    const run = await stage.api.ended(await stage.api.start(workflow));
    expect(fake.sends).toHaveLength(1);
    expect(run.nodes[id]).toMatchObject({ agentUrl: fake.url, attempts: 1 });
    expect(run.artifacts[id]?.[0]?.parts[0]?.data).toEqual({ kept: true });
    const list = (await (await fetch(`${base}/tasks`, { headers: { 'a2a-version': '1.0' } })).json()) as {
      tasks: unknown[];
    };
    expect(list.tasks).toEqual([]);
  });

  it("E6 the endpoint may be the agent's base or its card URL; the card says where to send", async () => {
    const fake = await stage.fake({ rpcPath: '/deep/rpc' });
    for (const url of [fake.url, `${fake.url}/.well-known/agent-card.json`]) {
      const run = await stage.api.finish(linear(unique('e6'), external('x', url)));
      expect(run.status).toBe('completed');
    }
    expect(fake.sends.map(({ path }) => path)).toEqual(['/deep/rpc', '/deep/rpc']);
  });

  it.each([false, true])('E8 the timeout is enforced (streaming: %p)', async (streaming) => {
    const fake = await stage.fake({ streaming });
    fake.always({ hang: true });
    const from = performance.now();
    const run = await stage.api.finish(linear(unique('e8'), external('x', fake.url, { timeout: 1 })));
    const took = performance.now() - from;
    expect(run.status).toBe('failed');
    // A node that says none waits for half a minute.
    expect(run.error?.message).toContain('timeout: not finished within 1 s');
    expect(took).toBeGreaterThan(950);
  });

  it('E8 the timeout counts for the whole call, also while events keep coming', async () => {
    const fake = await stage.fake({ streaming: true });
    const ticks = Array.from({ length: 40 }, () => [{ status: 'TASK_STATE_WORKING' as const }, { sleep: 100 }]).flat();
    fake.always({ steps: [...ticks, { status: 'TASK_STATE_COMPLETED' }] });
    const run = await stage.api.finish(linear(unique('e8'), external('x', fake.url, { timeout: 1 })));
    expect(run.status).toBe('failed');
    expect(run.error?.message).toMatch(/time(d )?[ -]?out/i);
  });

  it('J4 503 is tried again, 400 is not', async () => {
    const [moody, strict] = await Promise.all([stage.fake(), stage.fake()]);
    moody.next({ httpStatus: 503 }, { httpStatus: 503 }).always(answers('at last'));
    strict.always({ httpStatus: 400 });
    const good = await stage.api.finish(linear(unique('j4'), external('x', moody.url)));
    const bad = await stage.api.finish(linear(unique('j4'), external('x', strict.url)));
    expect(good.status).toBe('completed');
    expect(textOf(good.artifacts.x)).toBe('at last');
    expect(moody.sends).toHaveLength(3);
    expect(new Set(moody.sends.map(({ message }) => message?.messageId)).size).toBe(1);
    expect(bad.status).toBe('failed');
    expect(strict.sends).toHaveLength(1);
  });
});
