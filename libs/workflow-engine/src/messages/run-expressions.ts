import {
  compileExpression,
  compileTemplate,
  EvaluationBudget,
  type Expression,
  ExpressionError,
  expressionsIn,
  InvalidExpression,
  MOST_STEPS,
  renderTemplate as renderExpressions,
  type Template,
  type Variables,
} from '#libs/expressions';
import { isJsonObject, type JsonValue, renderTemplate, type TemplateResolver, type TextBudget } from '#libs/protocol';
import {
  CONCURRENCY_KEY,
  createVocabulary,
  type ExpressionPlace,
  type IsRepeated,
  joinMemberPath,
  listExpressionPlaces,
  type WorkflowDefinition,
} from '#libs/workflow-definition';

/**
 * Failure of a CEL expression in a run. The message names the member of the definition and the reason, and may be shown
 * to callers.
 */
export class FailedExpression extends Error {
  override readonly name = 'FailedExpression';
}

/**
 * Calls `evaluate`, and converts an ExpressionError to a FailedExpression.
 * @param member path that the error names, for example `edges[3].when` or `config.prompt`
 * @throws FailedExpression
 */
export function evaluateMember<T>(member: string, evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, offset, path } = error;
    throw new FailedExpression(`${joinMemberPath(member, path)}, at ${offset}: ${message}`, { cause: error });
  }
}

/**
 * Minimum number of evaluation steps for each expression, even if the decision has used up its budget. It is enough to
 * compare the members of a failure, as in `error.kind == "timeout"`.
 */
const LEAST_STEPS = 20_000;

/** Counts evaluation steps, and the milliseconds that they took. */
export interface StepCounter {
  use(steps: number, milliseconds: number): void;
}

/**
 * Distributes a budget of evaluation steps among the expressions of one decision, which are evaluated without a pause.
 * Together they get about as many steps as a single expression may use. The same decision always gets the same number
 * of steps.
 */
export class DecisionBudgets {
  private left = MOST_STEPS;

  constructor(private readonly counter?: StepCounter) {}

  /** Starts the next decision, with the full budget of evaluation steps. */
  beginDecision(): void {
    this.left = MOST_STEPS;
  }

  /** Creates the budget of one expression, or of several expressions that share it. */
  createBudget(): EvaluationBudget {
    return new EvaluationBudget(Math.max(this.left, LEAST_STEPS));
  }

  /**
   * Calls `evaluate`. Counts the evaluation steps that `evaluate` takes from `budget` as steps of the decision. Errors
   * of `evaluate` are rethrown.
   */
  evaluateWithin<T>(budget: EvaluationBudget, evaluate: () => T): T {
    const [before, began] = [budget.spent, performance.now()];
    try {
      return evaluate();
    } finally {
      const used = budget.spent - before;
      this.left -= used;
      this.counter?.use(used, performance.now() - began);
    }
  }
}

/** Owner of an expression: a node by its id, or an edge by its index. */
type ExpressionOwner = string | number;

/** Compiled expressions and templates of one definition. */
export class RunExpressions {
  private static readonly known = new WeakMap<WorkflowDefinition, RunExpressions>();
  /** Ids of all nodes of the workflow. */
  readonly ids: ReadonlySet<string>;
  /**
   * Reason why no run of the definition can continue, if any: an expression does not compile, because the definition
   * was saved under wider limits.
   */
  readonly fault: string | undefined;
  /** True if the definition has any expression. */
  hasAny = false;
  private readonly expressions = new Map<ExpressionOwner, Map<string, Expression>>();
  private readonly templates = new Map<ExpressionOwner, Map<string, Template>>();

  private constructor(definition: WorkflowDefinition, isRepeated: IsRepeated) {
    this.ids = new Set(definition.nodes.map(({ id }) => id));
    const faults = listExpressionPlaces(definition, isRepeated).flatMap((place) => this.compilePlace(place));
    this.fault = faults[0];
  }

  /** Returns the compiled expressions of a definition. They are compiled once. */
  static forDefinition(definition: WorkflowDefinition, isRepeated: IsRepeated): RunExpressions {
    const expressions = RunExpressions.known.get(definition) ?? new RunExpressions(definition, isRepeated);
    RunExpressions.known.set(definition, expressions);
    return expressions;
  }

  /** Returns `concurrency.key`; `undefined` if the definition has none. */
  findConcurrencyKey(): Expression | undefined {
    return this.expressions.get('')?.get(CONCURRENCY_KEY);
  }

