import { isDeepStrictEqual } from 'node:util';
import { getTask, sendTask } from '../support/a2a.js';
import { keepCredential, newSecret } from '../support/credentials.js';
import { answers, ends, type FakeStep } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { external, linear, textOf, unique } from '../support/workflow.js';

const stage = useSharedStage();

describe('a remote Task that asks for authentication', () => {
  it('makes the run wait for it, in its own words, and goes on with the next Message', async () => {
    const [before, now] = [newSecret(), newSecret()];
    const agent = await stage.fake({ streaming: true });
    agent.always(({ headers }) =>
      headers['x-api-key'] === now ? answers('in') : ends('TASK_STATE_AUTH_REQUIRED', 'Please renew the key'),
    );
    const auth = await keepCredential(stage.api, { kind: 'api-key', value: before });
    const workflow = await stage.api.save(linear(unique('w'), external('e', agent.url, { auth })));
    const events = await stage.api.stream(workflow.name);
    const asked = await events.find(({ event }) => event === 'input.required');
    expect(asked.data.payload).toMatchObject({ question: 'Please renew the key', state: 'auth-required' });
    const { runId } = asked.data;
    events.abort();

    const waiting = await stage.api.reached(runId, ['input-required']);
    expect(waiting.nodes.e).toMatchObject({
      status: 'input-required',
      waitsFor: { state: 'auth-required', message: 'Please renew the key' },
    });
    const base = stage.api.base(workflow.name);
    const task = await getTask(base, runId);
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_AUTH_REQUIRED',
      message: { parts: [{ text: 'Please renew the key' }], metadata: { node: 'e' } },
    });

    await stage.api.call('PUT', `/credentials/${auth}`, { kind: 'api-key', value: now });
    const done = await sendTask(base, 'it is renewed', { fields: { taskId: runId, contextId: task.contextId } });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    const run = await stage.api.ended(runId);
    expect(run.nodes.e).not.toHaveProperty('waitsFor');
    expect(textOf(run.nodes.e?.artifacts)).toBe('in');
    expect(agent.sends.map(({ headers, text }) => [headers['x-api-key'], text])).toEqual([
      [before, 'Execute node e'],
      [now, 'it is renewed'],
    ]);
    expect(agent.sends[1]?.message?.taskId).toBe(agent.taskIds()[0]);
  });

  it('is told as such by the agent of the node itself', async () => {
    const agent = (await stage.fake()).always(ends('TASK_STATE_AUTH_REQUIRED', 'Who are you?'));
    const workflow = await stage.api.save(linear(unique('w'), external('e', agent.url)));
    const task = await sendTask(stage.api.base(workflow.name, 'e'), 'hello');
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_AUTH_REQUIRED',
      message: { parts: [{ text: 'Who are you?' }] },
    });
  });

  it('is told apart from one that asks for input', async () => {
    const agent = (await stage.fake()).always(ends('TASK_STATE_INPUT_REQUIRED', 'Which colour?'));
    const workflow = await stage.api.save(linear(unique('w'), external('e', agent.url)));
    const run = await stage.api.reached(await stage.api.start(workflow.name), ['input-required']);
    expect(run.nodes.e).toMatchObject({ waitsFor: { state: 'input-required', message: 'Which colour?' } });
    expect((await getTask(stage.api.base(workflow.name), run.runId)).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  it('that ends, works or asks something else by itself resumes the run without a Message', async () => {
    const anotherQuestion = { state: 'input-required', message: 'Which account?' };
    const cases: Record<string, { steps: FakeStep[]; status: string; waitsFor?: Record<string, unknown> }> = {
      completes: {
        steps: [{ artifact: { parts: [{ text: 'logged in' }] } }, { status: 'TASK_STATE_COMPLETED' }],
        status: 'completed',
      },
      fails: { steps: [{ status: 'TASK_STATE_FAILED', text: 'no login' }], status: 'failed' },
      'is canceled': { steps: [{ status: 'TASK_STATE_CANCELED' }], status: 'failed' },
      'works on and completes': {
        steps: [{ status: 'TASK_STATE_WORKING' }, { status: 'TASK_STATE_COMPLETED' }],
        status: 'completed',
      },
      'asks something else': {
        steps: [{ status: 'TASK_STATE_INPUT_REQUIRED', text: 'Which account?' }],
        status: 'input-required',
        waitsFor: anotherQuestion,
      },
    };
    const resumed = Object.entries(cases).map(async ([what, { steps, status, waitsFor = {} }]) => {
      const agent = await stage.fake({ streaming: true });
      agent.always({ steps: [{ status: 'TASK_STATE_AUTH_REQUIRED', text: 'Log in' }, { hold: true }, ...steps] });
      const workflow = await stage.api.save(linear(unique('w'), external('e', agent.url)));
      const runId = await stage.api.start(workflow.name);
      await stage.api.reached(runId, ['input-required']);
      agent.release();
      await (await stage.api.events(runId)).find(({ event }) => event === 'node.resumed');
      const run = await until(
        async () => {
          const seen = await stage.api.run(runId);
          const isAskedAnew = isDeepStrictEqual({ ...seen.nodes.e?.waitsFor }, waitsFor);
          return seen.status === status && isAskedAnew && seen;
        },
        { what: `the run to be ${status} where the Task ${what}` },
      );
      return { what, node: run.nodes.e?.status, sends: agent.sends.length, cancels: agent.cancels };
    });
    expect(await Promise.all(resumed)).toEqual(
      Object.entries(cases).map(([what, { status }]) => ({ what, node: status, sends: 1, cancels: [] })),
    );
  });

  it('changes nothing while its agent has forgotten it, and resumes the run once the agent remembers', async () => {
    const agent = await stage.fake({ streaming: true });
    agent.always({
      steps: [
        { status: 'TASK_STATE_INPUT_REQUIRED', text: 'Which?' },
        { hold: true },
        { artifact: { parts: [{ text: 'by itself' }] } },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    });
    const workflow = await stage.api.save(linear(unique('w'), external('e', agent.url)));
    const runId = await stage.api.start(workflow.name);
    await stage.api.reached(runId, ['input-required']);
    agent.options.forgetful = true;
    agent.release();
    const looks = (): number => agent.calls.filter(({ method }) => method === 'GetTask').length;
    await until(() => looks() > 0, { what: 'a look' });
    expect((await stage.api.run(runId)).status).toBe('input-required');
    agent.options.forgetful = false;
    const run = await stage.api.ended(runId);
    expect([run.status, textOf(run.nodes.e?.artifacts), agent.sends.length]).toEqual(['completed', 'by itself', 1]);
  });
});
