import { dataPart, type FieldViolation, firstData, joinedText, type Part, textPart } from '#libs/protocol';
import type { InputSchema } from './input-schema.js';

/**
 * What the Parts of an answer come to: the one Part that it is, or what is wrong with it. With a form that is the data,
 * or else the text as a value, which has to fit it; without one the text, or else the data.
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
