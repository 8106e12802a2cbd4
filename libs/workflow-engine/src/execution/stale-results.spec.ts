import { textPart } from '#libs/protocol';
import type { WorkflowDefinition, WorkflowNode } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { flowOf } from '../../../../test/support/flow-of.js';
import { nodeContent } from '../messages/node-message.js';
import { RunEvaluation } from '../messages/run-evaluation.js';
import type { NodeInstance } from '../state/node-instance.js';
import { answering } from '../testing/answering-agents.js';
import { everyCrash } from '../testing/crashes.js';
import { workflowOf } from '../testing/driven-run.js';
import { FakeClock } from '../testing/fake-clock.js';
import { SteppedRun } from '../testing/stepped-run.js';
import { templateWarnings } from './node-dispatch.js';

FakeClock.advance = useFakeTime();

const READS = '{{x}}|${nodes.x.text}|${nodes.x.data == null}|${nodes.x.status}';
/** Text that a prompt with READS shows for a node that the current iteration has skipped or canceled. */
const NOTHING = (status: string) => `||true|${status}`;

const INNER = 'top>pre pre>x? x>tail top>gate gate>tail tail>top@9';
const READER: Partial<WorkflowNode> = { config: { prompt: READS } };
const ONE_LEVEL = ['top pre x gate tail behind bye', `${INNER} tail>behind`] as const;
const TWO_LEVELS = [
  'head top pre x gate tail foot behind bye',
  `head>top? head>foot ${INNER} tail>foot foot>behind foot>head@9`,
] as const;

type Fate = 'by choice' | 'as broken' | 'while it is canceled' | 'once it is canceled';
const FATES: readonly Fate[] = ['by choice', 'as broken', 'while it is canceled', 'once it is canceled'];
const STATUS: Record<Fate, string> = {
  'by choice': 'skipped',
  'as broken': 'skipped',
  'while it is canceled': 'running',
  'once it is canceled': 'canceled',
};

function definitionOf([ids, edges]: readonly [string, string], tail: Partial<WorkflowNode> = {}): WorkflowDefinition {
  const keys = { tail: { ...READER, ...tail }, head: READER, foot: READER, behind: READER, bye: READER, gate: READER };
  return flowOf(ids, edges, keys, { language: 2, onExit: [{ node: 'bye' }], onFailure: 'continue' });
}

/** Returns the text of the Message that a node would be sent now. */
function read(run: SteppedRun, name: string): string {
  const { node, evaluation } = placeOf(run, name);
  const source = evaluation.messageSource(node);
  const definition = run.state.graph.node(node.id);
  return nodeContent(definition, run.state.graph, source).own[0]?.text ?? '';
}

function placeOf(run: SteppedRun, name: string): { node: NodeInstance; evaluation: RunEvaluation } {
  const known = {
    id: 'run',
    workflow: 'wf',
    revision: '1',
    contextId: 'c',
    startedAt: new Date(0),
    conversation: null,
  };
  return { node: run.node(name), evaluation: new RunEvaluation(run.state, known) };
}

const edgeOf = ({ definition }: SteppedRun, from: string, to: string): number =>
  definition.edges.findIndex((edge) => edge.from === from && edge.to === to);

/** Plays one iteration in which every node runs. */
function whole(run: SteppedRun, at: string): SteppedRun {
  run.complete(`top${at}`).complete(`pre${at}`, [edgeOf(run, 'pre', 'x')]);
  return run.complete(`x${at}`, undefined, `x${at}`).complete(`gate${at}`).complete(`tail${at}`);
}

/** Plays one iteration in which `x` is skipped or canceled, until `tail` may start. */
function without(run: SteppedRun, at: string, fate: Fate): SteppedRun {
  run.complete(`top${at}`);
  if (fate === 'by choice') return run.complete(`pre${at}`, []).complete(`gate${at}`);
  if (fate === 'as broken') return run.complete(`gate${at}`).fail(`pre${at}`);
  run
    .complete(`pre${at}`, [edgeOf(run, 'pre', 'x')])
    .start(`x${at}`)
    .complete(`gate${at}`);
  return fate === 'once it is canceled' ? run.cancel(`x${at}`) : run;
}

const JOINS: Record<Fate, Partial<WorkflowNode>> = {
  'by choice': {},
  'as broken': { join: 'any' },
  'while it is canceled': { join: { n: 1, cancelRest: true } },
  'once it is canceled': { join: { n: 1, cancelRest: true } },
};

