import '../../src/app.module.js';
import { getMetadataStorage, validateSync } from 'class-validator';
import { withMembers } from '#libs/http-server';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';
import { Api } from '../support/workflow.js';

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
}

interface Operation {
  requestBody?: { content: Record<string, { schema?: Schema }> };
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** A rule of class-validator for a member. */
interface Rule {
  propertyName: string;
  type: string;
  name?: string;
  constraints?: readonly unknown[];
  each: boolean;
}

/** Keywords of JSON Schema that say what a rule of class-validator does. Other rules are tried in requests. */
const KEYWORDS: Record<string, (first: unknown, second: unknown) => Schema> = {
  isString: () => ({ type: 'string' }),
  isInt: () => ({ type: 'integer' }),
  isBoolean: () => ({ type: 'boolean' }),
  isArray: () => ({ type: 'array' }),
  isIn: (values) => ({ enum: [...(values as unknown[])] }),
  min: (minimum) => ({ minimum: minimum as number }),
  max: (maximum) => ({ maximum: maximum as number }),
  arrayMinSize: (least) => ({ minItems: least as number }),
  arrayMaxSize: (most) => ({ maxItems: most as number }),
  minLength: (least) => ({ minLength: least as number }),
  maxLength: (most) => ({ maxLength: most as number }),
  isLength: (least, most) => ({ minLength: least as number, maxLength: most as number }),
  matches: (pattern) => ({ pattern: (pattern as RegExp).source }),
};
/** A class of credentials is chosen by this member, and then has one of its words. */
const CHOSEN_BY = 'kind';
/** Classes that have all of their rules from another one. */
const INHERITING: Record<string, string> = {
  ConversationBody: 'ConversationRequest',
  McpReplacementBody: 'McpServerBody',
};
/** Schemas of bodies whose name is that of the path. Their rules are those of the body that creates the object. */
const REPLACEMENT = /Replacement(?=Body$)/;
/** A workflow without the expected revision is refused before its definition is checked. */
const EXPECTED = 'revision';
/** A definition and its parts have no rules: one shape checks and documents them. Requests try it like all others. */
const SHAPED =
  /^(Workflow(Replacement|Node|Edge)?|Note|Position|Each|Retry|Fallback|Output|Wait|Loop|Exit|Concurrency|Budget)Body$/;
/** Members that a request may have in any form: the path says the name, and a run without inputs is one. */
const FORMLESS = [/^PUT \S+ name: /, /^POST \/workflows\/\{name\}\/run inputs: /];

const stage = useSharedStage(KNOWS_CALLERS);
let api: Api;
let document: Document;
/** Schemas of bodies, by operation. */
let bodies: [route: string, schema: Schema][];

beforeAll(async () => {
  api = new Api(stage.parley.url, ANN.headers);
  document = (await (await fetch(`${stage.parley.url}/docs-json`)).json()) as Document;
  bodies = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      return schema ? [[`${method.toUpperCase()} ${path.replace(/^\/api/, '')}`, schema] as [string, Schema]] : [];
    }),
  );
});

describe('the documentation of bodies', () => {
  it('A19 has every member that has a rule, and no other', () => {
    expect(bodyClasses().length).toBeGreaterThan(25);
    for (const { type, schema } of bodyClasses())
      expect([type.name, ...ruledMembers(type)]).toEqual([type.name, ...Object.keys(schema.properties ?? {}).sort()]);
  });

  it('A19 requires the members that the rules require', () => {
    for (const { type, schema, isReplacement } of bodyClasses()) {
      const missing = validateSync(withMembers(type, {})).map(({ property }) => property);
      const [broken, required] = [missing, schema.required ?? []].map((names) =>
        names.filter((name) => name !== CHOSEN_BY && !(isReplacement && name === 'name')).toSorted(),
      );
      expect([type.name, broken]).toEqual([type.name, required]);
    }
  });

  it('A19 is closed where the rules refuse unknown members', () => {
    for (const { type, schema } of bodyClasses())
      expect([type.name, schema.additionalProperties === false]).toEqual([type.name, 'unknown' in type]);
  });

  it('A19 says of each member what its rules say', () => {
    const silent = bodyClasses().flatMap(({ type, schema, isReplacement }) =>
      rulesOf(type).flatMap(({ propertyName, name = '', constraints = [], each }) => {
        const isFree = propertyName === CHOSEN_BY || (isReplacement && propertyName === 'name');
        const said = isFree ? {} : (KEYWORDS[name]?.(constraints[0], constraints[1]) ?? {});
        const member = schema.properties?.[propertyName] ?? {};
        const documented: Schema = each ? (member.items ?? {}) : member;
        return Object.entries(said)
          .filter(([keyword, value]) => JSON.stringify(documented[keyword as keyof Schema]) !== JSON.stringify(value))
          .map(([keyword, value]) => `${type.name}.${propertyName}: ${keyword} ${JSON.stringify(value)}`);
      }),
    );
    expect(silent).toEqual([]);
  });

  it('A19 promises no limit that a request may break', async () => {
    const taken: string[] = [];
    for (const [route, schema] of bodies) {
      const [method = '', path = ''] = route.split(' ');
      for (const form of formsOf(schema)) {
        for (const { at, body, breach } of breaches(form, filledIn(form))) {
          const { status, text } = await api.call(method, path.replace(/\{\w+\}/, 'nope'), body);
          const isRefused = status >= 400 || text.includes('"severity":"error"');
          if (!isRefused || !text.includes(at.split('.').at(-1) ?? ''))
            taken.push(`${route} ${at}: ${breach} ${status}`);
        }
      }
    }
    expect(taken.filter((it) => !FORMLESS.some((form) => form.test(it)))).toEqual([]);
  });
});

