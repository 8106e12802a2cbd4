import { getTask, outline, rpc, sendParams, sendTask, stream } from '../support/a2a.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { ends } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, external, input, linear, output, ruled, step, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();

const asks = ruled('ask', [
  { when: { turn: 1 }, steps: [{ ask: 'Which colour for {{text}}?' }] },
  { when: { turn: 2 }, steps: [{ artifact: { parts: [{ text: 'painted {{text}}' }] } }, { complete: 'done' }] },
]);

function painter(): Workflow {
  return linear(unique('paint'), input('in'), asks, output('out', { prompt: 'Result: {{ask}}' }));
}

describe('an agent elsewhere that a workflow calls', () => {
  const say = async (name: string, text: string, contextId?: string) =>
    sendTask(stage.api.base(name), text, contextId === undefined ? {} : { fields: { contextId } });

  it('is called in its own context of earlier turns, and in a new one from any other', async () => {
    const agent = await stage.fake();
    const { name } = await stage.api.save(linear(unique('talk'), external('x', agent.url)));
    const { contextId } = await say(name, 'one');
    await say(name, 'two', contextId);
    await say(name, 'three', unique('other'));
    const [first, second, third] = agent.sends.map(({ message }) => message?.contextId);
    const [task] = await tasksOf(agent);
    expect([first, second, third]).toEqual([undefined, task?.contextId, undefined]);
    expect(agent.texts).toEqual(['one', 'two', 'three']);
    const base = stage.api.base(name, 'x');
    const direct = await sendTask(base, 'four');
    await sendTask(base, 'five', { fields: { contextId: direct.contextId } });
    const [fourth, fifth] = agent.sends.slice(3).map(({ message }) => message?.contextId);
    expect([fourth, fifth]).toEqual([undefined, (await tasksOf(agent))[3]?.contextId]);
  });

  it('is called in one context by the iterations of a loop, and in others by the entries of a list', async () => {
    const agent = await stage.fake();
    const loop = linear(unique('loop'), external('x', agent.url));
    loop.edges.push({ from: 'x', to: 'x', loop: { max_iterations: 3 } } as never);
    const each = { each: { items: '[1, 2]', concurrency: 1 } };
    const list = linear(unique('list'), { ...external('x', agent.url, { prompt: '{{item}}' }), ...each } as never);
    const forgets = linear(unique('forgets'), external('x', agent.url, { history: 'none' }));
    for (const workflow of [loop, list, forgets]) {
      const { name } = await stage.api.save(workflow);
      const { contextId } = await say(name, 'go');
      if (workflow !== loop) await say(name, 'go', contextId);
    }
    const contexts = agent.sends.map(({ message }) => message?.contextId);
    const [task] = await tasksOf(agent);
    expect(contexts).toEqual([undefined, task?.contextId, task?.contextId, ...Array(6).fill(undefined)]);
  });
});

async function tasksOf(agent: FakeAgent): Promise<{ contextId: string }[]> {
  return Promise.all(agent.taskIds().map((id) => getTask(`${agent.url}/a2a`, id)));
}

