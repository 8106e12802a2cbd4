import fc from 'fast-check';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { flowOf } from '../../../../test/support/flow-of.js';
import { fateOf } from '../testing/fate.js';
import { PlayedRun } from '../testing/played-run.js';
import { type Constructs, workflows } from '../testing/random-workflow.js';
import { SteppedRun } from '../testing/stepped-run.js';
import { formatInstanceName, type NodeInstance, type NodeStatus } from './node-instance.js';
import { RunState, planNext } from './run-state.js';

const ALL: Constructs = { loops: true, lists: true, cancelRest: true, times: true };

const ENDED: readonly NodeStatus[] = ['completed', 'failed', 'canceled', 'skipped'];

/** True if the source of an edge (a node or a loop) has ended, judged only by the statuses of its nodes. */
function hasEnded(
  run: PlayedRun,
  path: readonly number[],
  edge: { from: string; source: { inner?: { loop?: { index: number } } } },
): boolean {
  const { state } = run;
  const loop = edge.source.inner?.loop;
  if (loop === undefined) return ENDED.includes(state.getInstance(formatInstanceName(edge.from, path)).status);
  const found = state.progress.scopes.findLoop({ edge: loop.index, path });
  return found === undefined ? state.getNode(edge.from).status === 'skipped' : found.loop?.reason !== undefined;
}

/** Asserts that an instance which is about to start may start: checks the invariants of its predecessors. */
function mayStart(node: NodeInstance, run: PlayedRun): void {
  const { state } = run;
  const { graph } = state;
  const saw = `${node.instance} of ${JSON.stringify(run.definition)}`;
  if (node.status !== 'pending' && node.waitsFor?.state !== 'retry')
    throw new Error(`started while ${node.status}: ${saw}`);
  if (node.list) {
    if (node.list.status !== 'running') throw new Error(`its list is ${node.list.status}: ${saw}`);
    return;
  }
  if (graph.exits.has(node.id)) {
    if (state.frontier.ending === undefined) throw new Error(`the end is not known: ${saw}`);
    return;
  }
  const unit = graph.regions.findUnit(node.id);
  const incoming = unit?.incoming ?? [];
  const ended = incoming.filter((edge) => hasEnded(run, node.path, edge)).length;
  const wanted = Math.min(unit?.needed ?? Infinity, incoming.length);
  if (ended < wanted) throw new Error(`${ended} of ${wanted} edges have settled: ${saw}`);
}

function playAny(definition: WorkflowDefinition, seed: number, order: number): PlayedRun {
  const run = new PlayedRun(definition, fateOf(seed), fateOf(order), { beforeStart: mayStart });
  if (!run.play()) throw new Error(`it does not end: ${JSON.stringify(definition)}`);
  return run;
}

/** Returns the results of all queries of a run, for comparisons. */
function answers(state: RunState, now: number): object {
  const plan = planNext(state, now);
  const names = (nodes: readonly NodeInstance[]) => nodes.map(({ instance }) => instance);
  const loop = (run: { loop: { index: number }; path: readonly number[]; iteration: number }) => [
    run.loop.index,
    run.path,
    run.iteration,
  ];
  const decide = plan.decide.map((it) =>
    'node' in it ? [it.kind, it.node.instance] : 'loop' in it ? [it.kind, ...loop(it.loop)] : [it.kind],
  );
  const fire = plan.fire.map(({ kind, at, node }) => [kind, at, node?.instance]);
  const nodes = [...state.instances.values()].map(({ list, each, ...node }) => ({
    ...node,
    list: list?.instance,
    each: each && { ...each, runs: names(each.runs), firstFailed: each.firstFailed?.instance },
  }));
  const { error, frontier } = state;
  return {
    plan: { ...plan, stop: names(plan.stop), answer: names(plan.answer), start: names(plan.start), decide, fire },
    nodes,
    newest: [...state.nodes.values()].map(({ instance }) => instance),
    error,
    lists: {
      waiting: names(frontier.waiting),
      running: names(frontier.running),
      unsent: names(frontier.undispatchedNodes),
    },
    isFailing: frontier.isFailing,
    isBeingCanceled: frontier.isBeingCanceled,
  };
}

function count(run: PlayedRun, type: string, instance: string): number {
  return run.log.filter((event) => {
    const note = noteOf(event);
    return note?.type === type && (note.instance ?? note.node_id) === instance;
  }).length;
}

function noteOf(event: TaskEvent): { type: string; node_id?: string; instance?: string } | undefined {
  const metadata = 'statusUpdate' in event ? event.statusUpdate.metadata : undefined;
  return metadata?.['parley/event'] as { type: string; node_id?: string; instance?: string } | undefined;
}