/** Plays two iterations of one loop. The second one skips or cancels `x`. */
function oneLevel(fate: Fate): SteppedRun {
  const run = whole(new SteppedRun(definitionOf(ONE_LEVEL, JOINS[fate])), '@1');
  return without(run.next(edgeOf(run, 'tail', 'top'), 2), '@2', fate);
}

/**
 * Plays two iterations of the outer loop. In the second one, the iteration `inner` of the inner loop skips or cancels
 * `x`.
 */
function twoLevels(fate: Fate, inner: 1 | 2): SteppedRun {
  const run = new SteppedRun(definitionOf(TWO_LEVELS, JOINS[fate]));
  const [back, around] = [edgeOf(run, 'tail', 'top'), edgeOf(run, 'foot', 'head')];
  whole(run.complete('head@1', [edgeOf(run, 'head', 'top')]), '@1@1').end(back, 'max', { path: [1] });
  run
    .complete('foot@1')
    .next(around, 2)
    .complete('head@2', [edgeOf(run, 'head', 'top')]);
  if (inner === 1) return without(run, '@2@1', fate);
  return without(whole(run, '@2@1').next(back, 2, { path: [2] }), '@2@2', fate);
}

/** Plays two iterations of the outer loop. The second one skips the inner loop. */
function withoutLoop(because: 'by choice' | 'as broken'): SteppedRun {
  const flow = because === 'as broken' ? TWO_LEVELS[1].replace('head>top?', 'head>also also>top') : TWO_LEVELS[1];
  const definition = definitionOf([`${TWO_LEVELS[0]} also`, flow]);
  const nodes = definition.nodes.map((node) => (node.id === 'foot' ? { ...node, join: 'any' as const } : node));
  const run = new SteppedRun({ ...definition, nodes });
  run.complete('head@1', [edgeOf(run, 'head', 'top')]);
  if (because === 'as broken') run.complete('also@1');
  whole(run, '@1@1').end(edgeOf(run, 'tail', 'top'), 'max', { path: [1] });
  run
    .complete('foot@1')
    .next(edgeOf(run, 'foot', 'head'), 2)
    .complete('head@2', []);
  return because === 'as broken' ? run.fail('also@2') : run;
}

describe('a node that an iteration leaves out', () => {
  test.each(FATES)('has no result for the nodes beside it, %s', (fate) => {
    expect(read(oneLevel(fate), 'tail@2')).toBe(NOTHING(STATUS[fate]));
    for (const inner of [1, 2] as const)
      expect(read(twoLevels(fate, inner), `tail@2@${inner}`)).toBe(NOTHING(STATUS[fate]));
  });

  test.each(FATES)('has none for the nodes behind its loop, %s', (fate) => {
    const run = oneLevel(fate).complete('tail@2');
    run.end(edgeOf(run, 'tail', 'top'), 'max');
    expect([read(run, 'behind'), read(run, 'bye')]).toEqual([NOTHING(STATUS[fate]), NOTHING(STATUS[fate])]);
    for (const inner of [1, 2] as const) {
      const nested = twoLevels(fate, inner).complete(`tail@2@${inner}`);
      nested.end(edgeOf(nested, 'tail', 'top'), 'max', { path: [2] });
      expect([read(nested, 'foot@2'), read(nested, 'bye')]).toEqual([NOTHING(STATUS[fate]), NOTHING(STATUS[fate])]);
    }
  });

  test.each(['by choice', 'as broken'] as const)('has none where its whole loop is left out, %s', (because) => {
    const run = withoutLoop(because);
    expect(run.statuses('x@2@1')).toBe('x@2@1 skipped');
    expect(read(run, 'foot@2')).toBe(NOTHING('skipped'));
    expect(placeOf(run, 'foot@2').evaluation.isLoopLeft(loopAt(run, 'foot@2'), run.node('foot@2'))).toBe(false);
    run.complete('foot@2').end(edgeOf(run, 'foot', 'head'), 'max');
    expect(read(run, 'behind')).toBe(NOTHING('skipped'));
  });

  test('has none for what runs at the end of a run that was canceled or has failed in the meantime', () => {
    const canceled = whole(new SteppedRun(definitionOf(ONE_LEVEL)), '@1');
    canceled
      .next(edgeOf(canceled, 'tail', 'top'), 2)
      .complete('top@2')
      .start('pre@2');
    expect(read(canceled.cancel('pre@2').ending('canceled'), 'bye')).toBe(NOTHING('skipped'));
    const running = whole(new SteppedRun(definitionOf(ONE_LEVEL)), '@1');
    running
      .next(edgeOf(running, 'tail', 'top'), 2)
      .complete('top@2')
      .complete('pre@2')
      .start('x@2');
    expect(read(running.cancel('x@2').ending('canceled'), 'bye')).toBe(NOTHING('canceled'));

    const failed = new SteppedRun({ ...definitionOf(TWO_LEVELS), onFailure: 'cancel' });
    whole(failed.complete('head@1', [0]), '@1@1').end(edgeOf(failed, 'tail', 'top'), 'max', { path: [1] });
    failed
      .complete('foot@1')
      .next(edgeOf(failed, 'foot', 'head'), 2)
      .fail('head@2');
    expect(read(failed.ending('failed'), 'bye')).toBe(NOTHING('skipped'));
  });
});

