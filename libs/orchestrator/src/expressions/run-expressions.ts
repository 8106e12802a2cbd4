import {
  compileExpression,
  compileTemplate,
  type Expression,
  expressionsIn,
  InvalidExpression,
  type Template,
} from '#libs/expressions';
import type { WorkflowDefinition } from '../workflow.js';
import { type ExpressionPlace, joinMemberPath, listExpressionPlaces, type IsRepeated } from './expression-places.js';
import { createVocabulary } from './vocabulary.js';

/** Owner of an expression: the id of a node, or the index of an edge. */
type ExpressionOwner = string | number;

/** Compiled expressions and templates of one definition. */
export class RunExpressions {
  private static readonly known = new WeakMap<WorkflowDefinition, RunExpressions>();
  /** Ids of all nodes. */
  readonly ids: ReadonlySet<string>;
  /** Reason why no run of the definition can continue: it was saved under wider limits. */
  readonly fault: string | undefined;
  /** True if runs of the definition evaluate anything. */
  hasAny = false;
  private readonly expressions = new Map<ExpressionOwner, Map<string, Expression>>();
  private readonly templates = new Map<ExpressionOwner, Map<string, Template>>();

  private constructor(definition: WorkflowDefinition, isRepeated: IsRepeated) {
    this.ids = new Set(definition.nodes.map(({ id }) => id));
    const faults = listExpressionPlaces(definition, isRepeated).flatMap((place) => this.compilePlace(place));
    this.fault = faults[0];
  }

  /** Returns the expressions of a definition, which are compiled once. */
  static forDefinition(definition: WorkflowDefinition, isRepeated: IsRepeated): RunExpressions {
    const expressions = RunExpressions.known.get(definition) ?? new RunExpressions(definition, isRepeated);
    RunExpressions.known.set(definition, expressions);
    return expressions;
  }

  /** Returns the `findEdgeCondition` of an edge, by its index in `edges`. */
  findEdgeCondition(edge: number): Expression | undefined {
    return this.expressions.get(edge)?.get('when');
  }

  /** Returns the `exit_when` of a back-edge, by its index in `edges`. */
  findExitCondition(edge: number): Expression | undefined {
    return this.expressions.get(edge)?.get('loop.exit_when');
  }

  /** Returns an expression of a node. */
  findNodeExpression(id: string, member: 'each.items' | 'retry.when' | 'config.until'): Expression | undefined {
    return this.expressions.get(id)?.get(member);
  }

  /** Returns a template of a node, by its path in the node; `undefined` if the language has no expressions in texts. */
  findNodeTemplate(id: string, member: string): Template | undefined {
    return this.templates.get(id)?.get(member);
  }

  /**
   * Compiles the content of a place.
   * @returns its faults
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
