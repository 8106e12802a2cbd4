import { keptEntry } from '#libs/agents';
import {
  evaluateCondition,
  evaluateExpression,
  evaluatePointInTime,
  type EvaluationBudget,
  Members,
  type Value,
  type Variables,
} from '#libs/expressions';
import { artifactReference, firstData, type JsonObject, type JsonValue } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import {
  CONCURRENCY_KEY,
  type GraphEdge,
  inputValue,
  NODE_FIELDS,
  RUN_FIELDS,
  type WorkflowFailure,
  type WorkflowNode,
  type WorkflowRevision,
} from '#libs/workflow-definition';
import type { LoopRun, NodeInstance } from '../state/node-instance.js';
import type { RunState } from '../state/run-state.js';
import type { MessageSource } from './node-message.js';
import {
  DecisionBudgets,
  evaluateMember,
  FailedExpression,
  RunExpressions,
  type StepCounter,
} from './run-expressions.js';

/** Result of deciding the outgoing edges of one node. */
export interface EdgeChoice {
  /** Taken edges as indexes in `edges`. */
  taken: number[];
  /** Errors of conditions that could not be evaluated. Their edges are not taken. */
  errors: { edge: number; message: string }[];
}

/**
 * Chooses among the edges of a node that are for the same outcome: all whose condition holds, or with `branch: "first"`
 * only the first such edge. With `first`, an edge without a condition is considered last.
 * @param holds evaluates the condition of an edge; called in the order in which edges are tried
 */
export function chooseEdges(
  edges: readonly GraphEdge[],
  branch: WorkflowNode['branch'],
  holds: (edge: GraphEdge) => boolean,
): EdgeChoice {
  const choice: EdgeChoice = { taken: [], errors: [] };
  const isTaken = (edge: GraphEdge): boolean => {
    if (edge.edge.when === undefined) return true;
    try {
      return holds(edge);
    } catch (error) {
      if (!(error instanceof FailedExpression)) throw error;
      choice.errors.push({ edge: edge.index, message: error.message });
      return false;
    }
  };
  if (branch !== 'first') choice.taken.push(...edges.filter(isTaken).map(({ index }) => index));
  else {
    const first = edges.toSorted((one, other) => rankEdge(one) - rankEdge(other)).find(isTaken);
    if (first) choice.taken.push(first.index);
  }
  return choice;
}

function rankEdge({ edge: { when } }: GraphEdge): number {
  return when === undefined ? 1 : 0;
}

/** Members of the variable `run`, which CEL expressions can read. */
interface ExpressionRun {
  id: string;
  workflow: string;
  revision: string;
  contextId: string;
  startedAt: Date;
  /** Data about the conversation whose Message started the run (`ConversationEntry`); null if no conversation did. */
  conversation: JsonObject | null;
}

/**
 * Position in a run at which expressions are evaluated: one instance, and the values that expressions can read there.
 */
export interface Viewpoint {
  readonly run: ExpressionRun;
  readonly inputs: JsonObject;
  /** Ids of all nodes of the workflow. */
  readonly ids: ReadonlySet<string>;
  /** Returns the instance of a node whose status and result expressions read here (see `RunState.resolveInstance`). */
  findInstance(id: string): NodeInstance | undefined;
  /**
   * Returns `{ iterations, reason }` of the innermost loop around a node: the number of its iterations, and the reason
   * for its end. Null if there is no loop, or the loop has not ended.
   */
  readLoopResult(id: string): JsonValue;
  /** Item of the list, if the viewpoint is an entry of a list. */
  readonly item?: JsonValue;
  readonly index?: number;
  /** Number of the current iteration of the innermost loop, from 1; absent outside of loops. */
  readonly iteration?: number;
}

/** Values of the variables `error` and `now` while one decision is made. */
export interface Moment {
  /** Failure that the expression handles; null if there was none. */
  error?: WorkflowFailure | null;
  now?: Date;
}

/**
 * Creates the variables of CEL expressions. Each value is created when an expression first reads it. The expressions of
 * one decision share the variables; discard them before the run applies another event.
 */
