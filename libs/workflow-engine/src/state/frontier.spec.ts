import fc from 'fast-check';
import { statusUpdate, type TaskState, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { type WorkflowDefinition, WorkflowGraph } from '#libs/workflow-definition';
import { stepEvent } from '../execution/run-ending.js';
import { plainPlan } from '../testing/golden-log.js';
import type { NodeInstance, NodeStatus } from './node-instance.js';
import { RunState, planNext } from './run-state.js';
import { a2aReceived, a2aSending, nodeCanceled, nodeCompleted, nodeError, nodeStarted } from './run-steps.js';

const reference = { taskId: 'run', contextId: 'context' };

/** Acyclic graphs whose nodes are defined in any order, and that may have duplicate edges. */
const dags = fc
  .record({
    size: fc.integer({ min: 1, max: 12 }),
    pairs: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 40, size: 'max' }),
    onFailure: fc.constantFrom('cancel' as const, 'continue' as const, undefined),
    shuffle: fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
  })
  .map(({ size, pairs, onFailure, shuffle }): WorkflowDefinition => {
    const places = Array.from({ length: size }, (_, index) => index);
    const order = places.toSorted((a, b) => (shuffle[a] ?? 0) - (shuffle[b] ?? 0));
    return {
      name: 'wf',
      ...(onFailure && { onFailure }),
      nodes: order.map((index) => ({ id: `n${index}`, type: 'agent', config: {} })),
      edges: pairs
        .filter(([from, to]) => from < to && to < size)
        .map(([from, to]) => ({ from: `n${from}`, to: `n${to}` })),
    };
  });

const KINDS = ['started', 'sending', 'waits', 'completed', 'failed', 'canceled'] as const;
type Kind = (typeof KINDS)[number];

function eventOf(kind: Kind, node: Pick<NodeInstance, 'id' | 'type'>): TaskEvent {
  const url = 'http://127.0.0.1';
  const notes = {
    started: () => nodeStarted.createNote(node, { attempt: 1 }),
    sending: () => a2aSending.createNote(node, { url, messageId: 'm' }),
    waits: () => a2aReceived.createNote(node, { url, status: 'input-required', message: '', question: [] }),
    completed: () => nodeCompleted.createNote(node, { status: 'completed', artifacts: [] }),
    failed: () => nodeError.createNote(node, { error: 'boom', message: 'boom' }),
    canceled: () => nodeCanceled.createNote(node, { outcome: 'acknowledged' }),
  };
  return stepEvent(reference, notes[kind]());
}

/** Simple model of a run. It stores no derived data, and scans all statuses for each query. */
class ScannedRun {
  readonly statuses: Map<string, NodeStatus>;
  private readonly sent = new Set<string>();

  constructor(private readonly definition: WorkflowDefinition) {
    this.statuses = new Map(definition.nodes.map(({ id }) => [id, 'pending']));
  }

  take(kind: Kind, id: string): void {
    const becomes = { started: 'running', sending: 'running', waits: 'input-required' } as const;
    this.statuses.set(id, kind in becomes ? becomes[kind as keyof typeof becomes] : (kind as NodeStatus));
    if (kind === 'started') this.sent.delete(id);
    if (kind === 'sending') this.sent.add(id);
    if (kind !== 'failed') return;
    const doomed = this.definition.onFailure === 'continue' ? this.descendants(id) : [...this.statuses.keys()];
    for (const it of doomed) if (this.statuses.get(it) === 'pending') this.statuses.set(it, 'skipped');
  }

  end(): void {
    for (const [id, status] of this.statuses) {
      if (status === 'pending') this.statuses.set(id, 'skipped');
      if (status === 'running' || status === 'input-required') this.statuses.set(id, 'canceled');
    }
  }

  with(...statuses: NodeStatus[]): string[] {
    return this.ids.filter((id) => statuses.includes(this.statuses.get(id) as NodeStatus));
  }

  get ready(): string[] {
    return this.with('pending').filter((id) =>
      this.definition.edges.every(({ from, to }) => to !== id || this.statuses.get(from) === 'completed'),
    );
  }

