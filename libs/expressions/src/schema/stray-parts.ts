import { type FieldViolation, joinedText, type Part } from '#libs/protocol';
import type { InputSchema } from './input-schema.js';

/**
 * Returns violations for the Parts of an answer that are not the answer. With a form the answer is one data Part, or
 * text if there is no data; without a form it is text.
 */
export function strayParts(form: InputSchema | undefined, parts: readonly Part[]): FieldViolation[] {
  const answers = form ? parts.findIndex(isData) : -1;
  return findStrayParts(form, parts, ({ text }, index) => index === answers || (answers < 0 && text !== undefined));
}

/** Returns violations for the data Parts of an answer that `readAnswer` ignores. */
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
