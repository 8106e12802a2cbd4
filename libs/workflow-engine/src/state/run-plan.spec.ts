import fc from 'fast-check';
import { type WorkflowDefinition, WorkflowGraph } from '#libs/workflow-definition';
import { stepEvent } from '../execution/run-ending.js';
import { plainPlan } from '../testing/golden-log.js';
import type { NodeInstance, NodeStatus } from './node-instance.js';
import { RunState, planNext } from './run-state.js';
import { a2aReceived, a2aSending, nodeCanceled, nodeCompleted, nodeError, nodeStarted } from './run-steps.js';

const reference = { taskId: 'run', contextId: 'context' };
const SENDING = { url: 'http://127.0.0.1', messageId: 'again' };

const dags = fc
  .tuple(
    fc.integer({ min: 1, max: 10 }),
    fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 20 }),
    fc.constantFrom('cancel' as const, 'continue' as const),
  )
  .map(([size, pairs, onFailure]): WorkflowDefinition => ({
    name: 'wf',
    onFailure,
    nodes: Array.from({ length: size }, (_, index) => ({ id: `n${index}`, type: 'agent', config: {} })),
    edges: pairs
      .filter(([from, to]) => from < to && to < size)
      .map(([from, to]) => ({ from: `n${from}`, to: `n${to}` })),
  }));

type Ending = 'completed' | 'failed' | 'waits';

/** Plays a run. Each step ends one running node, chosen by `picks`, with the outcome in `endings`. */
function play(
  definition: WorkflowDefinition,
  picks: number[],
  endings: Ending[],
): { state: RunState; started: string[]; outcome?: string } {
  const graph = WorkflowGraph.buildValid(definition);
  const state = new RunState(definition);
  const started: string[] = [];
  const running = (): NodeInstance[] => [...state.nodes.values()].filter((node) => node.status === 'running');
  for (let turn = 0; turn < 1000; turn++) {
    const plan = planNext(state, 0);
    if (plan.outcome && plan.outcome !== 'input-required') return { state, started, outcome: plan.outcome };
    for (const node of plan.stop)
      state.apply(stepEvent(reference, nodeCanceled.createNote(node, { outcome: 'not-started' })));
    for (const { id } of plan.start) {
      for (const predecessor of graph.predecessors(id)) expect(state.getNode(predecessor).status).toBe('completed');
      started.push(id);
      state.apply(stepEvent(reference, nodeStarted.createNote(state.getNode(id), { attempt: 1 })));
    }
    if (plan.outcome === 'input-required') {
      for (const node of state.frontier.waiting)
        state.apply(stepEvent(reference, a2aSending.createNote(node, SENDING)));
    }
    const open = running();
    const node = open[(picks[turn % picks.length] ?? 0) % Math.max(open.length, 1)];
    if (node) state.apply(stepEvent(reference, ended(node, endings[turn % endings.length] ?? 'completed')));
  }
  return { state, started };
}

function ended(node: NodeInstance, ending: Ending) {
  if (ending === 'failed') return nodeError.createNote(node, { error: 'boom', message: `node "${node.id}": boom` });
  if (ending === 'waits')
    return a2aReceived.createNote(node, { url: '', status: 'input-required', message: '', question: [] });
  return nodeCompleted.createNote(node, { status: 'completed', artifacts: [] });
}

/** Returns the ids of all nodes that can be reached from a node by edges. */
function descendants({ edges }: WorkflowDefinition, id: string): string[] {
  const found = new Set([id]);
  for (const from of found) for (const edge of edges) if (edge.from === from) found.add(edge.to);
  return [...found].slice(1);
}

describe('planNext', () => {
  test('any run of any DAG ends, starts no node twice and none before its predecessors', () => {
    const endings = fc.array(fc.constantFrom<Ending>('completed', 'completed', 'failed', 'waits'), { minLength: 1 });
    fc.assert(
      fc.property(dags, fc.array(fc.nat(9), { minLength: 1 }), endings, (definition, picks, how) => {
        fc.pre(how.some((ending) => ending !== 'waits'));
        const { state, started, outcome } = play(definition, picks, how);
        expect(new Set(started).size).toBe(started.length);
        const left = new Set<NodeStatus>([...state.nodes.values()].map((node) => node.status));
        for (const status of ['pending', 'running', 'input-required'] as const) expect(left).not.toContain(status);
        expect(outcome).toBe(left.has('failed') ? 'failed' : 'completed');
        if (outcome === 'completed') expect([...left]).toEqual(['completed']);
      }),
    );
  });

  test('continue skips exactly the descendants of what failed', () => {
    fc.assert(
      fc.property(dags, fc.nat(9), (definition, index) => {
        const failing = `n${index % definition.nodes.length}`;
        const graph = WorkflowGraph.buildValid({ ...definition, onFailure: 'continue' });
        const state = new RunState(graph.definition);
        for (let plan = planNext(state, 0); !plan.outcome; plan = planNext(state, 0)) {
          for (const { id } of plan.start) {
            state.apply(stepEvent(reference, ended(state.getNode(id), id === failing ? 'failed' : 'completed')));
          }
        }
        const skipped = [...state.nodes.values()].filter((node) => node.status === 'skipped').map((node) => node.id);
        expect(skipped.toSorted()).toEqual(descendants(definition, failing).toSorted());
      }),
    );
  });

  test('after a failure stops what is under way, and only then ends', () => {
    const definition: WorkflowDefinition = {
      name: 'wf',
      nodes: ['a', 'b', 'c'].map((id) => ({ id, type: 'agent', config: {} })),
      edges: [{ from: 'a', to: 'c' }],
    };
    const state = new RunState(definition);
    expect(plainPlan(planNext(state, 0))).toEqual({ ready: ['a', 'b'], stop: [] });
    for (const id of ['a', 'b'])
      state.apply(stepEvent(reference, nodeStarted.createNote(state.getNode(id), { attempt: 1 })));
    expect(plainPlan(planNext(state, 0))).toEqual({ ready: [], stop: [] });
    state.apply(stepEvent(reference, ended(state.getNode('b'), 'failed')));
    expect(plainPlan(planNext(state, 0))).toEqual({ ready: [], stop: ['a'] });
    state.apply(stepEvent(reference, nodeCanceled.createNote(state.getNode('a'), { outcome: 'acknowledged' })));
    expect(plainPlan(planNext(state, 0))).toEqual({ ready: [], stop: [], outcome: 'failed' });
    expect(state.getNode('c').status).toBe('skipped');
  });
});
