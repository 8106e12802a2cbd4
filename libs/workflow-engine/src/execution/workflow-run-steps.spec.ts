import { MOST_STEPS } from '#libs/expressions';
import type { JsonObject } from '#libs/protocol';
import type { WorkflowDefinition, WorkflowNode } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { answering, fail } from '../testing/answering-agents.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import { FakeClock } from '../testing/fake-clock.js';
import { workLimits } from '../work/node-room.js';
import { WorkBudget } from '../work/work-budget.js';

FakeClock.advance = useFakeTime();

const NUMBERS = `[${Array.from({ length: 60 }, (_, index) => index)}]`;
/** Expression that takes about ten thousand evaluation steps. */
const COSTLY = `${NUMBERS}.all(a, ${NUMBERS}.all(b, a * b >= 0))`;
/** Expression that exceeds its limit of evaluation steps. */
const TOO_COSTLY = `${NUMBERS}.all(a, ${NUMBERS}.all(b, string(a).matches('(a|b)*a(a|b){400}' + string(b)) || a * b >= 0))`;

const language2 = (edges: string, nodes: Record<string, Partial<WorkflowNode>>, fields: object = {}) =>
  extended(workflowOf('a b', edges, { language: 2 }), nodes, fields as never);

const failing = { type: 'agent', retry: { attempts: 2, on: ['failed'], when: COSTLY } } as Partial<WorkflowNode>;
const back = (definition: WorkflowDefinition): WorkflowDefinition => ({
  ...definition,
  edges: [...definition.edges, { from: 'b', to: 'a', loop: { max_iterations: 2, exit_when: COSTLY } }],
});

/** Every place where a run evaluates an expression, each with a definition in which another expression follows. */
const PLACES: [string, WorkflowDefinition][] = [
  ['an edge', language2('a>b', { b: { config: { prompt: '${1}' } } }, { 'a>b': { when: COSTLY } })],
  ['the end of a loop', back(language2('a>b', { b: { config: { prompt: '${1}' } } }))],
  ['the items of a list', language2('a>b', { a: { each: { items: `${COSTLY} ? [1, 2] : []` } } })],
  ['a retry', language2('a>b', { a: failing })],
  ['a template', language2('a>b', { a: { config: { prompt: `\${${COSTLY}}` } }, b: { config: { prompt: '${1}' } } })],
  ['a set node', language2('a>b', { a: { type: 'set', config: { values: { x: `\${${COSTLY}}` } } } })],
  ['a fallback', language2('a>b', { a: { fallback: { parts: [{ text: `\${${COSTLY}}` }] } } })],
  ['the time of a wait', language2('a>b', { a: { type: 'wait', config: { until: `${COSTLY} ? now : now` } } })],
];

function started(definition: WorkflowDefinition, callerSteps: number): DrivenRun {
  const isFailing = definition.nodes.some(({ retry, fallback }) => retry ?? fallback);
  const run = new DrivenRun(definition, answering(isFailing ? { a: fail } : {}));
  run.work = new WorkBudget({ ...workLimits(100), callerSteps, processSteps: callerSteps });
  void run.start();
  return run;
}

async function turns(run: DrivenRun, isOver: () => boolean): Promise<void> {
  while (!isOver() && !run.steps.includes('done')) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe('a run that has used more evaluation steps than its caller has', () => {
  test.each(PLACES)('waits for its turn: %s', async (_place, definition) => {
    const run = started(definition, 2_000);
    await turns(run, () => run.work.steps.waitingRuns > 0);
    expect(run.work.steps.used).toBeGreaterThan(2_000);
    expect(run.work.steps.waitingRuns).toBe(1);
    run.cancel();
    await run.latest;
    expect(run.state.status).toBe('canceled');
    expect(run.work.steps.waitingRuns).toBe(0);
  });

  test('goes on when it is its turn, and comes to its end', async () => {
    const run = started(language2('a>b', { a: { type: 'set', config: { values: { x: `\${${COSTLY}}` } } } }), 20_000);
    await turns(run, () => false);
    expect(run.state.status).toBe('completed');
  });

  test('does not wait where it evaluates nothing', async () => {
    const run = started(workflowOf('b c', 'b>c'), 1);
    run.work.steps.joinRun({ account: '0:', root: 'other' }).use(1e9);
    await run.latest;
    expect(run.state.status).toBe('completed');
  });
});

describe('one decision about a run', () => {
  test('takes about as many steps as one expression has, however many it evaluates', async () => {
    const config: JsonObject = { values: { x: `\${${TOO_COSTLY}}` } };
    const node = {
      type: 'set',
      config,
      retry: { attempts: 2, on: ['expression'], when: TOO_COSTLY },
      fallback: { parts: [{ text: `\${${TOO_COSTLY}}` }] },
    } as unknown as Partial<WorkflowNode>;
    const on = { on: 'failure', when: `${TOO_COSTLY} || true` };
    const run = new DrivenRun(language2('a>b', { a: node }, { 'a>b': on }), answering());
    run.work = new WorkBudget({ ...workLimits(100), callerSteps: 1e9, processSteps: 1e9 });
    expect(await run.start()).toBe('TASK_STATE_FAILED');
    expect(run.work.steps.used).toBeGreaterThan(MOST_STEPS / 4);
    expect(run.work.steps.used).toBeLessThan(MOST_STEPS * 1.2);
  });

  test('can tell its failure from others when an expression has used all steps', async () => {
    const node = { type: 'set', config: { values: { x: `\${${TOO_COSTLY}}` } } } as Partial<WorkflowNode>;
    const on = { on: 'failure', when: "error.kind == 'expression'" };
    const run = new DrivenRun(language2('a>b', { a: node }, { 'a>b': on }), answering());
    await run.start();
    expect(run.sent).toEqual(['b#1']);
    expect(run.state.status).toBe('completed');
  });
});
