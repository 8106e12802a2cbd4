import {
  compile,
  compileTemplate,
  type Expression,
  expressionsIn,
  InvalidExpression,
  type Template,
} from '#libs/expressions';
import type { WorkflowDefinition } from '../workflow.js';
import { type ExpressionPlace, expressionPlaces, type IsRepeated } from './expression-places.js';
import { pathIn } from './failed-expression.js';
import { vocabularyOf } from './vocabulary.js';

/** Where an expression stands: a member of a node, by its id, or of an edge, by its place. */
type Owner = string | number;

/** The expressions and templates of one definition as its runs evaluate them. */
export class RunExpressions {
  private static readonly known = new WeakMap<WorkflowDefinition, RunExpressions>();
  /** The ids of all nodes. */
  readonly ids: ReadonlySet<string>;
  /** Why no run of the definition can go on: it was saved when more was allowed. */
  readonly fault: string | undefined;
  /** True if anything is evaluated in its runs. */
  hasAny = false;
  private readonly expressions = new Map<Owner, Map<string, Expression>>();
  private readonly templates = new Map<Owner, Map<string, Template>>();

  private constructor(definition: WorkflowDefinition, isRepeated: IsRepeated) {
    this.ids = new Set(definition.nodes.map(({ id }) => id));
    const faults = expressionPlaces(definition, isRepeated).flatMap((place) => this.add(place));
    this.fault = faults[0];
  }

  /** Those of a definition, which are compiled once. */
  static of(definition: WorkflowDefinition, isRepeated: IsRepeated): RunExpressions {
    const expressions = RunExpressions.known.get(definition) ?? new RunExpressions(definition, isRepeated);
    RunExpressions.known.set(definition, expressions);
    return expressions;
  }

  /** The `when` of an edge, by its place in `edges`. */
  when(edge: number): Expression | undefined {
    return this.expressions.get(edge)?.get('when');
  }

  /** The `exit_when` of an edge back. */
  exitWhen(edge: number): Expression | undefined {
    return this.expressions.get(edge)?.get('loop.exit_when');
  }

  /** An expression of a node. */
  ofNode(id: string, member: 'each.items' | 'retry.when' | 'config.until'): Expression | undefined {
    return this.expressions.get(id)?.get(member);
  }

  /** A template of a node, by its path in the node; `undefined` where its texts have no expressions by definition. */
  template(id: string, member: string): Template | undefined {
    return this.templates.get(id)?.get(member);
  }

  /** @returns what is wrong with it */
  private add({ member, path, node, edge, surroundings, content }: ExpressionPlace): string[] {
    const vocabulary = vocabularyOf(this.ids, surroundings);
    const owner = node ?? edge ?? '';
    this.hasAny ||= 'expression' in content || expressionsIn(content.template).next().done === false;
    if ('expression' in content) {
      const expression = compile(content.expression, vocabulary);
      if (expression instanceof InvalidExpression) return [fault(path, expression)];
      keep(this.expressions, owner, member, expression);
      return [];
    }
    const template = compileTemplate(content.template, vocabulary);
    if (Array.isArray(template)) return template.map((problem) => fault(path, problem));
    keep(this.templates, owner, member, template);
    return [];
  }
}

function keep<T>(all: Map<Owner, Map<string, T>>, owner: Owner, member: string, value: T): void {
  const own = all.get(owner) ?? new Map<string, T>();
  all.set(owner, own.set(member, value));
}

function fault(place: string, { message, offset, path }: InvalidExpression): string {
  return `${pathIn(place, path)}, at ${offset}: ${message}`;
}
