import type { RE2JS } from 're2js';
import { InvalidExpression } from './expression-error.js';
import { ENVIRONMENT } from './functions/environment.js';
import { compiledPattern } from './functions/patterns.js';
import type { ParsedSource, Syntax } from './source.js';

/** Variables that an expression may use, by name; known when the expression is compiled. */
export type Vocabulary = Readonly<Record<string, Variable>>;

/** Properties of a variable that are known when an expression is compiled. */
interface Variable {
  /** Names of the members of the variable; absent: any name is allowed. */
  members?: Names;
  /** Names of the members that each member has; absent: any name is allowed. */
  fields?: Names;
  /** True if the variable must be followed by a literal member: `nodes.draft`, `nodes['my-draft']`. */
  onlyMembers?: boolean;
  /**
   * True if the name is reserved for a later version. Expressions may neither read it nor use it as the variable of a
   * macro.
   */
  isKept?: boolean;
}

interface Names {
  has(name: string): boolean;
}

/** Reference of an expression to a variable, with the literal name of its member, if any. */
export interface Reference {
  variable: string;
  member?: string;
  /** Offset in the text, in UTF-16 code units: of the member if there is one, else of the variable. */
  offset: number;
}

/** Path such as `a.b['c']` as a list of names, each with the id of its syntax node. */
interface NamedPath {
  root: { name: string; id: bigint };
  members: { name: string; id: bigint }[];
}

const TYPES = new Set(['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint']);
const TYPES_OF_TIME = new Set(['google.protobuf.Duration', 'google.protobuf.Timestamp']);

/** True if a path names a type, as in `type(x) == string`. */
function isType({ root, members }: NamedPath): boolean {
  const name = [root, ...members].map((it) => it.name).join('.');
  return TYPES.has(name) || TYPES_OF_TIME.has(name);
}

/**
 * Returns the fault of a path that begins with a variable, and the id of the syntax node that causes it; `undefined`
 * if the path is valid.
 */
function wrongName(
  { root, members: [member, field] }: NamedPath,
  variable: Variable,
): { message: string; id: bigint } | undefined {
  if (variable.isKept) return { message: `"${root.name}" is kept for a later version`, id: root.id };
  if (member === undefined)
    return variable.onlyMembers
      ? { message: `"${root.name}" stands with a member alone: ${root.name}.id or ${root.name}['id']`, id: root.id }
      : undefined;
  if (variable.members && !variable.members.has(member.name))
    return { message: `${root.name} has no "${member.name}"`, id: member.id };
  if (field && variable.fields && !variable.fields.has(field.name))
    return { message: `${root.name}.${member.name} has no "${field.name}"`, id: field.id };
  return undefined;
}

const MOST_NODES = 300;
const DEEPEST_MACROS = 2;
const MOST_INSTRUCTIONS = 5_000;
const LARGEST_INT = 2n ** 63n;

type SyntaxCase<C extends string> = Extract<Syntax['exprKind'], { case: C }>['value'];

/** Operators that the planner of the CEL evaluator handles itself, so that they have no entry in SIGNATURES. */
const PLANNED = new Set(['_[_]', '_?_:_', '_&&_', '_||_', '@not_strictly_false']);
const MACROS = new Set(['all', 'exists', 'exists_one', 'existsOne', 'filter', 'has', 'map']);

/**
 * Known signatures by function name. A signature tells the number of arguments, and whether the function is called on
 * a value (`x.f(…)`) or not (`f(…)`).
 */
const SIGNATURES = new Map<string, Set<string>>();
for (const func of ENVIRONMENT.funcs) {
  const known = SIGNATURES.get(func.name) ?? new Set<string>();
  SIGNATURES.set(func.name, known.add(callSignature(func.target !== undefined, func.arguments.length)));
}

/** Scope of a syntax node. */
interface SyntaxScope {
  /** Names that the surrounding macros bind to elements. */
  bound: ReadonlySet<string>;
  /** Number of macros around the syntax node. Each macro iterates over a list. */
  macros: number;
}

/**
 * Checks the syntax of an expression when it is compiled, and rewrites two things:
 *
 * - It wraps the range of each macro in a call of `@each`, which counts the steps of the iterations.
 * - It replaces the `has` of the planner, which treats a `null` as absent, by `@has`.
 */
export class SyntaxCheck {
  readonly references: Reference[] = [];
  /** Compiled regular expressions of patterns that are literals, by their source. */
  readonly patterns = new Map<string, RE2JS>();
  private nodes = 0;
  private comprehensions = 0;
  private instructions = 0;

