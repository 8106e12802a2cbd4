import { decide, type EvaluationBudget, evaluate, pointInTime } from '#libs/expressions';
import type { JsonValue } from '#libs/protocol';
import { DecisionBudgets, type StepCounter } from './expressions/decision-budgets.js';
import { chooseEdges, type EdgeChoice } from './expressions/edge-choice.js';
import { evaluating, FailedExpression } from './expressions/failed-expression.js';
import { RunExpressions } from './expressions/run-expressions.js';
import { type KnownRun, type Moment, runVariables, type Viewpoint } from './expressions/run-variables.js';
import type { GraphEdge } from './graph-edge.js';
import type { LoopRun } from './loop-run.js';
import type { MessageSource } from './node-message.js';
import type { NodeRun } from './node-run.js';
import type { RunState } from './run-state.js';

/**
 * Evaluates the expressions of a run against its folded state. An instance that is about to end is seen as ended:
 * decisions that depend on its end are made before the end is recorded.
 */
export class RunEvaluation {
  private readonly expressions: RunExpressions;
  private readonly budgets: DecisionBudgets;

  constructor(
    private readonly state: RunState,
    private readonly run: KnownRun,
    readonly steps?: StepCounter,
  ) {
    this.budgets = new DecisionBudgets(steps);
    const { loops } = state.graph;
    const isRepeated = (id: string, other: string) => loops.some(({ body }) => body.has(id) && body.has(other));
    this.expressions = RunExpressions.of(state.definition, isRepeated);
  }

  /** Reason why no run of the definition can continue. */
  get fault(): string | undefined {
    return this.expressions.fault;
  }

  /** True if the definition has expressions. */
  get isNeeded(): boolean {
    return this.expressions.hasAny;
  }

  /** Begins a decision. Its expressions are evaluated together and share a budget of steps. */
  begin(): void {
    this.budgets.begin();
  }

  /** Returns a budget that several expressions share. */
  sharedBudget(): EvaluationBudget {
    return this.budgets.next();
  }

  /** Begins a decision and returns the source for the Message to an instance and for its templates. */
  source(node: NodeRun): MessageSource {
    this.begin();
    return this.sourceAt(node, this.moment(node));
  }

  /** Returns the same source at a moment of a decision. */
  sourceAt(node: NodeRun, moment: Moment): MessageSource {
    const { state, expressions, budgets } = this;
    const { inputs, text, files, definition } = state;
    const takesFiles = node.type === 'input' || definition.nodes.every(({ type }) => type !== 'input');
    const at = this.viewpoint(node);
    const nodes = { get: (id: string) => (state.graph.has(id) ? at.node(id) : undefined) };
    const repeated = this.repeated(node);
    return {
      inputs,
      nodes,
      carries: (edge) => state.isTaken(edge, node),
      ...(text !== undefined && { text }),
      ...(takesFiles && files.length > 0 && { files }),
      ...(repeated.length > 0 && { repeated }),
      ...(definition.language === 2 && {
        leavesOut: (id: string) => state.graph.has(id) && state.isLeftOut(at.node(id) ?? node),
        language: { expressions, variables: runVariables(at, moment), budgets },
      }),
    };
  }

  /** Decides which outgoing edges of an instance are taken. */
  edges(ended: NodeRun, edges: readonly GraphEdge[], budget = this.budgets.next()): EdgeChoice {
    const error = ended.status === 'failed' ? (ended.failure ?? null) : null;
    const variables = runVariables(this.viewpoint(ended), { error });
    return chooseEdges(edges, this.state.graph.node(ended.id).branch, ({ index }) => {
      const when = this.expressions.when(index);
      if (when === undefined) return true;
      return this.evaluated(`edges[${index}].when`, budget, () => decide(when, variables, budget));
    });
  }

  /** True if `retry.when` allows another attempt. @throws FailedExpression */
  retriedWhen(node: NodeRun, moment: Moment): boolean {
    const when = this.expressions.ofNode(node.id, 'retry.when');
    const budget = this.budgets.next();
    if (when === undefined) return true;
    return this.evaluated('retry.when', budget, () => decide(when, this.variables(node, moment), budget));
  }

  /** Evaluates the list that a node processes. @throws FailedExpression */
  items(node: NodeRun): JsonValue[] {
    const items = this.expressions.ofNode(node.id, 'each.items');
    const budget = this.budgets.next();
    const value = items && this.evaluated('each.items', budget, () => evaluate(items, this.variables(node), budget));
    if (!Array.isArray(value)) throw new FailedExpression('each.items gives no list');
    return value;
  }

  /** Evaluates the end of a wait; `undefined` without an expression. @throws FailedExpression */
  until(node: NodeRun, now: Date): Date | undefined {
    const until = this.expressions.ofNode(node.id, 'config.until');
    const budget = this.budgets.next();
    return (
      until && this.evaluated('config.until', budget, () => pointInTime(until, this.variables(node, { now }), budget))
    );
  }

  /** True if the loop ends, as its last node sees it. @throws FailedExpression */
  exits({ loop }: LoopRun, last: NodeRun): boolean {
    const budget = this.budgets.next();
    const exit = this.expressions.exitWhen(loop.index);
    const member = `edges[${loop.index}].loop.exit_when`;
    return exit !== undefined && this.evaluated(member, budget, () => decide(exit, this.variables(last), budget));
  }

  private evaluated<T>(member: string, budget: EvaluationBudget, evaluate: () => T): T {
    return evaluating(member, () => this.budgets.within(budget, evaluate));
  }

  private variables(node: NodeRun, moment?: Moment): ReturnType<typeof runVariables> {
    return runVariables(this.viewpoint(node), { ...this.moment(node), ...moment });
  }

  /** Returns the variables of an `onExit` node: the error of the run, if any. */
  private moment({ id }: NodeRun): Moment {
    const { graph, error } = this.state;
    if (!graph.exits.has(id)) return {};
    return { error: error ? { kind: 'failed', ...error } : null };
  }

  private viewpoint(from: NodeRun): Viewpoint {
    const { state, run, expressions } = this;
    const { index, list, path } = from;
    const item = index === undefined ? undefined : list?.each?.items?.[index];
    const iteration = path.at(-1);
    const place = state.instance(from.instance);
    const node = (id: string): NodeRun => (id === from.id && hasEnded(from) ? from : state.seen(id, place));
    return {
      run,
      inputs: state.inputs,
      ids: expressions.ids,
      node,
      loop: (id) => loopValue(state.loopOf(id === from.id ? place : state.seen(id, place))),
      ...(item !== undefined && { item }),
      ...(index !== undefined && { index }),
      ...(iteration !== undefined && { iteration }),
    };
  }

  /** Returns what the first node of a loop receives from the previous iteration: the result of the loop's last node. */
  private repeated(node: NodeRun): (string | NodeRun)[] {
    const around = this.state.graph.loops.filter(({ body }) => body.has(node.id));
    return around
      .toSorted((one, other) => other.body.size - one.body.size)
      .flatMap(({ to, from, config: { initial } }, depth): (string | NodeRun)[] => {
        if (to !== node.id) return [];
        if ((node.path[depth] ?? 1) > 1) return [this.state.seen(from, node)];
        return initial === undefined ? [] : [initial];
      });
  }
}

function hasEnded({ status }: NodeRun): boolean {
  return status === 'completed' || status === 'failed';
}

function loopValue(loop: LoopRun | undefined): JsonValue {
  return loop?.reason === undefined ? null : { iterations: loop.iteration, reason: loop.reason };
}