export function createRunVariables(at: Viewpoint, { error, now }: Moment = {}): Variables {
  return {
    inputs: at.inputs,
    nodes: new Members(at.ids, (id) => new Members(NODE_FIELDS, (field) => readNodeField(at, id, field))),
    run: new Members(RUN_FIELDS, (field) => at.run[field as keyof ExpressionRun]),
    item: at.item,
    index: at.index,
    iteration: at.iteration,
    error: error && failureValue(error),
    now,
  };
}

function readNodeField(at: Viewpoint, id: string, field: string): Value | undefined {
  const node = at.findInstance(id);
  switch (field) {
    case 'status':
      return node?.status ?? 'pending';
    case 'text':
      return artifactReference(node?.artifacts[0], []) ?? '';
    case 'data':
      return firstData(node?.artifacts[0]?.parts ?? []) ?? readGivenData(at, node) ?? null;
    case 'artifacts':
      return (node?.artifacts ?? []) as unknown as JsonValue;
    case 'error':
      return nodeFailure(node);
    case 'attempts':
      return node?.attempts ?? 0;
    case 'loop':
      return at.readLoopResult(id);
    default:
      return undefined;
  }
}

/**
 * Returns the value that was given to a completed `input` node, unless the value is a string. The Artifact of the node
 * has the value only as text. `undefined` for a string, for any other node, and without a value.
 */
function readGivenData({ inputs }: Viewpoint, node: NodeInstance | undefined): JsonValue | undefined {
  if (node?.type !== 'input' || node.status !== 'completed') return undefined;
  const given = inputValue(inputs, node.id);
  return typeof given === 'string' ? undefined : given;
}

function nodeFailure(node: NodeInstance | undefined): JsonValue {
  if (node?.status !== 'failed') return null;
  return failureValue(node.failure ?? { kind: 'failed', message: node.error ?? '', node: node.id });
}

/** Returns a failure as JSON. Absent members are null, so that an expression may read any member. */
function failureValue({ kind, message, node, instance }: WorkflowFailure): JsonObject {
  return { kind, message, node: node ?? null, instance: instance ?? node ?? null };
}

/**
 * Returns the variable `run` of expressions.
 * @param first first event of the run's log: its Task
 */
export function expressionRun(
  id: string,
  { definition, revision }: Pick<WorkflowRevision, 'definition' | 'revision'>,
  first: TaskEvent | undefined,
): ExpressionRun {
  const task = first && 'task' in first ? first.task : undefined;
  const begun = task?.status.timestamp;
  const startedAt = begun === undefined ? new Date() : new Date(begun);
  const conversation = (keptEntry(task?.metadata) ?? null) as unknown as JsonObject | null;
  return { id, workflow: definition.name, revision, contextId: task?.contextId ?? '', startedAt, conversation };
}

