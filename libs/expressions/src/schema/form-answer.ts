import { dataPart, type FieldViolation, firstData, joinedText, type Part, textPart } from '#libs/protocol';
import type { InputSchema } from './input-schema.js';

/**
 * Reads the answer to a question from the Parts of a Message.
 *
 * - With a form, the answer is the first data Part, else the text as a string value. It must conform to the form.
 * - Without a form, the answer is the text, else the first data Part.
 *
 * @param form JSON Schema of the answer; `undefined`: any answer is accepted
 * @returns the answer as one Part, or the violations
 */
export function readAnswer(
  form: InputSchema | undefined,
  parts: readonly Part[],
): { answer: Part } | { violations: FieldViolation[] } {
  const [data, text] = [firstData(parts), joinedText(parts)];
  if (form === undefined && text !== undefined) return { answer: textPart(text) };
  const value = data ?? text;
  if (value === undefined) return { violations: [{ field: 'answer', description: 'is missing: it is text or data' }] };
  const faults = form?.faults(value) ?? [];
  if (faults.length === 0) return { answer: dataPart(value) };
  return { violations: faults.map(({ path, detail }) => ({ field: `answer${path}`, description: detail })) };
}

/**
 * Returns a violation for each Part that does not belong to the answer. With a form, the answer is one data Part, or
 * text if there is no data. Without a form, the answer is text. (`readAnswer` also accepts data without a form.)
 */
export function strayParts(form: InputSchema | undefined, parts: readonly Part[]): FieldViolation[] {
  const answers = form ? parts.findIndex(isData) : -1;
  return findStrayParts(form, parts, ({ text }, index) => index === answers || (answers < 0 && text !== undefined));
}

/** Returns a violation for each data Part that `readAnswer` does not use as the answer. */
export function droppedData(form: InputSchema | undefined, parts: readonly Part[]): FieldViolation[] {
  const isText = form === undefined && joinedText(parts) !== undefined;
  const answers = isText ? -1 : parts.findIndex(isData);
  return findStrayParts(form, parts, (part, index) => index === answers || !isData(part));
}

function findStrayParts(
  form: InputSchema | undefined,
  parts: readonly Part[],
  belongs: (part: Part, index: number) => boolean,
): FieldViolation[] {
  const description = `is no part of the answer, which is ${form ? 'one data Part' : 'text'}`;
  return parts.flatMap((part, index) => (belongs(part, index) ? [] : [{ field: `parts[${index}]`, description }]));
}

function isData({ data }: Part): boolean {
  return data !== undefined;
}
