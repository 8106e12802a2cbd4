import { getMetadataStorage } from 'class-validator';
import { textStart } from '#libs/protocol';
import { malformedRequest, MOST_ENTRIES, type ProblemEntry } from '../problems/problem.js';
import { brokenRules } from './broken-rules.js';
import { refuseUnfitJson } from './json-limits.js';

/** Class of request bodies, with class-validator's rules and these static members. */
export interface BodyType<T extends object> {
  new (): T;
  /**
   * Creates an instance of the sent value, if copying the members with rules is not enough. Each class declares the
   * members it knows; their values may be any JSON.
   */
  // oxlint-disable-next-line typescript/no-explicit-any
  from?(sent: any): T;
  /** True to treat a missing body as an empty object. */
  readonly optional?: boolean;
  /** Error text for members without a rule; absent: such members are dropped. */
  readonly unknown?: string;
  /** Creates the error for the entries at fault; absent: a malformed request. */
  readonly exceptionFactory?: (entries: ProblemEntry[]) => Error;
}

/**
 * Reads a request's body as an instance of its class. Free-form members (`config`, `inputs`) keep the sent values: they
 * are not walked, copied or converted as class-transformer would.
 * @throws ProblemError 400 with one entry for each member at fault
 */
export function readBody<T extends object>(type: BodyType<T>, body: unknown): T {
  const refuse = type.exceptionFactory ?? ((entries) => malformedRequest(...entries));
  const sent = type.optional ? (body ?? {}) : body;
  if (!isPlainObject(sent)) throw refuse([{ path: '', detail: 'the body must be a JSON object' }]);
  refuseUnfitJson(sent);
  const instance = type.from ? type.from(sent) : withMembers(type, sent);
  const entries = [...brokenRules(instance, MOST_ENTRIES), ...unknownMembers(instance, sent)];
  if (entries.length > 0) throw refuse(entries);
  return instance;
}

/** Creates an instance of a class with the sent members that have a rule. */
export function withMembers<T extends object>(type: new () => T, sent: object): T {
  const instance = new type() as Record<string, unknown>;
  for (const name of ruledNames(type)) {
    const value = (sent as Record<string, unknown>)[name];
    if (value !== undefined) instance[name] = value;
  }
  return instance as T;
}

/** Returns the sent members for which a class has a rule. */
export function ruledMembers(type: new () => object, sent: Record<string, unknown>): Record<string, unknown> {
  const given = [...ruledNames(type)].filter((name) => sent[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, sent[name]]));
}

/**
 * Returns the sent members without a rule, of an instance and of nested instances whose class has a text for them. At
 * most twenty are listed for each instance.
 * @param path path of the instance
 */
export function unknownMembers(instance: unknown, sent: unknown, path = ''): ProblemEntry[] {
  if (Array.isArray(instance) && Array.isArray(sent))
    return instance.flatMap((entry, index) => unknownMembers(entry, sent[index], `${path}[${index}]`));
  if (!isPlainObject(instance) || !isPlainObject(sent)) return [];
  // Not `instance.constructor`: the sent value may have a member of that name.
  const { constructor: type } = Object.getPrototypeOf(instance) as { constructor: BodyType<object> };
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

/** Maximum number of unknown members listed for an instance. */
const MOST_NAMED = 20;

/** Cache of the names with rules: rules never change, and a definition has thousands of edges. */
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

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
