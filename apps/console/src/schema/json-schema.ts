/** Members of a JSON Schema that forms support. */
export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  minItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  [keyword: string]: unknown;
}

/** Kind of the control for a value. */
export type InputKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'object' | 'list' | 'json';

/** Schema that allows any value. It replaces a schema that is invalid or cannot be resolved. */
const ANYTHING: JsonSchema = {};
/** Maximum `$ref`s that are followed for one schema. */
const MOST_REFERENCES = 20;

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Resolves the `$ref` of a schema against the root schema, over at most MOST_REFERENCES references. Returns ANYTHING,
 * which allows any value, if a reference cannot be resolved.
 */
export function resolveSchema(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let at = schema;
  for (let count = 0; at.$ref !== undefined; count += 1) {
    const target = count < MOST_REFERENCES ? targetOf(at.$ref, root) : undefined;
    if (!target) return ANYTHING;
    const { $ref: _reference, ...rest } = at;
    at = { ...target, ...rest };
  }
  return at;
}

/** Returns the kind of control for a schema; `json` if no simpler one covers it. */
export function inputKind(schema: JsonSchema): InputKind {
  const { type, properties, items } = schema;
  if (choicesOf(schema)) return 'choice';
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer' || type === 'boolean') return type;
  if ((type === 'object' || type === undefined) && properties && Object.keys(properties).length > 0) return 'object';
  if (type === 'array' && isSchema(items)) return 'list';
  return 'json';
}

/** Returns the values that a schema enumerates, if any. */
export function choicesOf({ enum: values, const: only }: JsonSchema): unknown[] | undefined {
  if (Array.isArray(values) && values.length > 0) return values;
  return only === undefined ? undefined : [only];
}

/**
 * Returns the initial value of a form field: the schema's default. Without a default, a required field gets the
 * schema's only value (`const`), false, an empty list, or an object of its members' initial values, by the schema.
 * Any other field is empty at first: `undefined`.
 * @param required false if the field may stay empty
 */
export function initialValue(schema: JsonSchema, root: JsonSchema, required = true): unknown {
  const of = resolveSchema(schema, root);
  if (of.default !== undefined) return of.default;
  if (of.const !== undefined && required) return of.const;
  const kind = inputKind(of);
  if (kind === 'boolean' && required) return false;
  if (kind === 'list' && required) return [];
  if (kind !== 'object' || !required) return undefined;
  const members = Object.entries(of.properties ?? {}).map(
    ([name, member]) => [name, initialValue(member, root, isRequired(of, name))] as const,
  );
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

export function isRequired({ required }: JsonSchema, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

function targetOf(reference: string, root: JsonSchema): JsonSchema | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = isSchema(at) || Array.isArray(at) ? (at as Record<string, unknown>)[name] : undefined;
  }
  return isSchema(at) ? at : undefined;
}