/**
 * Evaluates the CEL expressions of a run against its current state. The expressions at the end of an instance are
 * evaluated before that end is in the log; they see the instance as ended, with its outcome.
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

  /**
   * Reason why no run of the definition can continue: the first expression that does not compile; `undefined` if all
   * compile.
   */
  get fault(): string | undefined {
    return this.expressions.fault;
  }

  /** True if the definition has expressions. */
  get isNeeded(): boolean {
    return this.expressions.hasAny;
  }

  /** Begins a decision: its expressions share a new budget of evaluation steps. */
  beginDecision(): void {
    this.budgets.beginDecision();
  }

  /** Creates a budget of evaluation steps that several expressions share. */
  sharedBudget(): EvaluationBudget {
    return this.budgets.createBudget();
  }

  /** Begins a decision, and returns the values needed to build the Message to an instance. */
  messageSource(node: NodeInstance): MessageSource {
    this.beginDecision();
    return this.sourceAt(node, this.endingMoment(node));
  }

  /**
   * Returns the values from which the Message to an instance, or the content of its `fallback`, is built. Call
   * `beginDecision` first.
   * @param moment values of the variables `error` and `now` of the expressions
   */
  sourceAt(node: NodeInstance, moment: Moment): MessageSource {
    const { state, expressions, budgets } = this;
    const { inputs, text, said, content, definition } = state;
    const takesContent = node.type === 'input' || definition.nodes.every(({ type }) => type !== 'input');
    const at = this.viewpointOf(node);
    const nodes = { get: (id: string) => (state.graph.has(id) ? at.findInstance(id) : undefined) };
    const repeated = this.repeatedContent(node);
    return {
      inputs,
      nodes,
      isReachedBy: (edge) => state.isReachedOver(edge, node),
      ...(text !== undefined && { text, said }),
      ...(takesContent && content.length > 0 && { content }),
      ...(repeated.length > 0 && { repeated }),
      ...(state.edit?.node === node.instance && { edited: state.edit.prompt }),
      ...(definition.language === 2 && {
        leavesOut: (id: string) => state.graph.has(id) && state.isLeftOut(at.findInstance(id) ?? node),
        language: { expressions, variables: createRunVariables(at, moment), budgets },
      }),
    };
  }

  /**
   * Decides which of the given outgoing edges of an instance are taken.
   * @param given budget that the conditions share; absent: a new budget
   */
  decideEdges(ended: NodeInstance, edges: readonly GraphEdge[], given?: EvaluationBudget): EdgeChoice {
    let budget = given;
    const error = ended.status === 'failed' ? (ended.failure ?? null) : null;
    const variables = createRunVariables(this.viewpointOf(ended), { error });
    return chooseEdges(edges, this.state.graph.node(ended.id).branch, ({ index }) => {
      const when = this.expressions.findEdgeCondition(index);
      if (when === undefined) return true;
      const shared = (budget ??= this.budgets.createBudget());
      return this.evaluateMember(`edges[${index}].when`, shared, () => evaluateCondition(when, variables, shared));
    });
  }

  /** True if the expression `retry.when` of the node allows another attempt. @throws FailedExpression */
  retriedWhen(node: NodeInstance, moment: Moment): boolean {
    const when = this.expressions.findNodeExpression(node.id, 'retry.when');
    if (when === undefined) return true;
    const budget = this.budgets.createBudget();
    return this.evaluateMember('retry.when', budget, () =>
      evaluateCondition(when, this.variablesFor(node, moment), budget),
    );
  }

  /** Evaluates `each.items`: the list that a node processes. @throws FailedExpression */
  evaluateItems(node: NodeInstance): JsonValue[] {
    const items = this.expressions.findNodeExpression(node.id, 'each.items');
    const budget = this.budgets.createBudget();
    const value =
      items &&
      this.evaluateMember('each.items', budget, () => evaluateExpression(items, this.variablesFor(node), budget));
    if (!Array.isArray(value)) throw new FailedExpression('each.items must give a list');
    return value;
  }

  /**
   * Evaluates `config.until` of a `wait` node: the time at which the node ends; `undefined` without this expression.
   * @throws FailedExpression
   */
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

  /** Evaluates `concurrency.key` as a text; empty without this expression. @throws FailedExpression */
  evaluateConcurrencyKey(): string {
    const { expressions, run, state } = this;
    const key = expressions.findConcurrencyKey();
    if (key === undefined) return '';
    const budget = this.budgets.createBudget();
    const at = { run, inputs: state.inputs, ids: expressions.ids };
    const variables = createRunVariables({ ...at, findInstance: () => undefined, readLoopResult: () => null });
    const value = this.evaluateMember(CONCURRENCY_KEY, budget, () => evaluateExpression(key, variables, budget));
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  /** True if the loop's `exit_when` is true for its last node, so that the loop ends. @throws FailedExpression */
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

  /** Returns the variable `error` of an `onExit` node: the error of the run, or null. Empty for any other node. */
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

  /**
   * Returns the extra content for a node that is the first node of one or more loops, outermost loop first. In
   * iteration 1 of a loop, this is the text `loop.initial`, if it is set. In later iterations, it is the instance of
   * the loop's last node in the previous iteration.
   */
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
