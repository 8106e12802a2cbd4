import { isJsonObject, type JsonObject, type JsonValue, textStart } from '#libs/protocol';

/** A malformed member: its value does not have the declared shape. */
export interface ShapeFault {
  path: string;
  detail: string;
}

/**
 * Presence of a member.
 * - `required`: must be sent.
 * - `optional`: may be absent.
 * - `defaulted`: may be absent, and a default is stored then.
 *
 * Null counts as absent, except for a required member.
 */
type Presence = 'required' | 'optional' | 'defaulted';

/** Declaration of a member: its checks, its stored form, its JSON Schema and its OpenAPI documentation. */
export interface Member<T = unknown, P extends Presence = Presence> {
  readonly presence: P;
  /**
   * JSON Schema of the member that the service publishes. It may be stricter than `findFaults`; the keywords that
   * `findFaults` does not check are checked by the rules in `workflowProblems`.
   */
  readonly schema: JsonObject;
  /** Keywords for the OpenAPI documentation. */
  readonly api: Readonly<Record<string, JsonValue | undefined>>;
  /** Shape of the value, if it is an object. */
  readonly shape?: ObjectShape;
  /** Shape of each entry, if the value is a list of objects. */
  readonly entryShape?: ObjectShape;
  readonly findFaults: (value: JsonValue | undefined, path: string) => Iterable<ShapeFault>;
  /** Returns a copy of a valid value without unknown members. */
  readonly store: (value: JsonValue) => T;
  /** Creates the stored value of an absent member. */
  readonly createDefault?: () => JsonValue;
}

type ShapeMembers = Readonly<Record<string, Member>>;
type Keywords = JsonObject;
type Described = Keywords & { description: string };
type ApiKeywords = Member['api'];
type RequiredMember<T> = Member<T, 'required'>;

/** Declaration of an object. Its members are checked and stored in their declared order. */
export interface ObjectShape<M extends ShapeMembers = ShapeMembers> {
  /** Name of the object's schema in OpenAPI. */
  readonly apiName: string;
  /**
   * Name of the object with its article, for messages, for example `a node`. If it is absent, unknown members are not
   * reported.
   */
  readonly title?: string;
  readonly members: M;
  /** Names of members that are dropped silently: they are not stored, and do not count as unknown. */
  readonly ignored: readonly string[];
}

/** TypeScript type of an object with these members, as it is stored. */
export type Stored<M extends ShapeMembers> = {
  -readonly [K in keyof M as M[K]['presence'] extends 'optional' ? never : K]: ReturnType<M[K]['store']>;
} & {
  -readonly [K in keyof M as M[K]['presence'] extends 'optional' ? K : never]?: ReturnType<M[K]['store']>;
};

/** Declares the shape of an object. */
export function objectShape<M extends ShapeMembers>(
  apiName: string,
  title: string | undefined,
  members: M,
  ignored: readonly string[] = [],
): ObjectShape<M> {
  return { apiName, ...(title !== undefined && { title }), members, ignored };
}

/** Declares a required member. If a value does not pass `test`, it has a fault with the text `detail`. */
export function valueMember<T>(
  schema: JsonObject,
  api: ApiKeywords,
  test: (value: JsonValue | undefined) => boolean,
  detail: string,
): RequiredMember<T> {
  return {
    presence: 'required',
    schema,
    api,
    *findFaults(it, path) {
      if (!test(it)) yield { path, detail };
    },
    store: (it) => it as T,
  };
}

const isText = (it: unknown): boolean => typeof it === 'string';

/** Declares a required string. */
export function textMember(schema: Keywords, api: ApiKeywords = {}): RequiredMember<string> {
  return valueMember(
    { type: 'string', ...schema },
    { type: 'string', ...sharedKeywords(schema), ...api },
    isText,
    'must be a string',
  );
}

