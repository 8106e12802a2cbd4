import { getMetadataStorage } from 'class-validator';
import { textStart } from '#libs/protocol';
import { malformed, MOST_ENTRIES, type ProblemEntry } from '../problems/problem.js';
import { brokenRules } from './broken-rules.js';
import { refuseUnfitJson } from './json-limits.js';

/** A class of request bodies: class-validator says what is allowed. What else is to be said of it, it says by these. */
export interface BodyType<T extends object> {
  new (): T;
  /**
   * Makes an instance of what was sent, where that is more than to take over the members that have a rule.
   * Each class names the members that it knows; JSON is all that is promised of their values.
   */
  // oxlint-disable-next-line typescript/no-explicit-any
  from?(sent: any): T;
  /** Where it is true, no body stands for an empty one. */
  readonly optional?: boolean;
  /** With which words members are refused that have no rule; without it they are left out. */
  readonly unknown?: string;
  /** Makes the error of what is wrong, where that is not `malformed`. */
  readonly exceptionFactory?: (entries: ProblemEntry[]) => Error;
}

/**
 * A request's body as an instance of its class. Free-form members (`config`, `inputs`) stay the very values that were
 * sent: nothing walks through them, copies or converts them, as class-transformer would.
 * @throws ProblemError 400 with one entry for each member at fault
 */
export function readBody<T extends object>(type: BodyType<T>, body: unknown): T {
  const refuse = type.exceptionFactory ?? ((entries) => malformed(...entries));
  const sent = type.optional ? (body ?? {}) : body;
  if (!isObject(sent)) throw refuse([{ path: '', detail: 'the body must be a JSON object' }]);
  refuseUnfitJson(sent);
  const instance = type.from ? type.from(sent) : withMembers(type, sent);
  const entries = [...brokenRules(instance, MOST_ENTRIES), ...unknownMembers(instance, sent)];
  if (entries.length > 0) throw refuse(entries);
  return instance;
}

/** An instance of a class with those of the members that were sent for which it has a rule. */
export function withMembers<T extends object>(type: new () => T, sent: object): T {
  const instance = new type() as Record<string, unknown>;
  for (const name of ruledNames(type)) {
    const value = (sent as Record<string, unknown>)[name];
    if (value !== undefined) instance[name] = value;
  }
  return instance as T;
}

/** The members of what was sent for which a class has a rule. */
export function ruledMembers(type: new () => object, sent: Record<string, unknown>): Record<string, unknown> {
  const given = [...ruledNames(type)].filter((name) => sent[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, sent[name]]));
}

/**
 * The members that no rule knows, of an instance and of those in its members and lists whose class has words for them.
 * Of more than twenty at one place the first are named.
 * @param path where the instance is
 */
export function unknownMembers(instance: unknown, sent: unknown, path = ''): ProblemEntry[] {
  if (Array.isArray(instance) && Array.isArray(sent))
    return instance.flatMap((entry, index) => unknownMembers(entry, sent[index], `${path}[${index}]`));
  if (!isObject(instance) || !isObject(sent)) return [];
  // Not `instance.constructor`: what was sent may have a member of that name.
  const { constructor: type } = Object.getPrototypeOf(instance) as { constructor: BodyType<object> };
  if (type.unknown === undefined) return [];
  const [known, detail] = [ruledNames(type), type.unknown];
  const at = (name: string): string => `${path === '' ? '' : `${path}.`}${textStart(name, 64)}`;
  const [nested, strange] = [Object.keys(instance), Object.keys(sent).filter((name) => !known.has(name))];
  return [
    ...nested.filter((name) => known.has(name)).flatMap((name) => unknownMembers(instance[name], sent[name], at(name))),
    ...strange.slice(0, MOST_NAMED).map((name) => ({ path: at(name), detail })),
  ];
}

/** Of strange members at one place. */
const MOST_NAMED = 20;

/** A class has its rules from the beginning, and a definition has thousands of edges. */
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
