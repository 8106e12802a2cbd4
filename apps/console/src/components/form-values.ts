/** Returns a field's trimmed text; `undefined` if it is empty. */
export function readText(fields: FormData, name: string): string | undefined {
  const value = fields.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Returns the entries of a text field, which commas or line breaks separate. */
export function readTexts(fields: FormData, name: string): string[] {
  return (readText(fields, name) ?? '').split(/[,\n]/).flatMap((it) => (it.trim() === '' ? [] : [it.trim()]));
}

/** Returns a field's number; `undefined` if it is empty. */
export function readNumber(fields: FormData, name: string): number | undefined {
  const text = readText(fields, name);
  return text === undefined ? undefined : Number(text);
}
