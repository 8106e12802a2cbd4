import fc from 'fast-check';
import { type GraphEdge, type WorkflowDefinition, WorkflowGraph } from '#libs/workflow-definition';
import { fateOf } from '../testing/fate.js';
import { PlayedRun } from '../testing/played-run.js';
import { type Constructs, workflows } from '../testing/random-workflow.js';
import type { NodeInstance, NodeStatus } from './node-instance.js';
import type { RunState } from './run-state.js';

type State = 'undecided' | 'live' | 'off' | 'broken';

/**
 * Simple model of a workflow without loops. After each event, it determines the states of all nodes from the beginning,
 * by scanning them.
 */
class ScannedRun {
  private readonly ready = new Set<string>();
  private readonly damaged = new Set<string>();
  private readonly withdrawn = new Set<string>();
  private readonly statuses: Map<string, NodeStatus>;
  private readonly taken = new Map<string, readonly number[]>();
  private readonly graph: WorkflowGraph;

  constructor(readonly definition: WorkflowDefinition) {
    this.graph = WorkflowGraph.buildValid(definition);
    this.statuses = new Map(definition.nodes.map(({ id }) => [id, 'pending']));
    this.scan();
  }

  /** Copies the statuses that events have set. The other statuses (`pending`, `skipped`) are determined by a scan. */
  take(nodes: Iterable<NodeInstance>): void {
    for (const { id, status, taken } of nodes) {
      if (status === 'skipped' || status === 'pending') continue;
      this.statuses.set(id, status);
      if (taken) this.taken.set(id, taken);
    }
    this.scan();
  }

  settled(active: readonly NodeInstance[]): object {
    return {
      ready: [...this.ready].toSorted(),
      skipped: this.with('skipped').toSorted(),
      isFailing: this.unhandled.length > 0,
      withdrawn: this.isStruck ? [] : idsOf(active.filter(({ id }) => this.withdrawn.has(id))),
    };
  }

  /** Failed nodes whose failure reaches the end of the run without an edge that handles it. */
  private get unhandled(): string[] {
    return this.with('failed').filter((id) => !this.withdrawn.has(id) && !this.isHandled(id) && this.reachesEnd(id));
  }

  private get isStruck(): boolean {
    return this.definition.onFailure !== 'continue' && this.unhandled.length > 0;
  }

  private with(status: NodeStatus): string[] {
    return [...this.statuses].filter(([, it]) => it === status).map(([id]) => id);
  }

  private scan(): void {
    for (let changed = true; changed;) {
      changed = this.with('pending').some((id) => this.settle(id));
    }
    if (this.isStruck) for (const id of this.with('pending')) this.statuses.set(id, 'skipped');
    for (const id of this.ready) if (this.statuses.get(id) !== 'pending') this.ready.delete(id);
  }

  /** Determines the status of a node from its incoming edges. @returns true if the status changed */
  private settle(id: string): boolean {
    const states = this.graph.incoming(id).map((edge) => this.state(edge));
    const count = (state: State) => states.filter((it) => it === state).length;
    const { join = 'all' } = this.graph.node(id);
    const needed = join === 'all' ? undefined : join === 'any' ? 1 : join.n;
    const isOpen = count('undecided') > 0 && count('broken') === 0;
    const isOut = needed === undefined ? count('broken') > 0 : !isOpen && count('live') + count('undecided') < needed;
    const isOff = needed === undefined && !isOpen && count('live') === 0;
    if (states.length > 0 && (isOut || isOff)) {
      this.statuses.set(id, 'skipped');
      if (isOut && count('broken') > 0) this.damaged.add(id);
      return true;
    }
    const isReady = states.length === 0 || (needed === undefined ? count('undecided') === 0 : count('live') >= needed);
    if (!isReady || this.ready.has(id)) return false;
    this.ready.add(id);
    if (typeof join === 'object' && join.cancelRest) this.cancelBefore(id);
    return true;
  }

  private cancelBefore(join: string): void {
    for (const [id, status] of this.statuses) {
      if (id === join || !this.leadsOnlyTo(id, join)) continue;
      if (status === 'pending') this.statuses.set(id, 'skipped');
      if (status === 'running' || status === 'input-required') this.withdrawn.add(id);
    }
  }

