import type { CanonicalState } from '#libs/brainstorm';
import { payloadOf, STEP, transforms } from '../support/brainstorm.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { holds } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, input, linear, output, type Run, unique, type WorkflowNode } from '../support/workflow.js';

const stage = useSharedStage();
let a: FakeAgent;
let b: FakeAgent;

beforeEach(async () => {
  [a, b] = [await stage.fake({ streaming: true }), await stage.fake({ streaming: true })];
  for (const agent of [a, b]) agent.always(transforms());
});

const storm = (config: object = {}): WorkflowNode => ({
  id: 'storm',
  type: 'brainstorm',
  config: { agents: [{ agent: a.url }, { agent: b.url }], idea: 'a calendar for {{topic}}', ...config },
});

describe('the node type brainstorm', () => {
  it('its idea comes from a template; its output is the state as data, and a sentence', async () => {
    const workflow = linear(
      unique('storm'),
      input('topic'),
      storm(),
      echo('told', { prompt: 'So: {{storm}}' }),
      output('out'),
    );
    const run = await stage.api.finish(workflow, { topic: 'bees' });
    expect(run.status).toBe('completed');
    expect(payloadOf(a.sends[0]).state.idea).toBe('a calendar for bees');
    const [artifact] = run.nodes['storm']?.artifacts ?? [];
    const state = artifact?.parts[0]?.data as unknown as CanonicalState;
    expect(state).toMatchObject({ idea: 'a calendar for bees', execution_plan: [STEP], meta: { iteration: 2 } });
    expect(run.nodes['storm']?.artifacts).toHaveLength(1);
    expect(run.nodes['told']?.artifacts[0]?.parts[0]?.text).toMatch(/^So: Converged in iteration 2: /);
    expect(a.sends).toHaveLength(2);
  });

  it('without an idea it takes what its parents said; an agent that fails fails the node', async () => {
    b.always({ httpStatus: 400 });
    const workflow = linear(unique('storm'), input('topic'), storm({ idea: undefined }));
    const run = await stage.api.finish(workflow, { topic: 'bees' });
    expect(payloadOf(a.sends[0]).state.idea).toBe('bees');
    expect(run).toMatchObject({
      status: 'failed',
      error: { node: 'storm', message: `node "storm": agent "${b.url}": HTTP 400` },
    });
  });

  it('a canceled run cancels the agent at work', async () => {
    a.always(holds());
    const workflow = await stage.api.save(linear(unique('storm'), input('topic'), storm()));
    const runId = await stage.api.start(workflow.name, { topic: 'x' });
    await until(() => a.taskIds().length === 1, { what: "the agent's Task" });
    await stage.api.call('POST', `/runs/${runId}/cancel`);
    await until(() => a.cancels.length === 1, { what: 'CancelTask at the agent' });
    expect((await stage.api.run(runId)).nodes['storm']?.status).toBe('canceled');
  });

  it('a brainstorm whose agent is the workflow that it is in stops with LOOP_DETECTED', async () => {
    const name = unique('storm');
    const run: Run = await stage.api.finish(
      linear(name, input('topic'), storm({ agents: [{ agent: name }, { agent: b.url }] })),
      {
        topic: 'x',
      },
    );
    expect(run.status).toBe('failed');
    expect(run.error?.message).toContain('LOOP_DETECTED');
    expect(b.sends).toHaveLength(0);
  });

  it.each<[string, object]>([
    ['agents must be an array', { agents: undefined }],
    ['agents must have 2 to 20 entries', { agents: [{ agent: 'http://127.0.0.1:1' }] }],
    ['agents[1].agent must be the URL', { agents: [{ agent: 'one' }, { agent: 'not one' }] }],
    ['agents[0].role must be one of', { agents: [{ agent: 'one', role: 'chief' }, { agent: 'two' }] }],
    [
      'agents[0].skills[0] is not a known skill',
      { agents: [{ agent: 'one', skills: ['juggling'] }, { agent: 'two' }] },
    ],
    ['maxIterations must be a number from 1 to 100', { maxIterations: 0 }],
    ['idea must be a string', { idea: 7 }],
    ['llmConfig must be an object with only the members', { llmConfig: { apiKey: 'sk-123' } }],
  ])('is refused at save: %s', async (problem, config) => {
    const workflow = linear(unique('storm'), input('topic'), storm(config));
    const reply = await stage.api.call('POST', '/workflows', workflow);
    expect(reply.status).toBe(422);
    expect(reply.text).toContain(`brainstorm node \\"storm\\": ${problem}`);
  });
});
