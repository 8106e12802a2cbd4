import { renderTemplate as renderExpressions, type Variables } from '#libs/expressions';
import { isJsonObject, type JsonValue, renderTemplate, type TemplateResolver, type TextBudget } from '#libs/protocol';
import { DecisionBudgets } from './decision-budgets.js';
import { evaluateMember } from './failed-expression.js';
import type { RunExpressions } from './run-expressions.js';

/** Values for the templates of a node, at one place of a run. */
export interface FillingSource {
  /** Resolver of `{{references}}`. */
  resolve: TemplateResolver;
  /** Expressions and their variables; absent if texts have no expressions. */
  language?: { expressions: RunExpressions; variables: Variables; budgets?: DecisionBudgets };
}

/** Fills the templates of one node, all within the same budgets. */
export class NodeFilling {
  private readonly budgets: DecisionBudgets;
  private readonly budget;

  /** @param texts size limit of all filled texts, and of other content that is built with them */
  constructor(
    private readonly nodeId: string,
    private readonly source: FillingSource,
    readonly texts: TextBudget,
  ) {
    this.budgets = source.language?.budgets ?? new DecisionBudgets();
    this.budget = this.budgets.createBudget();
  }

  /**
   * Fills the texts of a value. A text that is a single expression is replaced by the expression's value.
   * @param member path in the node: `config.args`
   * @throws FailedExpression
   * @throws ContentTooLarge before anything is built
   */
  fillValue(member: string, value: JsonValue): JsonValue {
    const { source, texts, budget, budgets } = this;
    const { resolve, language } = source;
    const template = language?.expressions.findNodeTemplate(this.nodeId, member);
    if (template === undefined || language === undefined) return this.fillReferences(value);
    const { variables } = language;
    const renderValue = (): JsonValue => renderExpressions(template, { variables, resolve, texts, budget });
    return evaluateMember(member, () => budgets.evaluateWithin(budget, renderValue));
  }

  /**
   * Fills a text. If its expression gives no text, the result is JSON.
   * @throws FailedExpression
   * @throws ContentTooLarge before anything is built
   */
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
