import { isRequired, isSchema, type JsonSchema } from './json-schema.js';

/** Kinds of a form field, with their labels. */
export const FIELD_KINDS = {
  text: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  choice: 'One of several',
  date: 'Date',
  texts: 'List of texts',
} as const;

export type FieldKind = keyof typeof FIELD_KINDS;

/** A field of a form in the form builder. */
export interface FormField {
  name: string;
  kind: FieldKind;
  title: string;
  description: string;
  required: boolean;
  choices: readonly string[];
}

export const NEW_FIELD: FormField = {
  name: '',
  kind: 'text',
  title: '',
  description: '',
  required: true,
  choices: [],
};

const OF_OBJECT = new Set(['type', 'properties', 'required', 'title', 'description', '$schema']);
const OF_FIELD = new Set(['type', 'title', 'description', 'enum', 'format', 'items']);

/** Returns the fields of an object's JSON Schema; `undefined` if a list of fields cannot express it. */
export function fieldsOf(schema: unknown): FormField[] | undefined {
  if (schema === undefined) return [];
  if (!isSchema(schema) || schema.type !== 'object' || hasOther(schema, OF_OBJECT)) return undefined;
  const fields = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const field = isSchema(member) ? parseFormField(member) : undefined;
    return field && { ...field, name, required: isRequired(schema, name) };
  });
  return fields.every((it) => it !== undefined) ? fields : undefined;
}

/**
 * Returns the JSON Schema of an object with these fields.
 * @param last schema before the edit; its keywords other than `type`, `properties` and `required` are kept
 */
export function schemaOf(fields: readonly FormField[], last: unknown): JsonSchema {
  const { properties: _properties, required: _required, ...rest } = isSchema(last) ? last : {};
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, memberOf(field)])),
    ...(required.length > 0 && { required }),
  };
}

/**
 * Returns the kind of editor for a value's JSON Schema: `any` without a schema, `fields` for an object whose members a
 * list of fields can express, the kind of field for a single value, and `json` for any other schema.
 */
export function wholeKind(schema: unknown): FieldKind | 'any' | 'fields' | 'json' {
  if (schema === undefined) return 'any';
  if (fieldsOf(schema)) return 'fields';
  return (isSchema(schema) ? parseFormField(schema)?.kind : undefined) ?? 'json';
}

/**
 * Returns the JSON Schema of a single value of a kind.
 * @param choices allowed values for the kind `choice`
 */
export function wholeSchema(kind: FieldKind, choices: readonly string[] = []): JsonSchema {
  return memberOf({ ...NEW_FIELD, kind, choices });
}

/** Returns an unused field name. */
export function freeName(fields: readonly FormField[]): string {
  const taken = new Set(fields.map(({ name }) => name));
  for (let number = 1; ; number += 1) if (!taken.has(`field${number}`)) return `field${number}`;
}

function parseFormField(schema: JsonSchema): Omit<FormField, 'name' | 'required'> | undefined {
  const kind = hasOther(schema, OF_FIELD) ? undefined : detectFieldKind(schema);
  if (kind === undefined) return undefined;
  const choices = kind === 'choice' ? (schema.enum as string[]) : [];
  return { kind, title: schema.title ?? '', description: schema.description ?? '', choices };
}

function detectFieldKind({ type, enum: values, format, items }: JsonSchema): FieldKind | undefined {
  if (values !== undefined) {
    const texts = (type === undefined || type === 'string') && values.every((it) => typeof it === 'string');
    return texts && format === undefined && items === undefined ? 'choice' : undefined;
  }
  if (type === 'string') return format === undefined ? 'text' : format === 'date' ? 'date' : undefined;
  if (format !== undefined) return undefined;
  if (type === 'number' || type === 'integer' || type === 'boolean') return type;
  return type === 'array' && JSON.stringify(items) === '{"type":"string"}' ? 'texts' : undefined;
}

function memberOf({ kind, title, description, choices }: FormField): JsonSchema {
  return {
    ...TYPES[kind],
    ...(kind === 'choice' && { enum: [...choices] }),
    ...(title !== '' && { title }),
    ...(description !== '' && { description }),
  };
}

const TYPES: Readonly<Record<FieldKind, JsonSchema>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  choice: { type: 'string' },
  date: { type: 'string', format: 'date' },
  texts: { type: 'array', items: { type: 'string' } },
};

function hasOther(schema: JsonSchema, known: ReadonlySet<string>): boolean {
  return Object.keys(schema).some((keyword) => !known.has(keyword));
}