/** Classes of bodies and of what stands in them, each with its schema, but for those of a definition. */
function bodyClasses(): { type: new () => object; schema: Schema; isReplacement: boolean }[] {
  const { validationMetadatas } = getMetadataStorage() as unknown as {
    validationMetadatas: Map<new () => object, unknown[]>;
  };
  const reached = new Set<string>();
  for (const [, schema] of bodies) reach(schema, reached);
  const names = [...reached].filter((name) => document.components.schemas[name]?.properties !== undefined);
  const ruled = names.filter((name) => !SHAPED.test(name));
  return ruled.map((name) => {
    const ruledName = INHERITING[name] ?? name.replace(REPLACEMENT, '');
    const type = [...validationMetadatas.keys()].find((it) => it.name === ruledName);
    if (!type) throw new Error(`The body ${name} has no rules`);
    return { type, schema: document.components.schemas[name] ?? {}, isReplacement: REPLACEMENT.test(name) };
  });
}

function reach(schema: Schema | undefined, reached: Set<string>): void {
  if (!schema) return;
  const { $ref, allOf = [], oneOf = [], items, properties = {} } = schema;
  if ($ref !== undefined) {
    const name = nameOf($ref);
    if (reached.has(name)) return;
    reached.add(name);
    return reach(document.components.schemas[name], reached);
  }
  for (const it of [...allOf, ...oneOf, items, ...Object.values(properties)]) reach(it, reached);
}

function rulesOf(type: new () => object): Rule[] {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
}

function ruledMembers(type: new () => object): string[] {
  return [...new Set(rulesOf(type).map(({ propertyName }) => propertyName))].sort();
}

/** Bodies that break one limit each, and where. */
function* breaches(schema: Schema, whole: unknown, at = ''): Generator<{ at: string; body: unknown; breach: string }> {
  const { properties = {}, required = [], additionalProperties } = resolved(schema);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return;
  const place = (name: string): string => (at === '' ? name : `${at}.${name}`);
  for (const name of required) {
    const { [name]: _removed, ...rest } = whole as Record<string, unknown>;
    yield { at: place(name), body: rest, breach: 'is missing' };
  }
  if (additionalProperties === false)
    yield { at: place('noSuchMember'), body: { ...whole, noSuchMember: 1 }, breach: 'is unknown' };
  for (const [name, member] of Object.entries(properties)) {
    for (const value of wrongValues(resolved(member)))
      yield { at: place(name), body: { ...whole, [name]: value }, breach: JSON.stringify(value).slice(0, 60) };
    const inner = (whole as Record<string, unknown>)[name];
    const items = resolved(member).items;
    const [entry, of] = Array.isArray(inner) ? [inner[0] as unknown, items] : [inner, member];
    if (!of) continue;
    for (const it of breaches(of, entry, place(name)))
      yield { ...it, body: { ...whole, [name]: Array.isArray(inner) ? [it.body, ...inner.slice(1)] : it.body } };
  }
}

/** Values that a schema does not allow. */
function wrongValues(schema: Schema): unknown[] {
  const { type, enum: values, minimum, maximum, minItems, maxItems, minLength, maxLength, items } = schema;
  return [
    ...(values ? ['no such word'] : []),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(type === 'integer' ? [1.5] : []),
    ...(minItems ? [[]] : []),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => filledIn(items ?? {}, true))]),
    ...(minLength ? [''] : []),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(items?.enum ? [['no such word']] : []),
    ...(['string', 'integer', 'number', 'boolean', 'array'].includes(type ?? '') ? [{}] : []),
    ...(type === 'object' ? ['no object'] : []),
  ];
}

function formsOf(schema: Schema): Schema[] {
  return schema.oneOf ?? [schema];
}

function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** A schema itself, with what the one adds that it names. */
function resolved(schema: Schema): Schema {
  if (schema.$ref !== undefined) return document.components.schemas[nameOf(schema.$ref)] ?? {};
  return schema.allOf?.length === 1 ? { ...schema, ...resolved(schema.allOf[0] ?? {}) } : schema;
}

/** What Swagger UI makes of a schema: every member of it, or what is required, with its own example. */
function filledIn(schema: Schema, isShort = false): unknown {
  const {
    example,
    examples,
    default: usual,
    enum: values,
    oneOf,
    properties,
    items,
    type,
    required,
  } = resolved(schema);
  const told = example ?? examples?.[0] ?? usual ?? values?.[0];
  if (told !== undefined) return told;
  if (oneOf?.[0]) return filledIn(oneOf[0], isShort);
  if (properties) {
    const members = Object.entries(properties).filter(([name]) => !isShort || required?.includes(name));
    return Object.fromEntries(
      members.filter(([name]) => name !== EXPECTED).map(([name, it]) => [name, filledIn(it, isShort)]),
    );
  }
  if (items) return [filledIn(items, isShort)];
  return { string: 'string', integer: 0, number: 0, boolean: true }[type ?? ''] ?? {};
}