  /** @throws InvalidExpression for the first fault of the expression */
  constructor(
    private readonly source: ParsedSource,
    private readonly text: string,
    private readonly vocabulary: Vocabulary,
  ) {
    this.visitSyntax(source.expr, { bound: new Set(), macros: 0 });
  }

  /**
   * Returns the offset of a syntax node in the text. The position that the parser gives includes leading white space,
   * and for a member the dot; both are skipped.
   */
  offsetOf(id: bigint): number {
    const offset = this.source.sourceInfo?.positions[id.toString()] ?? 0;
    return offset + (/^\s*\.?\s*/.exec(this.text.slice(offset))?.[0].length ?? 0);
  }

  private visitSyntax(syntax: Syntax | undefined, place: SyntaxScope): void {
    if (syntax === undefined) return;
    const path = toNamedPath(syntax);
    this.countNodes(1 + (path?.members.length ?? 0), syntax.id);
    if (path !== undefined && !place.bound.has(path.root.name)) this.addReference(path);
    const kind = syntax.exprKind;
    switch (kind.case) {
      case 'callExpr':
        return path === undefined ? this.visitCall(kind.value, syntax, place) : undefined;
      case 'selectExpr':
        if (path === undefined) this.visitSyntax(kind.value.operand, place);
        if (kind.value.testOnly) askForMember(kind.value, syntax);
        return undefined;
      case 'comprehensionExpr':
        return this.visitComprehension(kind.value, syntax, place);
      case 'listExpr':
        return kind.value.elements.forEach((it) => this.visitSyntax(it, place));
      case 'structExpr':
        return this.visitStruct(kind.value, syntax, place);
      case 'constExpr':
        return this.checkConstant(kind.value, syntax);
      default:
        return undefined;
    }
  }

  private countNodes(nodes: number, id: bigint): void {
    this.nodes += nodes;
    if (this.nodes > MOST_NODES) this.refuseSyntax(`an expression has at most ${MOST_NODES} parts`, id);
  }

  private visitCall(
    { function: name, target, args }: SyntaxCase<'callExpr'>,
    syntax: Syntax,
    place: SyntaxScope,
  ): void {
    if (!PLANNED.has(name)) this.checkFunction(name, target !== undefined, args.length, syntax.id);
    this.visitSyntax(target, place);
    for (const arg of args) this.visitSyntax(arg, place);
    const pattern = name === 'matches' ? stringConstant(args.at(-1)) : undefined;
    if (pattern !== undefined) this.checkPattern(pattern, syntax.id);
  }

  private checkFunction(name: string, method: boolean, args: number, id: bigint): void {
    const known = SIGNATURES.get(name);
    if (known?.has(callSignature(method, args))) return;
    if (MACROS.has(name)) this.refuseSyntax(`"${name}" is not written like this: list.map(x, …), has(a.b)`, id);
    if (known === undefined) this.refuseSyntax(`there is no function "${name}"`, id);
    const [other] = known;
    this.refuseSyntax(`"${name}" is called otherwise: ${other?.replace('f', name) ?? ''}`, id);
  }

  private checkPattern(pattern: string, id: bigint): void {
    if (this.patterns.has(pattern)) return;
    try {
      const compiled = compiledPattern(pattern);
      this.patterns.set(pattern, compiled);
      this.instructions += compiled.programSize();
    } catch (error) {
      this.refuseSyntax(error instanceof Error ? error.message : String(error), id);
    }
    if (this.instructions > MOST_INSTRUCTIONS)
      this.refuseSyntax(`its regular expressions come to more than ${MOST_INSTRUCTIONS} instructions`, id);
  }

  private visitComprehension(value: SyntaxCase<'comprehensionExpr'>, syntax: Syntax, place: SyntaxScope): void {
    this.comprehensions += 1;
    if (Object.hasOwn(this.vocabulary, value.iterVar))
      this.refuseSyntax(`"${value.iterVar}" is a variable: an element needs another name`, syntax.id);
    if (place.macros === DEEPEST_MACROS)
      this.refuseSyntax(`an expression has at most ${DEEPEST_MACROS} macros in each other`, syntax.id);
    this.visitSyntax(value.iterRange, place);
    const inside: SyntaxScope = {
      bound: new Set([...place.bound, value.iterVar, value.accuVar]),
      macros: place.macros + 1,
    };
    this.visitSyntax(value.accuInit, inside);
    this.visitSyntax(value.result, inside);
    const before = { nodes: this.nodes, comprehensions: this.comprehensions };
    this.visitSyntax(value.loopCondition, inside);
    this.visitSyntax(value.loopStep, inside);
    if (value.iterRange === undefined) return;
    const innermost = this.comprehensions === before.comprehensions;
    value.iterRange = {
      ...value.iterRange,
      exprKind: callSyntax('@each', [
        value.iterRange,
        constantSyntax(syntax.id, { case: 'int64Value', value: BigInt(this.nodes - before.nodes) }),
        constantSyntax(syntax.id, { case: 'boolValue', value: innermost }),
      ]),
    };
  }

