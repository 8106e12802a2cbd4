import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  ValidateBy,
  ValidateIf,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { isJsonObject, textStart } from '#libs/protocol';
import { malformedRequest, MOST_ENTRIES, type ProblemEntry } from '../problem.js';
import { isAnyObject, refuseUnfitJson } from './request-bodies.js';

/** Context of a rule that `EachEntry` declares. `brokenRules` finds the invalid entries of the list with `test`. */
interface EachContext {
  test: (entry: unknown) => boolean;
}

/**
 * Requires each entry of a list to pass a test. Unlike class-validator's `each`, this rule reports the invalid entries,
 * such as `hosts[2]`. Values that are not lists pass; another rule must reject them.
 */
export function EachEntry(test: (entry: unknown) => boolean, detail: string): PropertyDecorator {
  const validate = (value: unknown): boolean => !Array.isArray(value) || value.every(test);
  return ValidateBy({ name: 'eachEntry', validator: { validate } }, { message: detail, context: { test } });
}

/** Skips the other rules of a member that is absent. `null` does not count as absent, unlike with `IsOptional`. */
export function IfGiven(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined);
}

/** Rule of class-validator for a member; the rules of a class are collected once. */
interface ClassRule {
  readonly name: string;
  readonly member: string;
  /**
   * Check of the rule. Absent: the member has an instance of a class with rules, or a list of such instances, which
   * are validated instead.
   */
  readonly check?: ValidatorConstraintInterface;
  readonly constraints: unknown[];
  readonly message: string | ((args: ValidationArguments) => string) | undefined;
  readonly each: boolean;
  readonly condition: ((object: unknown, value: unknown) => boolean) | undefined;
  readonly context: Partial<EachContext> | undefined;
}

interface MemberRules {
  readonly member: string;
  /** Conditions that must all hold for the rules to apply. */
  readonly conditions: ((object: unknown, value: unknown) => boolean)[];
  readonly own: ClassRule[];
  readonly nested: ClassRule[];
}

const rulesOfClass = new WeakMap<object, readonly MemberRules[]>();

/**
 * Finds the members of an instance that violate the rules of its class, with the entries and order of class-validator's
 * `validateSync`. Reads the rules once per class and stops after `most` entries, so a list of ten thousand takes
 * milliseconds.
 */
export function brokenRules(instance: object, most: number): ProblemEntry[] {
  const search = new RuleSearch(most);
  search.ofInstance(instance, '');
  return search.found;
}

class RuleSearch {
  readonly found: ProblemEntry[] = [];

  constructor(private readonly most: number) {}

  ofInstance(instance: object, path: string): void {
    const faults = classOf(instance).findFaults?.(instance) ?? [];
    this.found.push(...faults.map((it) => ({ ...it, path: path === '' ? it.path : `${path}.${it.path}` })));
    for (const rules of rulesOf(instance)) {
      if (this.found.length >= this.most) return;
      this.ofMember(instance as Record<string, unknown>, rules, path);
    }
  }

  private ofMember(
    instance: Record<string, unknown>,
    { member, conditions, own, nested }: MemberRules,
    at: string,
  ): void {
    const value = instance[member];
    if (conditions.some((isMet) => !isMet(instance, value))) return;
    const args = { object: instance, property: member, value, targetName: instance.constructor.name };
    const isParent = value === undefined || isAnyObject(value);
    const broken = [...own.filter((rule) => !isRuleKept(rule, args)), ...(isParent ? [] : nested)];
    if (broken.length === 0 && (nested.length === 0 || value === undefined)) return;
    const path = at === '' ? member : `${at}.${member}`;
    // Of rules with the same name the last counts, in the position of the first.
    if (broken.length > 0)
      this.addEntries(
        path,
        value,
        new Map(broken.map((rule) => [rule.name, { detail: ruleMessage(rule, args), rule }])),
      );
    if (isParent) for (const rule of nested) this.ofParts(value, rule, path);
  }

  /**
   * Adds the entries for the faults of a value. If the value must be a list and is not, only that fault is added.
   * Equal entries are added once.
   * @param broken violated rules, with their error texts, by the name of the rule
   */
  private addEntries(path: string, value: unknown, broken: Map<string, { detail: string; rule: ClassRule }>): void {
    const isArray = broken.get('isArray');
    const said = new Map<string, ProblemEntry>();
    for (const { detail, rule } of isArray ? [isArray] : broken.values())
      for (const it of pathsOf(value, rule, path)) said.set(`${it} ${detail}`, { path: it, detail });
    this.found.push(...said.values());
  }

  private ofParts(value: unknown, rule: ClassRule, path: string): void {
    if (!Array.isArray(value)) return isAnyObject(value) ? this.ofInstance(value, path) : undefined;
    for (const [index, entry] of value.entries()) {
      if (this.found.length >= this.most) return;
      const at = `${path}[${index}]`;
      if (isAnyObject(entry)) this.ofParts(entry, rule, at);
      else if (entry !== undefined) {
        const args = { object: value, property: rule.member, value: entry, targetName: 'Array' };
        this.found.push({ path: at, detail: ruleMessage(rule, args) });
      }
    }
  }
}