const seeds = fc.tuple(fc.nat(), fc.nat());

describe('Progress', () => {
  test('brings any run of any definition to an end, with all of it settled and nothing begun twice', () => {
    fc.assert(
      fc.property(workflows(ALL), seeds, (definition, [seed, order]) => {
        const run = playAny(definition, seed, order);
        const { state, outcome } = run;
        for (const node of state.instances.values()) {
          expect([node.instance, ENDED.includes(node.status) || node.status]).toEqual([node.instance, true]);
          const starts = count(run, 'node.started', node.instance);
          const retries = count(run, 'node.retrying', node.instance);
          const expected = node.status === 'canceled' ? [retries, retries + 1] : [starts === 0 ? 0 : retries + 1];
          expect([node.instance, expected.includes(starts) || starts]).toEqual([node.instance, true]);
        }
        expect(outcome).toBe(state.frontier.isFailing ? 'failed' : 'completed');
        expect(state.error !== undefined).toBe(outcome === 'failed');
        expect(state.frontier.timers.ofNodes).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });

  test('reports each skip once, and never of an instance that ran', () => {
    fc.assert(
      fc.property(workflows(ALL), seeds, (definition, [seed, order]) => {
        const { state, log } = playAny(definition, seed, order);
        const reported = log.flatMap((event) => {
          const note = noteOf(event);
          return note?.type === 'node.skipped'
            ? (note as unknown as { payload: { instances: string[] } }).payload.instances
            : [];
        });
        const skipped = [...state.instances.values()].filter(({ status }) => status === 'skipped');
        const expected = state.graph.isPlain ? [] : skipped.map(({ instance }) => instance);
        expect(reported.toSorted()).toEqual(expected.toSorted());
      }),
      { numRuns: 300 },
    );
  });

  test('is the same however the log is cut that it is read from', () => {
    fc.assert(
      fc.property(workflows(ALL), seeds, fc.nat(), (definition, [seed, order], at) => {
        const { log, state, now } = playAny(definition, seed, order);
        const cut = at % (log.length + 1);
        const read = RunState.fromEvents(definition, log.slice(0, cut));
        const whole = RunState.fromEvents(definition, log.slice(0, cut));
        planNext(read, now);
        expect(answers(read, now)).toEqual(answers(whole, now));
        for (const event of log.slice(cut)) {
          read.apply(event);
          planNext(read, now);
        }
        expect(answers(read, now)).toEqual(answers(state, now));
      }),
      { numRuns: 300 },
    );
  });

  test('costs each edge once, however long the run', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
    const edges = ids.slice(1).map((to, index) => ({ from: ids[index] ?? '', to, when: 'true' }));
    const nodes = ids.map((id) => ({ id, type: 'agent', config: {} }));
    const run = new SteppedRun({ name: 'wf', nodes, edges });
    let planned = 0;
    for (const id of ids) {
      const { start, decide, report } = planNext(run.state, 0);
      planned += start.length + decide.length + report.length;
      run.complete(id, edges[planned - 1] ? [planned - 1] : []);
    }
    expect(planned).toBe(ids.length);
    expect(run.state.progress.settlement.visits).toBe(edges.length);
    const read = RunState.fromEvents(run.definition, run.log);
    expect(read.progress.settlement.visits).toBe(edges.length);
    expect(planNext(read, 0)).toMatchObject({ outcome: 'completed' });
  });

  test('costs each edge once where a failure skips all that is behind it', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
    const edges = ids.slice(1).map((to, index) => ({ from: ids[index] ?? '', to }));
    const nodes = ids.map((id) => ({ id, type: 'agent', config: {} }));
    const { state } = new SteppedRun({ name: 'wf', nodes, edges, onFailure: 'continue' }).fail('n0');
    expect(state.getNode('n9999').status).toBe('skipped');
    expect(state.progress.settlement.visits).toBe(edges.length);
  });

  test('has no more entries of a list at hand than are at work', () => {
    const items = Array.from({ length: 10_000 }, (_, index) => index);
    const run = new SteppedRun(flowOf('m', '', { m: { each: { items: 'inputs.list' } } })).items('m', ...items);
    let planned = 0;
    let most = 0;
    for (const index of items) {
      const { start } = planNext(run.state, 0);
      planned += start.length;
      most = Math.max(most, run.state.frontier.ready.length + run.state.frontier.active.length);
      for (const { instance } of start) run.start(instance);
      run.complete(`m[${index}]`);
    }
    expect(planned).toBe(items.length);
    expect(most).toBe(5);
    expect(run.plan).toEqual({ decide: ['list m'] });
  });
});
