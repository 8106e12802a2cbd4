import { dataPart, type JsonObject, textPart } from '#libs/protocol';
import type { WorkflowDefinition, WorkflowNode } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { answering, says } from '../testing/answering-agents.js';
import { everyCrash } from '../testing/crashes.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import { FakeClock } from '../testing/fake-clock.js';

FakeClock.advance = useFakeTime();

/** Returns a workflow of three nodes in a row: `a`, `own` and `out`. @param own members of the node `own` */
function around(own: Partial<WorkflowNode>, fields: Partial<WorkflowDefinition> = {}): WorkflowDefinition {
  return extended(workflowOf('a own out', 'a>own own>out', { language: 2, ...fields }), { own });
}

const set = (values: JsonObject): Partial<WorkflowNode> => ({ type: 'set', config: { values } });
const wait = (config: JsonObject): Partial<WorkflowNode> => ({ type: 'wait', config });

async function untilOver(run: DrivenRun): Promise<void> {
  while (!run.steps.includes('done')) await Promise.race([run.clock.pass(), run.until('done')]);
}

describe('a set node in a run', () => {
  test('is nobody else, and has its values as data', async () => {
    const definition = around(
      set({ n: '${nodes.a.data.n + 1}', text: 'n is ${nodes.a.data.n}', deep: [{ x: '{{a}}' }] }),
    );
    const run = await everyCrash(definition, () => answering({ a: says({ n: 1 }) }));
    expect(run.sent).toEqual(['a#1', 'out#1']);
    const data = { n: 2, text: 'n is 1', deep: [{ x: '{"n":1}' }] };
    expect(run.state.getNode('own').artifacts).toEqual([{ artifactId: 'own', name: 'own', parts: [dataPart(data)] }]);
    expect(run.steps.filter((step) => step.endsWith('own'))).toEqual(['node.started own', 'node.completed own']);
    expect(run.agents.calls.at(-1)?.text).toBe(JSON.stringify(data));
  });

  test('may decide what follows', async () => {
    const definition = extended(around(set({ ok: '${false}' })), {}, { 'own>out': { when: 'nodes.own.data.ok' } });
    const run = new DrivenRun(definition, answering());
    await run.start();
    expect(run.payloads('node.completed', 'own')).toMatchObject([{ taken: [] }]);
    expect(run.sent).toEqual(['a#1']);
  });

  test('that cannot be filled fails, and may have a fallback', async () => {
    const failing = around({ ...set({ n: '${nodes.a.data.n}' }), fallback: { parts: [{ data: { n: 0 } }] } });
    const run = await everyCrash(failing, () => answering());
    expect(run.payloads('node.completed', 'own')).toMatchObject([{ fallback: true }]);
    const { fallback: _, ...own } = failing.nodes[1] ?? { id: '', type: '', config: {} };
    const other = new DrivenRun({ ...failing, nodes: failing.nodes.with(1, own) }, answering());
    await other.start();
    expect(other.state.error).toMatchObject({ kind: 'expression', node: 'own' });
    expect(other.state.error?.message).toContain('config.values.n, at 15');
  });

  test('is held to what is said of its result', async () => {
    const output = { schema: { type: 'object', properties: { n: { type: 'string' } } } };
    const definition = around({ ...set({ n: '${1}' }), output });
    const run = new DrivenRun(definition, answering());
    await run.start();
    expect(run.state.error).toMatchObject({
      kind: 'invalid-output',
      message: 'node "own": the output.n must be string',
    });
  });

  test('may be a result of the run', async () => {
    const run = new DrivenRun(extended(workflowOf('own', ''), { own: set({ n: 1 }) }), answering());
    await run.start();
    expect(run.task.artifacts).toMatchObject([{ artifactId: 'own', parts: [{ data: { n: 1 } }] }]);
  });
});

describe('a wait node in a run', () => {
  test('lets time pass, and passes on what it is sent', async () => {
    const run = await everyCrash(around(wait({ for: '20s' })), () => answering(), untilOver);
    expect(run.sent).toEqual(['a#1', 'out#1']);
    const steps = ['node.started own', 'node.waiting own', 'node.completed own'];
    expect(run.steps.filter((step) => step.endsWith('own'))).toEqual(steps);
    const [waiting] = run.runEvents.filter(({ type }) => type === 'node.waiting');
    const until = Date.parse(String(waiting?.payload['until']));
    expect(Math.round((until - Date.parse(waiting?.timestamp ?? '')) / 1_000)).toBe(20);
    expect(run.state.getNode('own').artifacts[0]?.parts).toEqual([textPart('a done')]);
    expect(run.agents.calls.at(-1)?.text).toBe('a done');
  });

  test.each<[JsonObject, number]>([
    [{ for: '${nodes.a.data.pause}' }, 5_000],
    [{ until: "now + duration('25s')" }, 25_000],
    [{ until: "run.startedAt + duration('10s')" }, 10_000],
  ])('waits as long as %j says', async (config, milliseconds) => {
    const run = new DrivenRun(around(wait(config)), answering({ a: says({ pause: '5s' }) }));
    const whole = run.start();
    await run.until('node.waiting own');
    expect(await run.clock.awaited()).toBe(milliseconds);
    await run.clock.pass();
    await whole;
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('does not wait for what is over', async () => {
    const run = new DrivenRun(around(wait({ until: "timestamp('2020-01-01T00:00:00Z')" })), answering());
    expect(await run.start()).toBe('TASK_STATE_COMPLETED');
    expect(run.payloads('node.waiting')).toEqual([{ until: '2020-01-01T00:00:00.000Z' }]);
  });

  test.each<[JsonObject, string]>([
    [{ for: '${nodes.a.data.pause}' }, 'config.for must give a duration'],
    [{ until: "now + duration('8784h')" }, 'config.until is more than a year away'],
    [{ until: 'now > now' }, 'config.until, at 0: this is no timestamp'],
  ])('cannot wait for %j', async (config, message) => {
    const run = new DrivenRun(around(wait(config)), answering({ a: says({ pause: 5 }) }));
    await run.start();
    expect(run.state.error).toMatchObject({ kind: 'expression', message: `node "own": ${message}` });
  });

  test('is canceled with its run', async () => {
    const run = new DrivenRun(around(wait({ for: '20s' })), answering());
    const whole = run.start();
    await run.until('node.waiting own');
    run.cancel();
    expect(await whole).toBe('TASK_STATE_CANCELED');
    expect(run.state.getNode('own')).toMatchObject({ status: 'canceled', cancelOutcome: 'not-started' });
  });
});