  private visitStruct({ messageName, entries }: SyntaxCase<'structExpr'>, syntax: Syntax, place: SyntaxScope): void {
    if (messageName !== '') this.refuseSyntax(`there is no type "${messageName}" to make`, syntax.id);
    for (const { keyKind, value } of entries) {
      if (keyKind.case === 'mapKey') this.visitSyntax(keyKind.value, place);
      this.visitSyntax(value, place);
    }
  }

  private checkConstant({ constantKind }: SyntaxCase<'constExpr'>, { id }: Syntax): void {
    const { case: type, value } = constantKind;
    const fits =
      type === 'int64Value'
        ? value >= -LARGEST_INT && value < LARGEST_INT
        : type === 'uint64Value'
          ? value < 2n * LARGEST_INT
          : type !== 'doubleValue' || Number.isFinite(value);
    if (!fits) this.refuseSyntax('this number is too large', id);
  }

  private addReference(path: NamedPath): void {
    const { root, members } = path;
    if (!Object.hasOwn(this.vocabulary, root.name)) {
      if (isType(path)) return;
      const names = Object.keys(this.vocabulary).filter((name) => !this.vocabulary[name]?.isKept);
      const known = names.join(', ') || 'none';
      this.refuseSyntax(`there is no variable "${root.name}" here; there are: ${known}`, root.id);
    }
    const wrong = wrongName(path, this.vocabulary[root.name] ?? {});
    if (wrong !== undefined) this.refuseMember(wrong.message, wrong.id);
    const [member] = members;
    const offset = this.offsetOf(member?.id ?? root.id);
    this.references.push({ variable: root.name, ...(member && { member: member.name }), offset });
  }

  private refuseMember(message: string, id: bigint): never {
    const offset = this.offsetOf(id);
    const hyphen = /^\w+-\w/.test(this.text.slice(offset)) ? "; a name with a hyphen is written ['a-b']" : '';
    throw new InvalidExpression(message + hyphen, offset);
  }

  private refuseSyntax(message: string, id: bigint): never {
    throw new InvalidExpression(message, this.offsetOf(id));
  }
}

/** Replaces `has(a.b)` by `@has(a, 'b')`, since the `has` of the planner treats a `null` as absent. */
function askForMember({ operand, field }: SyntaxCase<'selectExpr'>, syntax: Syntax): void {
  if (operand === undefined) return;
  syntax.exprKind = callSyntax('@has', [operand, constantSyntax(syntax.id, { case: 'stringValue', value: field })]);
}

/** Returns the path of names that a syntax node stands for, such as `a.b['c']`; `undefined` for any other node. */
function toNamedPath(syntax: Syntax | undefined): NamedPath | undefined {
  const kind = syntax?.exprKind;
  if (syntax === undefined || kind === undefined) return undefined;
  if (kind.case === 'identExpr')
    return { root: { name: kind.value.name.replace(/^\./, ''), id: syntax.id }, members: [] };
  const step =
    kind.case === 'selectExpr'
      ? { of: kind.value.operand, name: kind.value.field }
      : kind.case === 'callExpr' && kind.value.function === '_[_]'
        ? { of: kind.value.args[0], name: stringConstant(kind.value.args[1]) }
        : undefined;
  const path = step?.name === undefined ? undefined : toNamedPath(step.of);
  if (path === undefined || step?.name === undefined) return undefined;
  return { ...path, members: [...path.members, { name: step.name, id: syntax.id }] };
}

function stringConstant(syntax: Syntax | undefined): string | undefined {
  const kind = syntax?.exprKind;
  if (kind?.case !== 'constExpr') return undefined;
  return kind.value.constantKind.case === 'stringValue' ? kind.value.constantKind.value : undefined;
}

function callSyntax(name: string, args: Syntax[]): Syntax['exprKind'] {
  return { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } };
}

function constantSyntax(id: bigint, constantKind: SyntaxCase<'constExpr'>['constantKind']): Syntax {
  return {
    $typeName: 'cel.expr.Expr',
    id,
    exprKind: { case: 'constExpr', value: { $typeName: 'cel.expr.Constant', constantKind } },
  };
}

function callSignature(method: boolean, args: number): string {
  const list = Array<string>(args).fill('…').join(', ');
  return method ? `x.f(${list})` : `f(${list})`;
}
