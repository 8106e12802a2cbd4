import { tryParseJson } from '#libs/protocol';

/** JSON Schema of an answer, as far as the terminal shows it. */
export interface Form {
  required?: unknown;
  properties?: Record<string, { type?: unknown; enum?: unknown[]; title?: string }>;
}

/** Returns one line for each field of a form. */
export function formFields(form: Form | undefined): string[] {
  return Object.entries(form?.properties ?? {}).map(
    ([name, { title, enum: words, type }]) =>
      `    ${name}: ${words?.map(String).join(' | ') ?? (typeof type === 'string' ? type : 'any')}${title ? ` (${title})` : ''}`,
  );
}

/**
 * Parses a typed text as the data of a form: a JSON object, or any text if the form has exactly one required field.
 * Returns `undefined` if the text is neither.
 */
export function formData(form: Form, text: string): Record<string, unknown> | undefined {
  const json = parseIfJson(text);
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, unknown>;
  const [only, another] = Array.isArray(form.required) ? (form.required as unknown[]) : [];
  return typeof only === 'string' && another === undefined ? typedFields({ [only]: text }, form) : undefined;
}

/** Converts texts to the types of the form's fields, where possible. */
export function typedFields(fields: Record<string, unknown>, form: Form | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const type = form?.properties?.[name]?.type;
      const other = type === 'boolean' || type === 'number' || type === 'integer';
      return [name, other && typeof value === 'string' ? parseIfJson(value) : value];
    }),
  );
}

/** Returns the value of a JSON text, or the text itself if it is not JSON. */
function parseIfJson(text: string): unknown {
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}