describe('several turns through a workflow', () => {
  it('a node that asks makes the run ask, naming the node; the answer goes down to that node and the run goes on', async () => {
    const workflow = await stage.api.save(painter());
    const base = stage.api.base(workflow.name);
    const asked = await sendTask(base, 'the door');
    expect(asked.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: expect.stringContaining('Which colour for the door?') }] },
    });
    const waiting = await stage.api.run(asked.id);
    expect(waiting).toMatchObject({
      status: 'input-required',
      nodes: { in: { status: 'completed' }, ask: { status: 'input-required' }, out: { status: 'pending' } },
    });
    const done = await sendTask(base, 'blue', { fields: { taskId: asked.id, contextId: asked.contextId } });
    expect(done).toMatchObject({
      id: asked.id,
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ name: 'out', parts: [{ text: 'Result: painted blue' }] }],
    });
    const child = await getTask(stage.api.base(workflow.name, 'ask'), waiting.nodes.ask?.taskId ?? '');
    expect(child.history?.map(({ parts }) => parts[0]?.text)).toEqual([
      'the door',
      'Which colour for the door?',
      'blue',
      'done',
    ]);
    const run = await stage.api.run(asked.id);
    expect(run.nodes.ask).toMatchObject({ attempts: 1, taskId: child.id, status: 'completed' });
  });

  it("the run's events tell it: input.required with the question, input.received with the answer", async () => {
    const workflow = await stage.api.save(painter());
    const events = await stage.api.stream(workflow.name, { in: 'the wall' });
    const required = await events.find(({ event }) => event === 'input.required');
    expect(required.data).toMatchObject({
      node_id: 'ask',
      payload: { question: 'Which colour for the wall?', taskId: expect.any(String) },
    });
    await sendTask(stage.api.base(workflow.name), 'red', { fields: { taskId: required.data.runId } });
    const frames = await (await stage.api.events(required.data.runId)).all();
    const types = frames.map(step).map((it) => it.replace(/^(input\.\w+):.*/, '$1'));
    const places = ['node.started:ask', 'input.required', 'input.received', 'node.completed:ask', 'done'].map((it) =>
      types.indexOf(it),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((one, two) => one - two));
    expect(types.filter((it) => it === 'node.started:ask')).toHaveLength(1);
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed' });
  });

  it("a stream over A2A ends at the question; the next Message's stream goes to the end", async () => {
    const workflow = await stage.api.save(painter());
    const base = stage.api.base(workflow.name);
    const first = await (await stream(base, 'the roof')).all();
    expect(outline(first.at(-1)?.data.result)).toBe('status TASK_STATE_INPUT_REQUIRED');
    const { task } = first[0]?.data.result as { task: { id: string } };
    const second = await (await stream(base, 'green', { fields: { taskId: task.id } })).all();
    expect(outline(second.at(-1)?.data.result)).toBe('status TASK_STATE_COMPLETED');
    expect(second.map(({ data }) => outline(data.result))).toContain('artifact Result: painted green');
  });

  it('other branches go on while one waits for an answer', async () => {
    const workflow = painter();
    workflow.nodes.push(echo('side'));
    workflow.edges.push({ from: 'in', to: 'side' });
    await stage.api.save(workflow);
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    await stage.api.reached(runId, ['input-required']);
    await until(async () => (await stage.api.run(runId)).nodes.side?.status === 'completed', {
      what: 'the other branch',
    });
    await sendTask(stage.api.base(workflow.name), 'blue', { fields: { taskId: runId } });
    expect((await stage.api.ended(runId)).status).toBe('completed');
  });

  it("an external agent's question is the run's question, and the answer reaches that agent under its own Task", async () => {
    const fake = await stage.fake();
    fake.next(ends('TASK_STATE_INPUT_REQUIRED', 'How many?'));
    const workflow = await stage.api.save(linear(unique('ext'), external('x', fake.url), output('out')));
    const runId = await stage.api.start(workflow.name);
    await stage.api.reached(runId, ['input-required']);
    const done = await sendTask(stage.api.base(workflow.name), 'three', { fields: { taskId: runId } });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(fake.texts).toEqual(['Execute node x', 'three']);
    expect(fake.sends[1]?.message).toMatchObject({ taskId: fake.taskIds()[0] });
    expect(fake.sends[1]?.message?.messageId).not.toBe(fake.sends[0]?.message?.messageId);
  });

  it('a run that waits can be canceled, and its child is', async () => {
    const workflow = await stage.api.save(painter());
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    const waiting = await stage.api.reached(runId, ['input-required']);
    expect((await stage.api.call('POST', `/runs/${runId}/cancel`)).status).toBe(200);
    expect((await stage.api.ended(runId)).status).toBe('canceled');
    const child = await getTask(stage.api.base(workflow.name, 'ask'), waiting.nodes.ask?.taskId ?? '');
    expect(child.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('a Message to a run that works is refused', async () => {
    const fake = await stage.fake();
    fake.always({ hang: true });
    const workflow = await stage.api.save(linear(unique('busy'), external('x', fake.url)));
    const runId = await stage.api.start(workflow.name);
    await fake.sent();
    const { body } = await rpc(
      stage.api.base(workflow.name),
      'SendMessage',
      sendParams('hey', { fields: { taskId: runId } }),
    );
    expect(body.error).toMatchObject({ code: -32004 });
    await stage.api.call('POST', `/runs/${runId}/cancel`);
  });
});
