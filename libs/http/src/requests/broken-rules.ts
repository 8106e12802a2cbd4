import { getMetadataStorage, type ValidationArguments, type ValidatorConstraintInterface } from 'class-validator';
import type { ProblemEntry } from '../problems/problem.js';
import type { EachContext } from './each-rule.js';

/** Rule of class-validator for a member, collected once per class. */
interface ClassRule {
  readonly name: string;
  readonly member: string;
  /** Check of the rule. Absent: the member is an instance with its own rules, or a list of such. */
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
   * Adds the entries of a value. For a value that is not a list, only that is reported. Equal entries are added once.
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

function rulesOf(instance: object): readonly MemberRules[] {
  // Not `instance.constructor`: the sent value may have a member of that name.
  const { constructor: type } = Object.getPrototypeOf(instance) as { constructor: new () => object };
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

/** Returns the paths at fault: the member, or the invalid entries of a list. */
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

function isAnyObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