  /** Returns the condition `when` of an edge, by its index in `edges`; `undefined` if it has none. */
  findEdgeCondition(edge: number): Expression | undefined {
    return this.expressions.get(edge)?.get('when');
  }

  /** Returns the `exit_when` of a back-edge, by its index in `edges`; `undefined` if it has none. */
  findExitCondition(edge: number): Expression | undefined {
    return this.expressions.get(edge)?.get('loop.exit_when');
  }

  /** Returns an expression of a node, by node id and member; `undefined` if the node has none there. */
  findNodeExpression(id: string, member: 'each.items' | 'retry.when' | 'config.until'): Expression | undefined {
    return this.expressions.get(id)?.get(member);
  }

  /**
   * Returns the compiled template at a path (`member`) in a node. `undefined` if the workflow has no `language: 2`: its
   * texts contain no expressions in that case.
   */
  findNodeTemplate(id: string, member: string): Template | undefined {
    return this.templates.get(id)?.get(member);
  }

  /**
   * Compiles the expression or template at one place of the definition.
   * @returns error messages; empty if it compiles
   */
  private compilePlace({ member, path, node, edge, surroundings, content }: ExpressionPlace): string[] {
    const vocabulary = createVocabulary(this.ids, surroundings);
    const owner = node ?? edge ?? '';
    this.hasAny ||= 'expression' in content || expressionsIn(content.template).next().done === false;
    if ('expression' in content) {
      const expression = compileExpression(content.expression, vocabulary);
      if (expression instanceof InvalidExpression) return [describeInvalidExpression(path, expression)];
      storeForOwner(this.expressions, owner, member, expression);
      return [];
    }
    const template = compileTemplate(content.template, vocabulary);
    if (Array.isArray(template)) return template.map((problem) => describeInvalidExpression(path, problem));
    storeForOwner(this.templates, owner, member, template);
    return [];
  }
}

function storeForOwner<T>(
  all: Map<ExpressionOwner, Map<string, T>>,
  owner: ExpressionOwner,
  member: string,
  value: T,
): void {
  const own = all.get(owner) ?? new Map<string, T>();
  all.set(owner, own.set(member, value));
}

function describeInvalidExpression(place: string, { message, offset, path }: InvalidExpression): string {
  return `${joinMemberPath(place, path)}, at ${offset}: ${message}`;
}

/** Values that fill the templates of a node. */
export interface FillingSource {
  /** Function that returns the values of `{{references}}`. */
  resolve: TemplateResolver;
  /** CEL expressions and their variables; absent if texts have no expressions. */
  language?: { expressions: RunExpressions; variables: Variables; budgets?: DecisionBudgets };
}

/** Fills the templates of one node. All of them share one budget of text and one of evaluation steps. */
export class NodeFilling {
  private readonly budgets: DecisionBudgets;
  private budget: EvaluationBudget | undefined;

  /** @param texts size limit of all filled texts, and of other content that is built with them */
  constructor(
    private readonly nodeId: string,
    private readonly source: FillingSource,
    readonly texts: TextBudget,
  ) {
    this.budgets = source.language?.budgets ?? new DecisionBudgets();
  }

  /**
   * Fills the templates in a JSON value. A string that is a single expression is replaced by the value of that
   * expression.
   * @param member path in the node, for example `config.args`
   */
  fillValue(member: string, value: JsonValue): JsonValue {
    const { source, texts, budgets } = this;
    const { resolve, language } = source;
    const template = language?.expressions.findNodeTemplate(this.nodeId, member);
    if (template === undefined || language === undefined) return this.fillReferences(value);
    const { variables } = language;
    const budget = (this.budget ??= budgets.createBudget());
    const renderValue = (): JsonValue => renderExpressions(template, { variables, resolve, texts, budget });
    return evaluateMember(member, () => budgets.evaluateWithin(budget, renderValue));
  }

  /** Fills a text. If the text is a single expression whose value is not a string, the result is that value as JSON. */
  fillText(member: string, text: string): string {
    const value = this.fillValue(member, text);
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  private fillReferences(value: JsonValue): JsonValue {
    if (typeof value === 'string') return renderTemplate(value, this.source.resolve, this.texts);
    if (Array.isArray(value)) return value.map((item) => this.fillReferences(item));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.fillReferences(item)]));
  }
}
