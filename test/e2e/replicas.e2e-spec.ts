import type { Task } from '#libs/protocol';
import { getTask, message, rpc, sendTask } from '../support/a2a.js';
import { holds } from '../support/fake-behaviour.js';
import { type Parley, startParley } from '../support/parley.js';
import { ids, range } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, echo, external, input, linear, output, ruled, textOf, unique } from '../support/workflow.js';

const stage = useStage();
let second: Parley;
let other: Api;

beforeAll(async () => {
  second = await startParley({ databaseUrl: stage.database.url });
  other = new Api(second.url);
  const known = async (): Promise<boolean> => (await metric(stage.parley.url, 'parley_replicas')) === 2;
  await until(known, { what: 'the first to know of the second' });
});

afterAll(() => second?.stop());

describe('two services on one database', () => {
  it('either answers for any run, and streams it live wherever it runs', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds('seen from afar'));
    const workflow = await stage.api.save(linear(unique('two'), input('in'), external('x', fake.url), output('out')));
    const runId = await stage.api.start(workflow.name, { in: 'a' });
    const reader = await other.events(runId);
    await reader.find(({ event, data }) => event === 'a2a.sending' && data.node_id === 'x');
    expect((await other.run(runId)).status).toBe('running');
    await fake.sent();
    fake.release();
    const frames = await reader.all();
    expect(ids(frames)).toEqual(range(1, frames.length));
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { x: 'seen from afar' } });
    const signals = (): Promise<number> => metric(second.url, 'parley_signals_received_total{topic="task_progress"}');
    await until(async () => (await signals()) > 0, { what: 'signals of the other replica' });
  });

  it('the card of an agent says what its model takes, whichever of them it was told to', async () => {
    const name = unique('m');
    const model = { name, provider: 'openai', model: 'm', input: ['image/*'] };
    expect((await stage.api.call('POST', '/models', model)).status).toBe(201);
    const { name: workflow } = await stage.api.save(linear(unique('two'), echo('a', { model: name })));
    const modes = (): Promise<unknown[]> =>
      Promise.all(
        [stage.api, other].map(async (api) => {
          const card = await fetch(`${api.base(workflow, 'a')}/.well-known/agent-card.json`);
          return ((await card.json()) as { defaultInputModes: string[] }).defaultInputModes.slice(2);
        }),
      );
    expect(await modes()).toEqual([['image/*'], ['image/*']]);
    for (const [api, input] of [
      [other, ['audio/*']],
      [stage.api, []],
    ] as const) {
      expect((await api.call('PUT', `/models/${name}`, { ...model, input })).status).toBe(200);
      expect(await modes()).toEqual([input, input]);
    }
  });

  it('a node answers by the newest revision, whichever of them saved it and whatever the other saw before', async () => {
    const definition = linear(unique('two'), input('in'));
    await stage.api.save(definition);
    const base = `/a2a/workflows/${definition.name}/nodes/in`;
    const revisions = async (): Promise<unknown[]> => {
      const tasks = await Promise.all(
        [stage.parley, second, stage.parley].map(({ url }) => sendTask(`${url}${base}`, 'a')),
      );
      return tasks.map(({ metadata }) => metadata?.['parley/revision']);
    };
    expect(await revisions()).toEqual(['1', '1', '1']);
    for (const revision of ['2', '3', '4']) {
      const saved = await other.call('PUT', `/workflows/${definition.name}`, { ...definition, description: revision });
      expect(saved.status).toBe(200);
      expect(await revisions()).toEqual([revision, revision, revision]);
    }
    await other.call('DELETE', `/workflows/${definition.name}`);
    const reply = await rpc(`${stage.parley.url}${base}`, 'SendMessage', { message: message('a') });
    expect(reply.body.error?.message).toContain('"in" not registered');
    expect(reply.body.result).toBeUndefined();
  });

  it('a Task of a node is read at every replica, whichever of them saved or deleted its agent', async () => {
    const definition = linear(unique('two'), input('in'));
    await stage.api.save(definition);
    const bases = [stage.parley, second, stage.parley].map(
      ({ url }) => `${url}/a2a/workflows/${definition.name}/nodes/in`,
    );
    const { id } = await sendTask(bases[0]!, 'a');
    const read = (taskId: string) => Promise.all(bases.map((base) => rpc<Task>(base, 'GetTask', { id: taskId })));
    for (const description of ['1', '2', '3']) {
      expect((await read(id)).map(({ body }) => body.result?.id)).toEqual([id, id, id]);
      const strange = await read('01900000-0000-7000-8000-000000000000');
      expect(strange.map(({ body }) => body.error?.code)).toEqual([-32001, -32001, -32001]);
      await other.call('PUT', `/workflows/${definition.name}`, { ...definition, description });
    }
    await other.call('DELETE', `/workflows/${definition.name}`);
    for (const { body } of await read(id)) expect(body).toMatchObject({ result: { id } });
  });

  it('a cancel at one stops what the other executes', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const workflow = await stage.api.save(linear(unique('two'), external('x', fake.url)));
    const runId = await stage.api.start(workflow.name);
    await fake.sent();
    await until(async () => (await other.run(runId)).nodes.x?.taskId !== undefined, { what: 'the child to be known' });
    const reply = await other.call('POST', `/runs/${runId}/cancel`);
    expect(`${reply.status} ${reply.text}`).toMatch(/^200 /);
    expect(await stage.api.ended(runId)).toMatchObject({ status: 'canceled', nodes: { x: { status: 'canceled' } } });
    await until(() => fake.cancels.length === 1, { what: 'CancelTask at the remote' });
  });

  it('I10 a conversation that began at one goes on at the other', async () => {
    const name = unique('two');
    await stage.api.save(
      linear(
        name,
        ruled('ask', [
          { when: { turn: 1 }, steps: [{ ask: 'which?' }] },
          { when: { turn: 2 }, steps: [{ complete: 'thanks' }] },
        ]),
      ),
    );
    const first = await sendTask(stage.api.base(name, 'ask'), 'hello');
    const done = await sendTask(other.base(name, 'ask'), 'this', { fields: { taskId: first.id } });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await getTask(stage.api.base(name, 'ask'), first.id)).history).toHaveLength(4);
  });

  it('a workflow that is saved or deleted at one is so at the other at once', async () => {
    const name = unique('two');
    await stage.api.save(linear(name, echo('a', { prompt: 'old' })));
    expect(await sendTask(other.base(name), 'x')).toMatchObject({ artifacts: [{ parts: [{ text: 'old' }] }] });
    await stage.api.call('PUT', `/workflows/${name}`, linear(name, echo('a', { prompt: 'new' })));
    expect(await sendTask(other.base(name), 'x')).toMatchObject({ artifacts: [{ parts: [{ text: 'new' }] }] });
    await stage.api.call('DELETE', `/workflows/${name}`);
    expect(
      (
        await rpc(other.base(name), 'SendMessage', {
          message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] },
        })
      ).body.error,
    ).toBeDefined();
  });

  it('when one is killed the other finishes its run, and sends nothing twice', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds('carried on'));
    const third = await startParley({ databaseUrl: stage.database.url });
    const workflow = await stage.api.save(linear(unique('two'), external('x', fake.url), output('out')));
    const runId = await new Api(third.url).start(workflow.name);
    await until(async () => (await other.run(runId)).nodes.x?.taskId !== undefined, { what: 'the child to be known' });
    await third.kill9();
    await until(() => fake.calls.some(({ method }) => method === 'SubscribeToTask' || method === 'GetTask'), {
      what: 'another to take over',
    });
    fake.release();
    const run = await stage.api.ended(runId);
    expect(run.status).toBe('completed');
    expect(run.result?.[0]?.parts[0]?.text).toBe('carried on');
    expect(fake.sends).toHaveLength(1);
    const frames = await (await other.events(runId)).all();
    expect(ids(frames)).toEqual(range(1, frames.length));
  });

  it('a parked run hears elsewhere that the remote Task which it waits for has moved on', async () => {
    const agent = await stage.fake({ streaming: true });
    const third = await startParley({ databaseUrl: stage.database.url });
    agent.always({
      steps: [
        { status: 'TASK_STATE_AUTH_REQUIRED', text: 'Log in' },
        { hold: true },
        { artifact: { parts: [{ text: 'logged in' }] } },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    });
    const there = new Api(third.url);
    const workflow = {
      name: unique('w'),
      nodes: [external('e', agent.url), { id: 'nap', type: 'wait', config: { for: '1h' } }],
      edges: [],
    };
    await there.save(workflow);
    const runId = await there.start(workflow.name);
    await there.reached(runId, ['input-required']);
    await third.kill9();
    agent.release();
    const run = await until(
      async () => {
        const seen = await stage.api.run(runId);
        return seen.nodes.e?.status === 'completed' && seen;
      },
      { what: 'the node to complete' },
    );
    expect([textOf(run.nodes.e?.artifacts), run.status, agent.sends.length]).toEqual(['logged in', 'running', 1]);
  });
});

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length) ?? 0,
  );
}
