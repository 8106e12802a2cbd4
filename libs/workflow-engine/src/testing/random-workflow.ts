import fc from 'fast-check';
import {
  type Join,
  type WorkflowDefinition,
  type WorkflowEdge,
  WorkflowGraph,
  type WorkflowNode,
} from '#libs/workflow-definition';

/** Features that a random definition may have. */
export interface Constructs {
  loops: boolean;
  lists: boolean;
  cancelRest: boolean;
  /**
   * True to use the constructs that depend on time: `retry`, `timeout`, `onWait`, `wait` nodes, `deadline`, `parallel`
   * and `onExit`.
   */
  times: boolean;
}

const SIZE = 9;

/** Creates random valid definitions. */
export function workflows(constructs: Constructs): fc.Arbitrary<WorkflowDefinition> {
  const { loops, lists, cancelRest, times } = constructs;
  const maybe = <T>(arbitrary: fc.Arbitrary<T>, weight: number) =>
    fc.oneof({ weight, arbitrary }, { weight: 10 - weight, arbitrary: fc.constant(undefined) });
  return fc
    .record({
      size: fc.integer({ min: 1, max: SIZE }),
      pairs: fc.array(fc.tuple(fc.nat(SIZE - 1), fc.nat(SIZE - 1), edgeKeys), { maxLength: 18, size: 'max' }),
      joins: fc.array(maybe(joins(cancelRest), 5), { minLength: SIZE, maxLength: SIZE }),
      firsts: fc.array(fc.boolean(), { minLength: SIZE, maxLength: SIZE }),
      lists: fc.array(maybe(list, lists ? 2 : 0), { minLength: SIZE, maxLength: SIZE }),
      back: fc.array(fc.tuple(fc.nat(SIZE - 1), fc.nat(SIZE - 1), fc.integer({ min: 1, max: 3 }), fc.boolean()), {
        maxLength: loops ? 5 : 0,
        size: 'max',
      }),
      timed: fc.array(fc.nat(times ? 7 : 0), { minLength: SIZE, maxLength: SIZE }),
      onFailure: fc.constantFrom('cancel' as const, 'continue' as const),
      run: fc.record({ deadline: fc.nat(9), parallel: fc.nat(9), exits: fc.nat(9) }),
    })
    .map((parts): WorkflowDefinition => {
      const nodes = Array.from({ length: parts.size }, (_, at): WorkflowNode => {
        const [join, each] = [parts.joins[at], parts.lists[at]];
        const timed = timedKeys(parts.timed[at] ?? 0);
        return {
          id: `n${at}`,
          type: 'agent',
          config: {},
          ...(join && { join }),
          ...(parts.firsts[at] && at % 3 === 0 && { branch: 'first' as const }),
          ...timed,
          ...(each && timed.type === undefined && { each }),
        };
      });
      const edges: WorkflowEdge[] = parts.pairs
        .filter(([from, to]) => from < to && to < parts.size)
        .map(([from, to, keys]) => ({ from: `n${from}`, to: `n${to}`, ...keys }));
      const { deadline, parallel, exits } = times ? parts.run : { deadline: 0, parallel: 0, exits: 0 };
      const definition: WorkflowDefinition = {
        name: 'wf',
        onFailure: parts.onFailure,
        nodes: exits > 5 ? [...nodes, { id: 'exit', type: 'agent', config: {} }] : nodes,
        edges,
        ...(deadline > 6 && { deadline: '90s' }),
        ...(parallel > 5 && { parallel: parallel - 4 }),
        ...(exits > 5 && { onExit: [{ node: 'exit', on: (['always', 'success', 'failure'] as const)[exits % 3] }] }),
      };
      return withLoops(definition, parts.back);
    });
}

const edgeKeys: fc.Arbitrary<Pick<WorkflowEdge, 'when' | 'on'>> = fc.constantFrom(
  {},
  {},
  {},
  { when: 'true' },
  { on: 'failure' as const },
  { on: 'failure' as const, when: 'true' },
  { on: 'always' as const },
);

const list = fc.record({
  items: fc.constant('inputs.list'),
  concurrency: fc.integer({ min: 1, max: 3 }),
  onFailure: fc.constantFrom('fail' as const, 'collect' as const),
});

function joins(cancelRest: boolean): fc.Arbitrary<Join> {
  const counted = fc.record({ n: fc.integer({ min: 1, max: 3 }), cancelRest: fc.boolean() });
  return fc.oneof(fc.constant('any' as const), cancelRest ? counted : counted.map(({ n }) => ({ n })));
}

function timedKeys(kind: number): Partial<WorkflowNode> {
  if (kind === 1) return { type: 'wait', config: { for: '10s' } };
  if (kind === 2) return { retry: { attempts: 3, delay: '5s' } };
  if (kind === 3) return { timeout: '20s' };
  if (kind === 4) return { onWait: { deadline: '48h' }, timeout: '20s' };
  return kind === 5 ? { type: 'set' } : {};
}

type Back = readonly [number, number, number, boolean];

/** Returns the definition with additional back-edges: those of `back` that form valid loops. */
function withLoops(definition: WorkflowDefinition, back: readonly Back[]): WorkflowDefinition {
  let whole = definition;
  const isInside = (at: number) => definition.nodes[at] !== undefined && definition.nodes[at].id !== 'exit';
  for (const [from, to, max_iterations, isSlow] of back) {
    if (!isInside(from) || !isInside(to)) continue;
    const loop = { max_iterations, exit_when: 'true', ...(isSlow && { delay: '1m' }) };
    const edges = [...whole.edges, { from: `n${Math.max(from, to)}`, to: `n${Math.min(from, to)}`, loop }];
    const grown = { ...whole, edges };
    if (WorkflowGraph.fromDefinition(grown).fault === undefined) whole = grown;
  }
  return whole;
}
