import { type FieldViolation, joinedText, type Part } from '#libs/protocol';
import type { InputSchema } from './input-schema.js';

/**
 * The Parts of an answer that are not what was asked for. With a form that is one data Part, or text where there is no
 * data; without one it is text.
 */
export function strayParts(form: InputSchema | undefined, parts: readonly Part[]): FieldViolation[] {
  const answers = form ? parts.findIndex(isData) : -1;
  return strays(form, parts, ({ text }, index) => index === answers || (answers < 0 && text !== undefined));
}

/** The data Parts of an answer that `readAnswer` leaves out. */
export function droppedData(form: InputSchema | undefined, parts: readonly Part[]): FieldViolation[] {
  const isText = form === undefined && joinedText(parts) !== undefined;
  const answers = isText ? -1 : parts.findIndex(isData);
  return strays(form, parts, (part, index) => index === answers || !isData(part));
}

function strays(
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
