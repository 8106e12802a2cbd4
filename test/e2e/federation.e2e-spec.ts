import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { type Api, echo, external, input, linear, output, ruled, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
/** On a database of its own, as each that is lent. */
const other = useSharedStage();
let remote: Api;

beforeAll(() => {
  remote = other.api;
});

describe("federation: a node that is another Parley's workflow", () => {
  it('runs there, and its result comes back', async () => {
    const far = await remote.save(
      linear(unique('far'), input('in'), echo('work', { prompt: 'far {{in}}' }), output('out')),
    );
    const run = await stage.api.finish(
      linear(
        unique('near'),
        input('in'),
        external('x', remote.base(far.name)),
        output('out', { prompt: 'near {{x}}' }),
      ),
      { in: 'hello' },
    );
    expect(run.status).toBe('completed');
    expect(run.result?.[0]?.parts[0]?.text).toBe('near far hello');
    expect(await remote.run(run.nodes.x?.taskId ?? '')).toMatchObject({ status: 'completed', workflow: far.name });
  });

  it('a node of another Parley is an agent too', async () => {
    const far = await remote.save(linear(unique('far'), echo('work')));
    const run = await stage.api.finish(
      linear(unique('near'), external('x', remote.base(far.name, 'work'), { prompt: 'hi' })),
    );
    expect(run).toMatchObject({ status: 'completed', state: { x: 'hi' } });
  });

  it('a failure there is a node error here', async () => {
    const far = await remote.save(linear(unique('far'), script('work', { fail: 'out of paper' })));
    const url = remote.base(far.name);
    const run = await stage.api.finish(linear(unique('near'), external('x', url)));
    expect(run.status).toBe('failed');
    expect(run.error?.message).toContain(`node "x": external agent ${url} failed`);
  });

  it('a cancel here is a cancel there', async () => {
    const far = await remote.save(linear(unique('far'), script('work', { status: 'working' }, { sleep: 60_000 })));
    const near = await stage.api.save(linear(unique('near'), external('x', remote.base(far.name), { timeout: 120 })));
    const runId = await stage.api.start(near.name);
    const taskId = await until(async () => (await stage.api.run(runId)).nodes.x?.taskId, {
      what: 'the far run to be known',
    });
    await until(async () => (await remote.run(taskId)).nodes.work?.status === 'running', {
      what: 'the far node to run',
    });
    const reply = await stage.api.call('POST', `/runs/${runId}/cancel`);
    expect(reply.body).toMatchObject({
      status: 'canceled',
      children: [{ node: 'x', taskId, outcome: 'acknowledged' }],
    });
    expect(await remote.ended(taskId)).toMatchObject({ status: 'canceled', nodes: { work: { status: 'canceled' } } });
  });

  it('a question there is a question here, and the answer goes all the way down', async () => {
    const far = await remote.save(
      linear(
        unique('far'),
        ruled('ask', [
          { when: { turn: 1 }, steps: [{ ask: 'colour?' }] },
          { when: { turn: 2 }, steps: [{ echo: true }, { complete: 'ok' }] },
        ]),
        output('out'),
      ),
    );
    const near = await stage.api.save(linear(unique('near'), external('x', remote.base(far.name)), output('out')));
    const runId = await stage.api.start(near.name);
    await stage.api.reached(runId, ['input-required']);
    await fetch(stage.api.base(near.name), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm', role: 'ROLE_USER', taskId: runId, parts: [{ text: 'green' }] } },
      }),
    });
    const run = await stage.api.ended(runId);
    expect(run.status).toBe('completed');
    expect(run.result?.[0]?.parts[0]?.text).toBe('green');
  });

  it('a workflow that reaches itself again stops with LOOP_DETECTED', async () => {
    const name = unique('self');
    const run = await stage.api.finish(linear(name, external('again', stage.api.base(name))));
    expect(run.status).toBe('failed');
    expect(`${JSON.stringify(run)} ${await runsOf(stage.api, name)}`).toMatch(/LOOP_DETECTED|loop detected/i);
  });

  it('a workflow that reaches itself again through the other one stops with LOOP_DETECTED', async () => {
    const [near, far] = [unique('near'), unique('far')];
    await stage.api.save(linear(near, external('there', remote.base(far))));
    await remote.save(linear(far, external('back', stage.api.base(near))));
    const runId = await stage.api.start(near);
    try {
      const run = await stage.api.ended(runId);
      expect(run.status).toBe('failed');
      expect(`${await runsOf(stage.api, near)} ${await runsOf(remote, far)}`).toMatch(/LOOP_DETECTED|loop detected/i);
    } finally {
      await stage.api.call('DELETE', `/workflows/${near}`);
      await stage.api.call('POST', `/runs/${runId}/cancel`);
    }
  });
});

/** Every run of a workflow as it is told, for a search in the text. */
async function runsOf(api: Api, workflow: string): Promise<string> {
  const reply = await api.call<{ runs: { runId: string }[] }>('GET', `/runs?workflow=${workflow}`);
  const runs = await Promise.all(reply.body.runs.slice(0, 20).map(({ runId }) => api.run(runId)));
  return JSON.stringify(runs);
}