const CONDITION = 'nodes.x.text == "" && nodes.x.data == null && nodes.x.status == "skipped"';

function loopAt(run: SteppedRun, name: string): NonNullable<ReturnType<SteppedRun['state']['loopOf']>> {
  const loop = run.state.loopOf(run.node(name));
  if (loop === undefined) throw new Error(`${name} is in no loop`);
  return loop;
}

describe('every decision of an iteration', () => {
  /**
   * Returns a run in which `x` is skipped by choice, and a node whose members `keys` contain the expression under test.
   */
  function deciding(keys: Partial<WorkflowNode>, level: 1 | 2): { run: SteppedRun; node: NodeInstance } {
    const definition = definitionOf(level === 1 ? ONE_LEVEL : TWO_LEVELS, { ...keys, branch: 'first' });
    const edges = definition.edges.map((edge) => {
      if (edge.loop) return { ...edge, loop: { ...edge.loop, exit_when: CONDITION } };
      return edge.from === 'tail' ? { ...edge, when: CONDITION, on: 'always' as const } : edge;
    });
    const run = new SteppedRun({ ...definition, edges });
    const [back, around] = [edgeOf(run, 'tail', 'top'), edgeOf(run, 'foot', 'head')];
    if (level === 1) {
      without(whole(run, '@1').next(back, 2), '@2', 'by choice');
      return { run, node: run.node('tail@2') };
    }
    whole(run.complete('head@1', [0]), '@1@1').end(back, 'max', { path: [1], taken: [edgeOf(run, 'tail', 'foot')] });
    run.complete('foot@1').next(around, 2).complete('head@2', [0]);
    without(run, '@2@1', 'by choice');
    return { run, node: run.node('tail@2@1') };
  }

  test.each([1, 2] as const)('sees what it has left out, with %i levels of loops', (level) => {
    const keys: Partial<WorkflowNode> = {
      retry: { attempts: 2, when: CONDITION },
      each: { items: `[${CONDITION}]` },
      config: { until: `${CONDITION} ? timestamp("2030-01-01T00:00:00Z") : now`, prompt: 'x' },
    };
    const { run, node } = deciding(keys, level);
    const { evaluation } = placeOf(run, node.instance);
    expect(evaluation.isLoopLeft(loopAt(run, node.instance), node)).toBe(true);
    expect(evaluation.evaluateItems(node)).toEqual([true]);
    expect(evaluation.retriedWhen(node, {})).toBe(true);
    const leaving = run.state.graph.outgoing('tail').filter(({ edge }) => edge.when !== undefined);
    expect(leaving).toHaveLength(1);
    for (const status of ['completed', 'failed'] as const)
      expect(evaluation.decideEdges({ ...node, status }, leaving).taken).toEqual([leaving[0]?.index]);
  });

  test.each([1, 2] as const)('waits until a time that follows from it, with %i levels of loops', (level) => {
    const until = `${CONDITION} ? timestamp("2030-01-01T00:00:00Z") : now`;
    const { run, node } = deciding({ type: 'wait', config: { until } }, level);
    const { evaluation } = placeOf(run, node.instance);
    expect(evaluation.evaluateWaitEnd(node, new Date(0))).toEqual(new Date('2030-01-01T00:00:00Z'));
  });
});