  get unsent(): string[] {
    return this.with('running').filter((id) => !this.sent.has(id));
  }

  get plan(): { ready: string[]; stop: string[]; outcome?: string } {
    const failed = this.with('failed').length > 0;
    const stop = this.with('running', 'input-required');
    if (failed && this.definition.onFailure !== 'continue')
      return { ready: [], stop, ...(stop.length === 0 && { outcome: 'failed' }) };
    const { ready } = this;
    if (ready.length > 0 || this.with('running').length > 0) return { ready, stop: [] };
    return { ready, stop: [], outcome: stop.length > 0 ? 'input-required' : failed ? 'failed' : 'completed' };
  }

  private get ids(): string[] {
    return this.definition.nodes.map(({ id }) => id);
  }

  private descendants(id: string): string[] {
    const found = new Set([id]);
    for (const at of found) for (const { from, to } of this.definition.edges) if (from === at) found.add(to);
    return [...found].slice(1);
  }
}

/** Returns the results of all queries of the frontier. */
function answers(state: RunState): object {
  const { ready, running, undispatchedNodes: unsent, waiting, active } = state.frontier;
  const lists = Object.entries({ ready, running, unsent, waiting, active });
  return {
    ...Object.fromEntries(lists.map(([name, nodes]) => [name, nodes.map(({ id }) => id)])),
    statuses: [...state.nodes.values()].map(({ id, status }) => [id, status]),
    plan: plainPlan(planNext(state, 0)),
  };
}

function scanned(run: ScannedRun): object {
  return {
    ready: run.ready,
    running: run.with('running'),
    unsent: run.unsent,
    waiting: run.with('input-required'),
    active: run.with('running', 'input-required'),
    statuses: [...run.statuses],
    plan: run.plan,
  };
}

/**
 * Random choices of the next events: a node and a kind of event. Most choices fit a running node, a few are arbitrary.
 */
const moves = fc.array(
  fc.record({ pick: fc.noBias(fc.nat(999)), kind: fc.constantFrom(...KINDS), wild: fc.noBias(fc.nat(9)) }),
  { maxLength: 60, size: 'max' },
);
type Move = { pick: number; kind: Kind; wild: number };

/** Returns the next event of a run. It follows the plan of the run, or is arbitrary if `wild` is below `wildness`. */
function chosen({ pick, kind, wild }: Move, run: ScannedRun, wildness: number): { kind: Kind; id: string } | undefined {
  const { plan, unsent } = run;
  const ids = [...run.statuses.keys()];
  const from = (list: readonly string[]) => list[pick % list.length];
  if (wild < wildness) return { kind, id: from(ids) as string };
  const [stopped] = plan.stop;
  if (stopped !== undefined) return { kind: 'canceled', id: stopped };
  if (plan.ready[0] !== undefined && pick % 2 === 0) return { kind: 'started', id: plan.ready[0] };
  if (unsent[0] !== undefined) return { kind: 'sending', id: unsent[0] };
  const under = from(run.with('running', 'input-required'));
  if (under !== undefined) return { kind: kind === 'started' || kind === 'canceled' ? 'completed' : kind, id: under };
  const next = from(plan.ready);
  return next === undefined ? undefined : { kind: 'started', id: next };
}

function playBoth(definition: WorkflowDefinition, all: readonly Move[], wildness: number): TaskEvent[] {
  const state = new RunState(definition);
  const run = new ScannedRun(definition);
  const log: TaskEvent[] = [];
  expect(answers(state)).toEqual(scanned(run));
  for (const move of all) {
    const next = chosen(move, run, wildness);
    if (next === undefined) break;
    const event = eventOf(next.kind, state.getNode(next.id));
    log.push(event);
    state.apply(event);
    run.take(next.kind, next.id);
    expect(answers(state)).toEqual(scanned(run));
  }
  return log;
}