function classOf(instance: object): BodyType<object> {
  // Not `instance.constructor`: the sent value may have a member of that name.
  const { constructor: type } = Object.getPrototypeOf(instance) as { constructor: BodyType<object> };
  return type;
}

function rulesOf(instance: object): readonly MemberRules[] {
  const type = classOf(instance);
  const known = rulesOfClass.get(type);
  if (known) return known;
  const rules = readRules(type);
  rulesOfClass.set(type, rules);
  return rules;
}

function readRules(type: new () => object): MemberRules[] {
  const storage = getMetadataStorage();
  const members = storage.groupByPropertyName(storage.getTargetValidationMetadatas(type, '', false, false));
  return Object.entries(members).map(([member, declared]) => {
    // In the order of class-validator, which checks `isDefined` first.
    const all = declared.toSorted((a, b) => Number(b.type === 'isDefined') - Number(a.type === 'isDefined'));
    const rules = all.flatMap((it): ClassRule[] => {
      const { type: kind, message, each, validateIf: condition } = it;
      const constraints = (it.constraints as unknown[] | undefined) ?? [];
      const about = { member, constraints, message, each, condition, context: it.context as ClassRule['context'] };
      if (kind === 'nestedValidation') return [{ ...about, name: kind }];
      if (kind !== 'customValidation' && kind !== 'isDefined') return [];
      const checks = storage.getTargetValidatorConstraints(it.constraintCls);
      return checks.map(({ name, instance }) => ({ ...about, name, check: instance }));
    });
    const conditions = all.flatMap(({ type: kind, constraints }) =>
      kind === 'conditionalValidation' ? [constraints[0] as MemberRules['conditions'][number]] : [],
    );
    return { member, conditions, own: rules.filter(({ check }) => check), nested: rules.filter(({ check }) => !check) };
  });
}

type Checked = Omit<ValidationArguments, 'constraints'>;

function isRuleKept({ check, constraints, each, condition }: ClassRule, args: Checked): boolean {
  const { object, value } = args;
  if (condition && !condition(object, value)) return true;
  const passesCheck = (it: unknown): boolean => check?.validate(it, { ...args, constraints }) === true;
  return each && Array.isArray(value) ? value.every(passesCheck) : passesCheck(value);
}

/** Returns the paths of what violates a rule: the member itself, or the invalid entries of its list. */
function pathsOf(value: unknown, { context }: ClassRule, path: string): string[] {
  const test = context?.test;
  if (!test || !Array.isArray(value)) return [path];
  return value.flatMap((entry, index) => (test(entry) ? [] : [`${path}[${index}]`]));
}

function ruleMessage({ message, check, constraints }: ClassRule, args: Checked): string {
  const about = { ...args, constraints };
  const given = message ?? check?.defaultMessage?.(about) ?? '';
  const text = typeof given === 'function' ? given(about) : given;
  if (!text.includes('$')) return text;
  const { property, value, targetName } = args;
  const isShown = ['string', 'boolean', 'number'].includes(typeof value);
  const named = constraints.reduceRight<string>(
    (said, it, index) => said.replaceAll(`$constraint${index + 1}`, () => shownConstraint(it)),
    text,
  );
  const shown = isShown ? named.replaceAll('$value', () => String(value)) : named;
  return shown.replaceAll('$property', property).replaceAll('$target', targetName);
}

function shownConstraint(it: unknown): string {
  return Array.isArray(it) ? it.join(', ') : String(it);
}

/** Class of request bodies, with rules of class-validator and these static members. */
export interface BodyType<T extends object> {
  new (): T;
  /**
   * Creates an instance from the value that a client sent; absent: the members with rules are copied. Each class
   * declares the members that it knows; their values may be any JSON.
   */
  // oxlint-disable-next-line typescript/no-explicit-any
  from?(sent: any): T;
  /** Finds further faults of an instance, for a class whose members have no rules of class-validator. */
  // oxlint-disable-next-line typescript/no-explicit-any
  findFaults?(instance: any): ProblemEntry[];
  /** True if a missing body counts as an empty object. */
  readonly optional?: boolean;
  /** Error text for members without a rule; absent: such members are dropped. */
  readonly unknown?: string;
  /** Creates the error for the entries at fault; absent: a malformed request. */
  readonly exceptionFactory?: (entries: ProblemEntry[]) => Error;
}

/**
 * Reads a request's body as an instance of its class. Members that may be any JSON (`config`, `inputs`) keep the
 * values that were sent. Unlike with class-transformer, they are not searched, copied or converted.
 * @throws ProblemError 400 with one entry for each member at fault
 */