describe('a node that has not run yet in an iteration', () => {
  test('keeps what it said in the iteration before, at every level', () => {
    const run = whole(new SteppedRun(definitionOf(ONE_LEVEL)), '@1')
      .next(5, 2)
      .complete('top@2');
    expect(read(run, 'gate@2')).toBe('x@1|x@1|true|completed');
    expect(read(run.start('pre@2'), 'gate@2')).toBe('x@1|x@1|true|completed');
    const nested = new SteppedRun(definitionOf(TWO_LEVELS));
    whole(nested.complete('head@1', [0]), '@1@1').end(edgeOf(nested, 'tail', 'top'), 'max', { path: [1] });
    nested.complete('foot@1').next(edgeOf(nested, 'foot', 'head'), 2);
    expect(read(nested, 'head@2')).toBe('x@1@1|x@1@1|true|completed');
    whole(nested.complete('head@2', [0]), '@2@1').next(edgeOf(nested, 'tail', 'top'), 2, { path: [2] });
    expect(read(nested.complete('top@2@2'), 'gate@2@2')).toBe('x@2@1|x@2@1|true|completed');
  });

  test('and that the iteration before has skipped has no older result', () => {
    const run = oneLevel('by choice').complete('tail@2').next(5, 3).complete('top@3');
    expect(read(run, 'gate@3')).toBe(NOTHING('skipped'));
    const nested = twoLevels('by choice', 1).complete('tail@2@1');
    nested.next(edgeOf(nested, 'tail', 'top'), 2, { path: [2] }).complete('top@2@2');
    expect(read(nested, 'gate@2@2')).toBe(NOTHING('skipped'));
  });

  test('is told by the node behind a loop once it has run: draft after review in three iterations', () => {
    const flow = flowOf('draft review', 'draft>review review>draft@3', {
      draft: { config: { prompt: '({{review}})' } },
    });
    const run = new SteppedRun(flow);
    const texts = [1, 2, 3].map((nth) => {
      if (nth > 1) run.next(1, nth);
      const text = read(run, `draft@${nth}`);
      run.complete(`draft@${nth}`, undefined, `d${nth}${text}`).complete(`review@${nth}`, undefined, `r${nth}`);
      return text;
    });
    expect(texts).toEqual(['({{review}})', '(r1)', '(r2)']);
  });
});

describe('a reference to a node that was left out', () => {
  test.each([
    [2, 'a||b'],
    [undefined, 'a|{{x}}|b'],
  ] as const)('is an empty text in language 2, and stays where there is no language: %s', (language, expected) => {
    const { language: _language, ...definition } = definitionOf(ONE_LEVEL);
    const prompt = 'a|{{x}}|b{{x.data}}{{nobody}}';
    const nodes = definition.nodes.map((node) => (node.id === 'tail' ? { ...node, config: { prompt } } : node));
    const run = whole(new SteppedRun({ ...definition, nodes, ...(language && { language }) }), '@1');
    without(run.next(edgeOf(run, 'tail', 'top'), 2), '@2', 'by choice');
    expect(read(run, 'tail@2')).toBe(`${expected}${language ? '' : '{{x.data}}'}{{nobody}}`);
    const { node, evaluation } = placeOf(run, 'tail@2');
    const warnings = templateWarnings(run.state.graph.node('tail'), evaluation.messageSource(node));
    expect(warnings.map(({ payload }) => payload['reference'])).toEqual(['{{x}}', '{{x.data}}', '{{nobody}}']);
    expect(warnings[0]?.payload['message']).toContain(language ? 'an empty text' : 'stays unchanged');
  });

  test('to one that has said an empty text is no warning', () => {
    const run = whole(new SteppedRun(definitionOf(ONE_LEVEL)), '@1');
    run.node('x@1').artifacts = [{ artifactId: 'x', parts: [textPart('')] }];
    const { node, evaluation } = placeOf(run, 'tail@1');
    expect(templateWarnings(run.state.graph.node('tail'), evaluation.messageSource(node))).toEqual([]);
  });
});

describe('the result of a run', () => {
  const base = workflowOf('in draft out1 review', 'in>draft draft>out1 draft>review out1>review', { language: 2 });
  const loop = { max_iterations: 3, exit_when: 'iteration == 3' };
  const definition = (when: string): WorkflowDefinition => ({
    ...base,
    edges: [
      ...base.edges.map((edge) => (edge.to === 'out1' ? { ...edge, when } : edge)),
      { from: 'review', to: 'draft', loop },
    ],
  });

  test('is empty where the last iteration has skipped its node, whenever a crash came', async () => {
    const run = await everyCrash(definition('iteration < 3'), () => answering());
    expect(run.task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'out1', parts: [{ text: '' }] }],
    });
    expect(run.state.stateMap()).not.toHaveProperty('out1');
    expect(run.steps).toContain('result.emptied out1@3');
  });

  test('stays where only an earlier iteration has skipped its node', async () => {
    const run = await everyCrash(definition('iteration > 1'), () => answering());
    expect(run.task.artifacts).toMatchObject([{ artifactId: 'out1', parts: [{ text: 'out1 done' }] }]);
    expect(run.payloads('result.emptied')).toEqual([]);
  });
});
