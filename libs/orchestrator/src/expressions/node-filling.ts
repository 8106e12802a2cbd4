import { renderTemplate as renderExpressions, type Variables } from '#libs/expressions';
import { isJsonObject, type JsonValue, renderTemplate, type TemplateResolver, type TextBudget } from '#libs/protocol';
import { DecisionBudgets } from './decision-budgets.js';
import { evaluating } from './failed-expression.js';
import type { RunExpressions } from './run-expressions.js';

/** What the templates of a node are filled with, at one place of a run. */
export interface FillingSource {
  /** What `{{id}}` stands for. */
  resolve: TemplateResolver;
  /** Where texts have expressions. */
  language?: { expressions: RunExpressions; variables: Variables; budgets?: DecisionBudgets };
}

/** Fills the templates of one node, all of them within the same budgets. */
export class NodeFilling {
  private readonly budgets: DecisionBudgets;
  private readonly budget;

  /** @param texts what all of them may come to, and what is put together beside them */
  constructor(
    private readonly nodeId: string,
    private readonly source: FillingSource,
    readonly texts: TextBudget,
  ) {
    this.budgets = source.language?.budgets ?? new DecisionBudgets();
    this.budget = this.budgets.next();
  }

  /**
   * A value with its texts filled; one that is an expression alone becomes what that comes to.
   * @param member where it stands in the node: `config.args`
   * @throws FailedExpression
   * @throws ContentTooLarge before anything is put together
   */
  value(member: string, value: JsonValue): JsonValue {
    const { source, texts, budget, budgets } = this;
    const { resolve, language } = source;
    const template = language?.expressions.template(this.nodeId, member);
    if (template === undefined || language === undefined) return this.filled(value);
    const { variables } = language;
    const fill = (): JsonValue => renderExpressions(template, { variables, resolve, texts, budget });
    return evaluating(member, () => budgets.within(budget, fill));
  }

  /** A text, filled; what its expressions come to is a text in it, else JSON. Throws as `value` does. */
  text(member: string, text: string): string {
    const value = this.value(member, text);
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  private filled(value: JsonValue): JsonValue {
    if (typeof value === 'string') return renderTemplate(value, this.source.resolve, this.texts);
    if (Array.isArray(value)) return value.map((item) => this.filled(item));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.filled(item)]));
  }
}