export function readBody<T extends object>(type: BodyType<T>, body: unknown): T {
  const refuse = type.exceptionFactory ?? ((entries) => malformedRequest(...entries));
  const sent = type.optional && body === undefined ? {} : body;
  if (!isJsonObject(sent)) throw refuse([{ path: '', detail: 'the body must be a JSON object' }]);
  refuseUnfitJson(sent);
  const instance = type.from ? type.from(sent) : withMembers(type, sent);
  const entries = [...brokenRules(instance, MOST_ENTRIES), ...unknownMembers(instance, sent)];
  if (entries.length > 0) throw refuse(entries);
  return instance;
}

/** Creates an instance of a class. It gets those of the sent members that have a rule in the class. */
export function withMembers<T extends object>(type: new () => T, sent: object): T {
  const instance = new type() as Record<string, unknown>;
  for (const name of ruledNames(type)) {
    const value = (sent as Record<string, unknown>)[name];
    if (value !== undefined) instance[name] = value;
  }
  return instance as T;
}

/** Returns those of the sent members that have a rule in the class. */
function ruledMembers(type: new () => object, sent: Record<string, unknown>): Record<string, unknown> {
  const given = [...ruledNames(type)].filter((name) => sent[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, sent[name]]));
}

/**
 * Returns an entry for each member that was sent and has no rule, of an instance and the instances in it. Only
 * classes with the static member `unknown` report such members, at most twenty for each instance.
 * @param path path of the instance in the body
 */
export function unknownMembers(instance: unknown, sent: unknown, path = ''): ProblemEntry[] {
  if (Array.isArray(instance) && Array.isArray(sent))
    return instance.flatMap((entry, index) => unknownMembers(entry, sent[index], `${path}[${index}]`));
  if (!isJsonObject(instance) || !isJsonObject(sent)) return [];
  const type = classOf(instance);
  if (type.unknown === undefined) return [];
  const [known, detail] = [ruledNames(type), type.unknown];
  const memberPath = (name: string): string => `${path === '' ? '' : `${path}.`}${textStart(name, 64)}`;
  const [nested, strange] = [Object.keys(instance), Object.keys(sent).filter((name) => !known.has(name))];
  return [
    ...nested
      .filter((name) => known.has(name))
      .flatMap((name) => unknownMembers(instance[name], sent[name], memberPath(name))),
    ...strange.slice(0, MOST_NAMED).map((name) => ({ path: memberPath(name), detail })),
  ];
}

/** Maximum number of unknown members that are listed for an instance. */
const MOST_NAMED = 20;

/** Cache of the names of members with rules, by class: rules never change, and a definition has thousands of edges. */
const ruledNamesOf = new WeakMap<object, ReadonlySet<string>>();

// oxlint-disable-next-line typescript/no-unsafe-function-type
function ruledNames(type: Function): ReadonlySet<string> {
  const known = ruledNamesOf.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = new Set(rules.map(({ propertyName }) => propertyName));
  ruledNamesOf.set(type, names);
  return names;
}

/** Class of query parameters: class-transformer converts their texts, class-validator checks them. */
interface QueryType<T extends object> {
  new (): T;
  /** Error text for unknown parameters; absent: such parameters are ignored. */
  readonly unknown?: string;
  /** Creates the error for the entries at fault; absent: a malformed request. */
  readonly exceptionFactory?: (entries: ProblemEntry[]) => Error;
}

/**
 * Reads a request's query as an instance of its class. Unknown parameters are ignored, unless the class has the static
 * member `unknown`.
 * @throws ProblemError 400 with one entry for each parameter at fault
 */
export function readQuery<T extends object>(type: QueryType<T>, query: unknown): T {
  const instance = plainToInstance(type, ruledMembers(type, query as Record<string, unknown>));
  const entries = [...brokenRules(instance, MOST_ENTRIES), ...unknownMembers(instance, query)];
  if (entries.length === 0) return instance;
  throw type.exceptionFactory?.(entries) ?? malformedRequest(...entries);
}

/**
 * Validates everything sent to `/api`: `@Body()` and `@Query()` parameters are instances of their declared classes,
 * checked by the rules of class-validator. Unlike Nest's ValidationPipe, this pipe reports errors as Problems, leaves
 * free-form JSON unchanged, and is synchronous.
 */
@Injectable()
export class ApiValidationPipe extends ValidationPipe {
  /** Validates a parameter. @throws ProblemError 400 with one entry for each field at fault */
  // Nest's own signature.
  // oxlint-disable-next-line typescript/no-explicit-any
  override transform(value: unknown, metadata: ArgumentMetadata): any {
    const { metatype, type } = metadata;
    if ((type !== 'body' && type !== 'query') || !metatype || !this.toValidate(metadata)) return value;
    return type === 'body'
      ? readBody(metatype as BodyType<object>, value)
      : readQuery(metatype as QueryType<object>, value);
  }
}
