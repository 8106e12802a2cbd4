import { dataPart, type FieldViolation, firstData, joinedText, type Part, textPart } from '#libs/protocol';
import type { InputSchema } from './input-schema.js';

/**
 * Reads the Parts of an answer. With a form the answer is the data Part, else the text as a value, and it must fit the
 * form. Without a form the answer is the text, else the data.
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
