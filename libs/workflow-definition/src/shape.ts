import { isJsonObject, type JsonObject, type JsonValue, textStart } from '#libs/protocol';

/** Member that does not have the shape of its object. */
export interface ShapeFault {
  path: string;
  detail: string;
}

/** `required`: must be sent. `defaulted`: is always stored. A member that is not required may be null, which counts as absent. */
type Presence = 'required' | 'optional' | 'defaulted';

/** Declaration of a member: its checks, its stored form, and its two documentations. */
export interface Member<T = unknown, P extends Presence = Presence> {
  readonly presence: P;
  /** JSON Schema that the service publishes. It may be stricter than `findFaults`: rules check the rest. */
  readonly schema: JsonObject;
  /** Keywords of OpenAPI. */
  readonly api: Readonly<Record<string, JsonValue | undefined>>;
  /** Shape of the value, if it is an object. */
  readonly shape?: ObjectShape;
  /** Shape of each entry of a list. */
  readonly entryShape?: ObjectShape;
  readonly findFaults: (value: JsonValue | undefined, path: string) => Iterable<ShapeFault>;
  /** Copies a value without faults, excluding unknown members. */
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
  /** Name of the schema in OpenAPI. */
  readonly apiName: string;
  /** Name with its article, for messages; absent: unknown members are not reported. */
  readonly title?: string;
  readonly members: M;
  /** Names that are neither stored nor reported as unknown. */
  readonly ignored: readonly string[];
}

/** Type of a stored object. */
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

/** Declares a value that has to pass a test. */
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

/** Declares a string. */
export function textMember(schema: Keywords, api: ApiKeywords = {}): RequiredMember<string> {
  return valueMember(
    { type: 'string', ...schema },
    { type: 'string', ...sharedKeywords(schema), ...api },
    isText,
    'must be a string',
  );
}

/** Declares one of several words. */
export function wordMember<const T extends string>(words: readonly T[], schema: Keywords): RequiredMember<T> {
  const quoted = words.map((it) => `"${it}"`);
  const detail = `must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  const api = { type: 'string', enum: [...words], ...sharedKeywords(schema) };
  return valueMember({ enum: [...words], ...schema }, api, (it) => words.includes(it as T), detail);
}

/** Declares a number. Its range is published here and checked by a rule. */
export function numberMember<T extends number = number>(schema: Keywords, api: ApiKeywords = {}): RequiredMember<T> {
  const documented = { type: 'number', ...sharedKeywords(schema), ...api };
  return valueMember({ type: 'number', ...schema }, documented, (it) => typeof it === 'number', 'must be a number');
}

/** Declares a whole number within an inclusive range. The range is published here and checked by a rule. */
export function integerMember(
  [minimum, maximum]: readonly [number, number],
  schema: Keywords,
  api: ApiKeywords = {},
): RequiredMember<number> {
  return numberMember({ type: 'integer', minimum, maximum, ...schema }, { type: 'integer', ...api });
}

/** Declares `true` or `false`. */
export function flagMember(schema: Keywords): RequiredMember<boolean> {
  const test = (it: unknown): boolean => typeof it === 'boolean';
  return valueMember({ type: 'boolean', ...schema }, { type: 'boolean' }, test, 'must be true or false');
}

/** Declares an object that may have any members. */
export function recordMember(schema: Keywords, api: ApiKeywords): RequiredMember<JsonObject> {
  const documented = { type: 'object', additionalProperties: true, ...api };
  return valueMember({ type: 'object', ...schema }, documented, isJsonObject, 'must be an object');
}

/** Declares a list whose entries a rule checks. */
export function listMember<T>(schema: Keywords, api: ApiKeywords): RequiredMember<T[]> {
  return valueMember({ type: 'array', ...schema }, { type: 'array', ...api }, Array.isArray, 'must be an array');
}

/** Declares a list of strings. */
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

/** Declares an object of a shape. */
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

/** Reports a value in place of an object, and of a list also the entries. */
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
 * Declares a list of objects. An entry that is no object counts as an object without members. One entry beyond the
 * limit is checked.
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

/** Declares that a member may be absent or null. */
export function optionalMember<T>(member: RequiredMember<T>): Member<T, 'optional'> {
  return { ...member, presence: 'optional', schema: nullableSchema(member.schema) };
}

/** Declares that a member may be absent or null, and that a default is stored then. */
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

/** Keywords that both documentations have, unless OpenAPI says otherwise. */
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

/** Finds the members of an object that do not have their shape. */
export function* shapeFaults({ members }: ObjectShape, sent: JsonObject, path = ''): Generator<ShapeFault> {
  for (const name in members) {
    const { presence, findFaults } = members[name] as Member;
    const it = sent[name];
    if (presence === 'required' || (it !== undefined && it !== null))
      yield* findFaults(it, path === '' ? name : `${path}.${name}`);
  }
}

/** Copies an object without faults in the order of its shape, excluding null and unknown members. */
export function storedObject<M extends ShapeMembers>({ members }: ObjectShape<M>, sent: JsonObject): Stored<M> {
  const stored: Record<string, unknown> = {};
  for (const name in members) {
    const { store, createDefault } = members[name] as Member;
    const it = sent[name] ?? createDefault?.() ?? null;
    if (it !== null) stored[name] = store(it);
  }
  return stored as Stored<M>;
}

const MOST_REPORTED = 10;

/** Member that a shape does not declare. */
export interface UnknownMember {
  /** Shortened. */
  name: string;
  path: string;
  /** Title of the shape. */
  title: string;
}

/** Returns the unknown members of an object and of the objects in it: at most ten for each. Lists are not searched. */
export function unknownMembersOf(shape: ObjectShape, sent: JsonObject, path: string): UnknownMember[] {
  const { title, members, ignored } = shape;
  if (title === undefined) return [];
  const names = Object.keys(sent).filter((name) => !Object.hasOwn(members, name) && !ignored.includes(name));
  const own = names.slice(0, MOST_REPORTED).map((it) => {
    const name = textStart(it, 64);
    return { name, path: `${path}${name}`, title };
  });
  const inner = Object.entries(members).flatMap(([name, member]) => {
    const it = sent[name];
    return member.shape && isJsonObject(it) ? unknownMembersOf(member.shape, it, `${path}${name}.`) : [];
  });
  return [...own, ...inner];
}