/** Declares a required string that is one of `words`. */
export function wordMember<const T extends string>(words: readonly T[], schema: Keywords): RequiredMember<T> {
  const quoted = words.map((it) => `"${it}"`);
  const detail = `must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  const api = { type: 'string', enum: [...words], ...sharedKeywords(schema) };
  return valueMember({ enum: [...words], ...schema }, api, (it) => words.includes(it as T), detail);
}

/** Declares a required number. The published schema has its range; `workflowProblems` checks that range. */
export function numberMember<T extends number = number>(schema: Keywords, api: ApiKeywords = {}): RequiredMember<T> {
  const documented = { type: 'number', ...sharedKeywords(schema), ...api };
  return valueMember({ type: 'number', ...schema }, documented, (it) => typeof it === 'number', 'must be a number');
}

/**
 * Declares a required whole number. The published schema has its inclusive range; `workflowProblems` checks that range.
 */
export function integerMember(
  [minimum, maximum]: readonly [number, number],
  schema: Keywords,
  api: ApiKeywords = {},
): RequiredMember<number> {
  return numberMember({ type: 'integer', minimum, maximum, ...schema }, { type: 'integer', ...api });
}

/** Declares a required boolean. */
export function flagMember(schema: Keywords): RequiredMember<boolean> {
  const test = (it: unknown): boolean => typeof it === 'boolean';
  return valueMember({ type: 'boolean', ...schema }, { type: 'boolean' }, test, 'must be true or false');
}

/** Declares a required object that may have any members. */
export function recordMember(schema: Keywords, api: ApiKeywords): RequiredMember<JsonObject> {
  const documented = { type: 'object', additionalProperties: true, ...api };
  return valueMember({ type: 'object', ...schema }, documented, isJsonObject, 'must be an object');
}

/** Declares a required list. Its entries are checked by a rule in `workflowProblems`. */
export function listMember<T>(schema: Keywords, api: ApiKeywords): RequiredMember<T[]> {
  return valueMember({ type: 'array', ...schema }, { type: 'array', ...api }, Array.isArray, 'must be an array');
}

/** Declares a required list of strings. */
export function textsMember(schema: Keywords, api: ApiKeywords): RequiredMember<string[]> {
  const list = listMember<string>(schema, api);
  return {
    ...list,
    api: { ...api, type: 'string', isArray: true },
    *findFaults(it, path) {
      yield* list.findFaults(it, path);
      if (!Array.isArray(it)) return;
      for (const [index, entry] of it.entries())
        if (!isText(entry)) yield { path: `${path}[${index}]`, detail: 'must be a string' };
    },
  };
}

/** Declares a required object of the given shape. */
export function objectMember<M extends ShapeMembers>(
  shape: ObjectShape<M>,
  schema: Described,
  api: ApiKeywords = {},
): RequiredMember<Stored<M>> {
  return {
    presence: 'required',
    schema: { ...shapeSchema(shape), ...schema },
    api: { description: schema.description, ...api },
    shape,
    *findFaults(it, path) {
      if (isJsonObject(it)) yield* shapeFaults(shape, it, path);
      else yield* noObjects(it, path);
    },
    store: (it) => storedObject(shape, it as JsonObject),
  };
}

/**
 * Yields the faults of a value that should be an object and is not. If the value is a list, also yields a fault for
 * each entry that is not an object, in nested lists too.
 */
function* noObjects(value: JsonValue | undefined, path: string): Generator<ShapeFault> {
  yield { path, detail: 'must be an object' };
  yield* Array.isArray(value) ? strayEntries(value, path) : [];
}

function* strayEntries(list: readonly JsonValue[], path: string): Generator<ShapeFault> {
  for (const [index, entry] of list.entries()) {
    const at = `${path}[${index}]`;
    if (Array.isArray(entry)) yield* strayEntries(entry, at);
    else if (!isJsonObject(entry)) yield { path: at, detail: 'must be an object' };
  }
}

/**
 * Declares a required list of objects. An entry that is not an object is checked as an object without members. If the
 * list has more than `most` entries, only the first `most + 1` are checked.
 */
export function objectsMember<M extends ShapeMembers>(
  shape: ObjectShape<M>,
  most: number,
  schema: Described,
): RequiredMember<Stored<M>[]> {
  const { description, ...others } = schema;
  return {
    presence: 'required',
    schema: { maxItems: most, type: 'array', ...others, items: shapeSchema(shape), description },
    api: { maxItems: most },
    entryShape: shape,
    *findFaults(it, path) {
      if (!Array.isArray(it)) return yield { path, detail: 'must be an array' };
      if (it.length > most) yield { path, detail: `must not have more than ${most} entries` };
      for (const [index, entry] of it.slice(0, most + 1).entries())
        yield* shapeFaults(shape, isJsonObject(entry) ? entry : {}, `${path}[${index}]`);
    },
    store: (it) => (it as JsonObject[]).map((entry) => storedObject(shape, entry)),
  };
}

/** Makes a required member optional: it may be absent or null. */
export function optionalMember<T>(member: RequiredMember<T>): Member<T, 'optional'> {
  return { ...member, presence: 'optional', schema: nullableSchema(member.schema) };
}

/** Makes a required member optional. If it is absent or null, the result of `createDefault` is stored. */
export function defaultedMember<T>(member: RequiredMember<T>, createDefault: () => JsonValue): Member<T, 'defaulted'> {
  return { ...member, presence: 'defaulted', schema: nullableSchema(member.schema), createDefault };
}

function nullableSchema(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [type, 'null'] as JsonValue }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: 'null' }] }),
  };
}

/**
 * Keywords that are copied from the JSON Schema to OpenAPI, unless the OpenAPI keywords of the member override them.
 */
const SHARED = ['enum', 'default', 'minimum', 'maximum'];

function sharedKeywords(schema: Keywords): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => SHARED.includes(keyword)));
}

/** Returns the JSON Schema of a shape. */
export function shapeSchema({ members }: ObjectShape): { properties: JsonObject } & JsonObject {
  const declared = Object.entries(members);
  return {
    type: 'object',
    properties: Object.fromEntries(declared.map(([name, { schema }]) => [name, schema])),
    required: declared.filter(([, { presence }]) => presence === 'required').map(([name]) => name),
  };
}

/** Yields the malformed members of an object. */
export function* shapeFaults({ members }: ObjectShape, sent: JsonObject, path = ''): Generator<ShapeFault> {
  for (const name in members) {
    const { presence, findFaults } = members[name] as Member;
    const it = sent[name];
    if (presence === 'required' || (it !== undefined && it !== null))
      yield* findFaults(it, path === '' ? name : `${path}.${name}`);
  }
}

/**
 * Returns a copy of a valid object. Its members are in the order of the shape; null and unknown members are omitted.
 */
export function storedObject<M extends ShapeMembers>({ members }: ObjectShape<M>, sent: JsonObject): Stored<M> {
  const stored: Record<string, unknown> = {};
  for (const name in members) {
    const { store, createDefault } = members[name] as Member;
    const it = sent[name] ?? createDefault?.() ?? null;
    if (it !== null) stored[name] = store(it);
  }
  return stored as Stored<M>;
}

/** Maximum number of unknown members that are reported for one object. */
const MOST_REPORTED = 10;

/** Member that a shape does not declare. */
export interface UnknownMember {
  /** Name of the member, truncated to 64 characters. */
  name: string;
  path: string;
  /** Title of the shape. */
  title: string;
  /** Names of the members that the shape declares. */
  known: string[];
}

/**
 * Returns the unknown members of an object and of the objects inside it: at most ten for each object. Lists are not
 * searched.
 */
export function unknownMembersOf(shape: ObjectShape, sent: JsonObject, path: string): UnknownMember[] {
  const { title, members, ignored } = shape;
  if (title === undefined) return [];
  const names = Object.keys(sent).filter((name) => !Object.hasOwn(members, name) && !ignored.includes(name));
  const own = names.slice(0, MOST_REPORTED).map((it) => {
    const name = textStart(it, 64);
    return { name, path: `${path}${name}`, title, known: Object.keys(members) };
  });
  const inner = Object.entries(members).flatMap(([name, member]) => {
    const it = sent[name];
    return member.shape && isJsonObject(it) ? unknownMembersOf(member.shape, it, `${path}${name}.`) : [];
  });
  return [...own, ...inner];
}