/** Creates a run of nodes in a row, with `onFailure: "continue"`. */
function chainOf(...ids: string[]): RunState {
  const nodes = ids.map((id) => ({ id, type: 'agent', config: {} }));
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index] ?? '', to }));
  return new RunState({ name: 'wf', nodes, edges, onFailure: 'continue' });
}

describe('Frontier', () => {
  test('says after every event of any run of any DAG what a scan of all its nodes says', () => {
    fc.assert(
      fc.property(dags, moves, (definition, all) => void playBoth(definition, all, 0)),
      { numRuns: 200 },
    );
  });

  test('says so too of events that no run tells', () => {
    fc.assert(
      fc.property(dags, moves, fc.integer({ min: 1, max: 10 }), (definition, all, wildness) => {
        playBoth(definition, all, wildness);
      }),
      { numRuns: 200 },
    );
  });

  test('of a log that is read anew is that of the run that wrote it, wherever it was cut', () => {
    fc.assert(
      fc.property(dags, moves, fc.nat(), (definition, all, at) => {
        const log = playBoth(definition, all, 1);
        const lived = RunState.fromEvents(definition, log);
        const cut = at % (log.length + 1);
        const read = RunState.fromEvents(definition, JSON.parse(JSON.stringify(log.slice(0, cut))) as TaskEvent[]);
        for (const event of log.slice(cut)) read.apply(event);
        expect(answers(read)).toEqual(answers(lived));
      }),
    );
  });

  test('has nothing left when the run has ended, however it ended', () => {
    const ends = fc.constantFrom<TaskState>('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED');
    fc.assert(
      fc.property(dags, moves, ends, (definition, all, end) => {
        const log = playBoth(definition, all, 0);
        const state = RunState.fromEvents(definition, [...log, statusUpdate(reference, end)]);
        const run = new ScannedRun(definition);
        for (const node of RunState.fromEvents(definition, log).nodes.values()) run.statuses.set(node.id, node.status);
        run.end();
        expect([...state.nodes.values()].map(({ id, status }) => [id, status])).toEqual([...run.statuses]);
        expect(answers(state)).toMatchObject({ ready: [], running: [], waiting: [], active: [], unsent: [] });
      }),
    );
  });

  test('an answer that reaches the waiting node makes it run', () => {
    const state = chainOf('a');
    for (const kind of ['started', 'sending', 'waits'] as const) state.apply(eventOf(kind, state.getNode('a')));
    state.apply({ ...statusUpdate(reference, 'TASK_STATE_WORKING'), received: userMessage('this') });
    expect(planNext(state, 0).outcome).toBe('input-required');
    state.apply(eventOf('sending', state.getNode('a')));
    expect(plainPlan(planNext(state, 0))).toEqual({ ready: [], stop: [] });
  });

  test('a node that begins anew is waited for again', () => {
    const state = chainOf('a', 'b');
    const readyAfter = (kind: Kind) => {
      state.apply(eventOf(kind, state.getNode('a')));
      return state.frontier.ready.map(({ id }) => id);
    };
    expect(readyAfter('completed')).toEqual(['b']);
    expect(readyAfter('completed')).toEqual(['b']);
    expect(readyAfter('started')).toEqual([]);
    expect(readyAfter('completed')).toEqual(['b']);
  });

  test('what descends from a failure is skipped, whatever has become of what lies between', () => {
    const state = chainOf('a', 'b', 'c');
    for (const [id, kind] of [['b', 'completed'] as const, ['a', 'failed'] as const])
      state.apply(eventOf(kind, state.getNode(id)));
    expect([...state.nodes.values()].map(({ status }) => status)).toEqual(['failed', 'completed', 'skipped']);
  });

  test('of a definition that is no DAG has nothing ready on its cycle', () => {
    const nodes = ['a', 'b', 'c'].map((id) => ({ id, type: 'agent', config: {} }));
    const edges = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a' },
      { from: 'c', to: 'nobody' },
    ];
    const state = new RunState({ name: 'wf', nodes, edges });
    expect(state.frontier.ready.map(({ id }) => id)).toEqual(['c']);
    expect(WorkflowGraph.fromDefinition(state.definition).fault).toBeDefined();
  });
});
