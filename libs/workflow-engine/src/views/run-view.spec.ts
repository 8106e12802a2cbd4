import { dataPart, type Part, statusUpdate, textPart } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type TaskHeader } from '#libs/tasks';
import type { NodeInstance } from '../state/node-instance.js';
import { questionText } from '../state/run-questions.js';
import { answering } from '../testing/answering-agents.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import { FakeAgents, type FakeCall } from '../testing/fake-agents.js';
import { nodeDetail, runView } from './run-view.js';

const header: TaskHeader = {
  taskId: 'run-1',
  contextId: 'context-1',
  ...ANONYMOUS_SCOPE,
  agent: 'workflows/wf',
  state: 'TASK_STATE_WORKING',
  lastSequence: 1,
  createdAt: new Date(0),
  updatedAt: new Date(1000),
};

const viewOf = (run: DrivenRun, children?: { nodeId: string; attempt: number; taskId: string }[]) =>
  runView({ header, definition: run.definition, events: run.log, baseUrl: 'http://base', children });

const detailOf = (run: DrivenRun, node: string) =>
  nodeDetail({ header, definition: run.definition, events: run.log, baseUrl: 'http://base' }, node);

describe('runView', () => {
  test('shows a completed run with inputs as state and Artifacts (C11, C12)', async () => {
    const run = new DrivenRun(
      workflowOf('in out', 'in>out'),
      new FakeAgents((call) => call.complete(dataPart(1), `${call.node} done`)),
    );
    await run.start([dataPart({ in: { k: 1 } })]);
    const view = viewOf(run);
    expect(view).toMatchObject({
      runId: 'run-1',
      workflow: 'wf',
      status: 'completed',
      contextId: 'context-1',
      inputs: { in: { k: 1 } },
      result: [{ artifactId: 'out', name: 'out', parts: [dataPart(1), textPart('out done')] }],
      nodes: {
        in: {
          status: 'completed',
          attempts: 1,
          taskId: 'task-of-in',
          agentUrl: 'http://own/a2a/workflows/wf/nodes/in',
        },
        out: { status: 'completed', startedAt: expect.any(String), finishedAt: expect.any(String) },
      },
      state: { __user_input__in: { k: 1 }, in: 'in done', out: 'out done' },
      createdAt: '1970-01-01T00:00:00.000Z',
      updatedAt: '1970-01-01T00:00:01.000Z',
    });
    expect(view.artifacts['__user_input__in']?.[0]?.parts).toEqual([textPart('{"k":1}')]);
    expect(view.artifacts['in']?.[0]?.parts).toEqual([dataPart(1), textPart('in done')]);
    expect(view).not.toHaveProperty('error');
  });

  test('shows a run under way: what is known of its children, and where the others will be', async () => {
    const run = new DrivenRun(workflowOf('a ext b', 'a>b'), new FakeAgents());
    const ended = run.start();
    await run.agents.called('a');
    const view = viewOf(run, [
      { nodeId: 'a', attempt: 1, taskId: 'child-a' },
      { nodeId: 'b', attempt: 1, taskId: 'child of another attempt' },
    ]);
    expect(view).toMatchObject({
      status: 'running',
      inputs: {},
      nodes: {
        a: { status: 'running', attempts: 1, taskId: 'child-a', artifacts: [] },
        ext: { status: 'running', agentUrl: 'http://remote/ext' },
        b: { status: 'pending', attempts: 0, agentUrl: 'http://base/a2a/workflows/wf/nodes/b' },
      },
    });
    expect(view.nodes['b']).not.toHaveProperty('taskId');
    expect(view).not.toHaveProperty('result');
    run.shutDown();
    await expect(ended).rejects.toThrow();
  });

  test('shows a run that was ended from outside: nothing of it still runs', async () => {
    const run = new DrivenRun(workflowOf('a b', 'a>b'), new FakeAgents());
    const ended = run.start();
    await run.agents.called('a');
    run.shutDown();
    await expect(ended).rejects.toThrow();
    run.log.push(
      statusUpdate({ taskId: 'run-1', contextId: 'context-1' }, 'TASK_STATE_FAILED', 'The process stopped.'),
    );
    expect(viewOf(run)).toMatchObject({
      status: 'failed',
      error: { message: 'The process stopped.' },
      nodes: { a: { status: 'canceled', finishedAt: expect.any(String) }, b: { status: 'skipped' } },
    });
  });

  test('shows what became of the children of a canceled run', async () => {
    const run = new DrivenRun(workflowOf('a', ''), new FakeAgents());
    const ended = run.start();
    (await run.agents.called('a')).task();
    run.cancel();
    await ended;
    expect(viewOf(run)).toMatchObject({ status: 'canceled', children: [{ node: 'a', outcome: 'acknowledged' }] });
  });

  test('shows what an instance was sent in a loop, and nothing for what is nobody else', async () => {
    const loop = { from: 'b', to: 'a', loop: { max_iterations: 2 } };
    const definition = extended(workflowOf('a b', 'a>b', { language: 2 }), {
      a: { config: { prompt: '${iteration}: ${nodes.b.text}' } },
      b: { type: 'set', config: { values: {} } },
    });
    const run = new DrivenRun({ ...definition, edges: [...definition.edges, loop] }, answering());
    await run.start();
    expect(detailOf(run, 'a')).toMatchObject({ attempts: 1, input: [{ text: '2: {}' }] });
    expect(detailOf(run, 'b')).not.toHaveProperty('input');
  });

  test('shows what an agent asks for by data alone', () => {
    const asks = (question: Part[]) => questionText({ id: 'a', question } as NodeInstance);
    expect(asks([{ data: { name: 'ask', args: { question: 'Which tea?' } } }])).toBe(
      '{"name":"ask","args":{"question":"Which tea?"}}',
    );
    expect(asks([{ data: {} }, { text: 'Which?' }])).toBe('Which?');
    expect(asks([{ url: 'https://example.com/form' }])).toBe('Node "a" waits for input');
  });

  test('shows until when a node does nothing', async () => {
    const config = { for: '2h' };
    const run = new DrivenRun(extended(workflowOf('a', ''), { a: { type: 'wait', config } }), answering());
    await run.start();
    const until = run.payloads('node.waiting')[0]?.['until'];
    expect(viewOf(run).nodes['a']).toMatchObject({ status: 'running', waitsFor: { state: 'timer', until } });
  });

  test('shows a node whose open entries all ask as one that waits, with their questions', async () => {
    const definition = extended(workflowOf('a', '', { language: 2 }), {
      a: { config: { prompt: '${item}' }, each: { items: '[1, 2, 3]', onFailure: 'collect' } },
    });
    const questions = new Map([
      ['a[0]#1', 'Which tea?'],
      ['a[1]#1', 'With milk?'],
    ]);
    const asks = (call: FakeCall): void => {
      const question = questions.get(call.attempt);
      if (question === undefined) call.task();
      else call.finish('TASK_STATE_INPUT_REQUIRED', question);
    };
    const run = new DrivenRun(definition, new FakeAgents(asks));
    const turn = run.start();
    const last = await run.agents.called('a', 3);
    while (run.state.findInstance('a[1]')?.status !== 'input-required')
      await new Promise((resolve) => setImmediate(resolve));
    expect(viewOf(run).nodes['a']).toMatchObject({ status: 'running' });
    expect(viewOf(run).nodes['a']).not.toHaveProperty('waitsFor');
    last.complete('done');
    expect(await turn).toBe('TASK_STATE_INPUT_REQUIRED');
    const waits = { state: 'input-required', message: 'a[0]: Which tea?\na[1]: With milk?' };
    expect(viewOf(run)).toMatchObject({
      status: 'input-required',
      nodes: { a: { status: 'input-required', waitsFor: waits } },
    });
    expect(detailOf(run, 'a')).toMatchObject({ status: 'input-required', waitsFor: waits });
  });
});
