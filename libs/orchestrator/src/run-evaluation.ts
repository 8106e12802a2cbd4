import { evaluateCondition, type EvaluationBudget, evaluateExpression, evaluatePointInTime } from '#libs/expressions';
import type { JsonValue } from '#libs/protocol';
import { DecisionBudgets, type StepCounter } from './expressions/decision-budgets.js';
import { chooseEdges, type EdgeChoice } from './expressions/edge-choice.js';
import { evaluateMember, FailedExpression } from './expressions/failed-expression.js';
import { RunExpressions } from './expressions/run-expressions.js';
import { type ExpressionRun, type Moment, createRunVariables, type Viewpoint } from './expressions/run-variables.js';
import type { GraphEdge } from './graph-edge.js';
import type { LoopRun } from './loop-run.js';
import type { MessageSource } from './node-message.js';
import type { NodeInstance } from './node-run.js';
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
    private readonly run: ExpressionRun,
    readonly steps?: StepCounter,
  ) {
    this.budgets = new DecisionBudgets(steps);
    const { loops } = state.graph;
    const isRepeated = (id: string, other: string) => loops.some(({ body }) => body.has(id) && body.has(other));
    this.expressions = RunExpressions.forDefinition(state.definition, isRepeated);
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
  beginDecision(): void {
    this.budgets.beginDecision();
  }

  /** Returns a budget that several expressions share. */
  sharedBudget(): EvaluationBudget {
    return this.budgets.createBudget();
  }

  /** Begins a decision and returns the source for the Message to an instance and for its templates. */
  messageSource(node: NodeInstance): MessageSource {
    this.beginDecision();
    return this.sourceAt(node, this.endingMoment(node));
  }

  /** Returns the same source at a moment of a decision. */
  sourceAt(node: NodeInstance, moment: Moment): MessageSource {
    const { state, expressions, budgets } = this;
    const { inputs, text, files, definition } = state;
    const takesFiles = node.type === 'input' || definition.nodes.every(({ type }) => type !== 'input');
    const at = this.viewpointOf(node);
    const nodes = { get: (id: string) => (state.graph.has(id) ? at.findInstance(id) : undefined) };
    const repeated = this.repeatedContent(node);
    return {
      inputs,
      nodes,
      isReachedBy: (edge) => state.isReachedOver(edge, node),
      ...(text !== undefined && { text }),
      ...(takesFiles && files.length > 0 && { files }),
      ...(repeated.length > 0 && { repeated }),
      ...(definition.language === 2 && {
        leavesOut: (id: string) => state.graph.has(id) && state.isLeftOut(at.findInstance(id) ?? node),
        language: { expressions, variables: createRunVariables(at, moment), budgets },
      }),
    };
  }

  /** Decides which outgoing edges of an instance are taken. */
  decideEdges(ended: NodeInstance, edges: readonly GraphEdge[], budget = this.budgets.createBudget()): EdgeChoice {
    const error = ended.status === 'failed' ? (ended.failure ?? null) : null;
    const variables = createRunVariables(this.viewpointOf(ended), { error });
    return chooseEdges(edges, this.state.graph.node(ended.id).branch, ({ index }) => {
      const when = this.expressions.findEdgeCondition(index);
      if (when === undefined) return true;
      return this.evaluateMember(`edges[${index}].when`, budget, () => evaluateCondition(when, variables, budget));
    });
  }

  /** True if `retry.when` allows another attempt. @throws FailedExpression */
  retriedWhen(node: NodeInstance, moment: Moment): boolean {
    const when = this.expressions.findNodeExpression(node.id, 'retry.when');
    const budget = this.budgets.createBudget();
    if (when === undefined) return true;
    return this.evaluateMember('retry.when', budget, () =>
      evaluateCondition(when, this.variablesFor(node, moment), budget),
    );
  }

  /** Evaluates the list that a node processes. @throws FailedExpression */
  evaluateItems(node: NodeInstance): JsonValue[] {
    const items = this.expressions.findNodeExpression(node.id, 'each.items');
    const budget = this.budgets.createBudget();
    const value =
      items &&
      this.evaluateMember('each.items', budget, () => evaluateExpression(items, this.variablesFor(node), budget));
    if (!Array.isArray(value)) throw new FailedExpression('each.items gives no list');
    return value;
  }

  /** Evaluates the end of a wait; `undefined` without an expression. @throws FailedExpression */
  evaluateWaitEnd(node: NodeInstance, now: Date): Date | undefined {
    const until = this.expressions.findNodeExpression(node.id, 'config.until');
    const budget = this.budgets.createBudget();
    return (
      until &&
      this.evaluateMember('config.until', budget, () =>
        evaluatePointInTime(until, this.variablesFor(node, { now }), budget),
      )
    );
  }

  /** True if the loop ends, as its last node sees it. @throws FailedExpression */
  isLoopLeft({ loop }: LoopRun, last: NodeInstance): boolean {
    const budget = this.budgets.createBudget();
    const exit = this.expressions.findExitCondition(loop.index);
    const member = `edges[${loop.index}].loop.exit_when`;
    return (
      exit !== undefined &&
      this.evaluateMember(member, budget, () => evaluateCondition(exit, this.variablesFor(last), budget))
    );
  }

  private evaluateMember<T>(member: string, budget: EvaluationBudget, evaluate: () => T): T {
    return evaluateMember(member, () => this.budgets.evaluateWithin(budget, evaluate));
  }

  private variablesFor(node: NodeInstance, moment?: Moment): ReturnType<typeof createRunVariables> {
    return createRunVariables(this.viewpointOf(node), { ...this.endingMoment(node), ...moment });
  }

  /** Returns the variables of an `onExit` node: the error of the run, if any. */
  private endingMoment({ id }: NodeInstance): Moment {
    const { graph, error } = this.state;
    if (!graph.exits.has(id)) return {};
    return { error: error ? { kind: 'failed', ...error } : null };
  }

  private viewpointOf(from: NodeInstance): Viewpoint {
    const { state, run, expressions } = this;
    const { index, list, path } = from;
    const item = index === undefined ? undefined : list?.each?.items?.[index];
    const iteration = path.at(-1);
    const place = state.getInstance(from.instance);
    const node = (id: string): NodeInstance =>
      id === from.id && hasOutcome(from) ? from : state.resolveInstance(id, place);
    return {
      run,
      inputs: state.inputs,
      ids: expressions.ids,
      findInstance: node,
      readLoopResult: (id) => loopValue(state.loopOf(id === from.id ? place : state.resolveInstance(id, place))),
      ...(item !== undefined && { item }),
      ...(index !== undefined && { index }),
      ...(iteration !== undefined && { iteration }),
    };
  }

  /** Returns what the first node of a loop receives from the previous iteration: the result of the loop's last node. */
  private repeatedContent(node: NodeInstance): (string | NodeInstance)[] {
    const around = this.state.graph.loops.filter(({ body }) => body.has(node.id));
    return around
      .toSorted((one, other) => other.body.size - one.body.size)
      .flatMap(({ to, from, config: { initial } }, depth): (string | NodeInstance)[] => {
        if (to !== node.id) return [];
        if ((node.path[depth] ?? 1) > 1) return [this.state.resolveInstance(from, node)];
        return initial === undefined ? [] : [initial];
      });
  }
}

function hasOutcome({ status }: NodeInstance): boolean {
  return status === 'completed' || status === 'failed';
}

function loopValue(loop: LoopRun | undefined): JsonValue {
  return loop?.reason === undefined ? null : { iterations: loop.iteration, reason: loop.reason };
}