  private leadsOnlyTo(id: string, join: string): boolean {
    const edges = this.graph.outgoing(id);
    if (edges.length === 0 || this.graph.isResult(id)) return false;
    return edges.every(({ to }) => to === join || this.leadsOnlyTo(to, join));
  }

  private state({ from, index, edge: { on = 'success', when } }: GraphEdge): State {
    const status = this.statuses.get(from);
    if (status === 'skipped') return this.damaged.has(from) ? 'broken' : 'off';
    if (status !== 'completed' && status !== 'failed')
      return status === 'canceled' && this.withdrawn.has(from) ? 'off' : 'undecided';
    if (status === 'failed' && this.withdrawn.has(from)) return 'off';
    const isMeant = on === 'always' || (on === 'success') === (status === 'completed');
    if (isMeant) return (this.taken.get(from)?.includes(index) ?? when === undefined) ? 'live' : 'off';
    return status === 'failed' && on === 'success' && !this.isHandled(from) ? 'broken' : 'off';
  }

  private isHandled(id: string): boolean {
    return this.graph
      .outgoing(id)
      .some(({ index, edge: { on = 'success', when } }) =>
        on === 'success' ? false : (this.taken.get(id)?.includes(index) ?? when === undefined),
      );
  }

  private reachesEnd(id: string): boolean {
    const broken = this.graph.outgoing(id).filter((edge) => this.state(edge) === 'broken');
    return broken.length === 0 || broken.some(({ to }) => this.damaged.has(to) && this.reachesEnd(to));
  }
}

function settledBy({ frontier, nodes }: RunState): object {
  return {
    ready: idsOf(frontier.ready),
    skipped: idsOf([...nodes.values()].filter(({ status }) => status === 'skipped')),
    isFailing: frontier.isFailing,
    withdrawn: frontier.isFailingFast ? [] : idsOf(frontier.nodesToCancel),
  };
}

function idsOf(nodes: readonly NodeInstance[]): string[] {
  return nodes.map(({ id }) => id).toSorted();
}

const FLAT: Constructs = { loops: false, lists: false, cancelRest: true, times: false };

describe('Settlement', () => {
  test('settles after every event of any run without loops what a scan of all its nodes settles', () => {
    fc.assert(
      fc.property(workflows(FLAT), fc.nat(), fc.nat(), (definition, seed, order) => {
        const scanned = new ScannedRun(definition);
        const applied = ({ state }: PlayedRun) => {
          scanned.take(state.nodes.values());
          expect(settledBy(state)).toEqual(scanned.settled(state.frontier.active));
        };
        const run = new PlayedRun(definition, fateOf(seed), fateOf(order), { applied });
        run.play();
        expect(run.outcome).toBeDefined();
      }),
      { numRuns: 1000 },
    );
  });

  test('makes of a workflow whose loops run once what it makes of the same without loops', () => {
    const once = (seed: number) => {
      const fate = fateOf(seed);
      return (question: string, options: number) => {
        if (question.startsWith('loop')) return question.endsWith('exits') ? 0 : 1;
        return fate(question.replaceAll('@1', ''), options);
      };
    };
    fc.assert(
      fc.property(
        workflows({ ...FLAT, cancelRest: false, loops: true }),
        fc.nat(),
        fc.tuple(fc.nat(), fc.nat()),
        (random, seed, orders) => {
          const nodes = random.nodes.map(({ branch: _branch, ...node }) => node);
          const repeating: WorkflowDefinition = { ...random, nodes, onFailure: 'continue' };
          const flat = { ...repeating, edges: repeating.edges.filter(({ loop }) => loop === undefined) };
          const [looped, plain] = [repeating, flat].map((definition, at) => {
            const run = new PlayedRun(definition, once(seed), fateOf(orders[at] ?? 0));
            run.play();
            return run;
          });
          const statuses = (run: PlayedRun | undefined) =>
            [...(run?.state.nodes.values() ?? [])].map(({ id, status }) => [id, status]);
          expect(statuses(looped)).toEqual(statuses(plain));
          // With the loop, an edge out of it may handle a failure that would reach the end of the run without the loop.
          if (looped?.outcome === 'failed') expect(plain?.outcome).toBe('failed');
        },
      ),
      { numRuns: 1000 },
    );
  });
});
