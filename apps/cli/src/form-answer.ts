import { tryParseJson } from '#libs/protocol';

/** The JSON Schema of an answer, as far as somebody at a terminal needs to know it. */
export interface Form {
  required?: unknown;
  properties?: Record<string, { type?: unknown; enum?: unknown[]; title?: string }>;
}

/** The fields of a form, a line each. */
export function formFields(form: Form | undefined): string[] {
  return Object.entries(form?.properties ?? {}).map(
    ([name, { title, enum: words, type }]) =>
      `    ${name}: ${words?.map(String).join(' | ') ?? (typeof type === 'string' ? type : 'any')}${title ? ` (${title})` : ''}`,
  );
}

/**
 * What was typed as the data of a form: an object as JSON, or a word where the form has one field that must be given.
 * `undefined` where it is neither.
 */
export function formData(form: Form, text: string): Record<string, unknown> | undefined {
  const json = readable(text);
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  const [only, another] = Array.isArray(form.required) ? (form.required as unknown[]) : [];
  return typeof only === 'string' && another === undefined ? typedFields({ [only]: text }, form) : undefined;
}

/** Texts as what the form asks for, where they can be read so. */
export function typedFields(fields: Record<string, unknown>, form: Form | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const type = form?.properties?.[name]?.type;
      const other = type === 'boolean' || type === 'number' || type === 'integer';
      return [name, other && typeof value === 'string' ? readable(value) : value];
    }),
  );
}

/** The value, where the text is JSON. */
function readable(text: string): unknown {
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}
