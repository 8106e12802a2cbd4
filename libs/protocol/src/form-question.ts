import { agentMessage, type TaskReference } from './constructors.js';
import type { FieldViolation } from './errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';
import type { Message, Part } from './message.js';

/** The extension, and the metadata key, under which a Message that asks says what an answer has to be. */
export const FORM_EXTENSION = 'urn:parley:extension:form:v1';

/** What a Message that asks says of the answer beside its Parts. */
export interface FormQuestion {
  /** The JSON Schema (draft 7) of the answer, which is the data of its data Part. Absent: any text will do. */
  form?: JsonObject;
  /** Who shall answer: a label. */
  assignee?: string;
  /** Until when (ISO 8601). */
  deadline?: string;
  /** What was wrong with the last answer; it is asked for again. */
  violations?: FieldViolation[];
}

/** A Message that asks. */
export function formMessage(reference: TaskReference, content: string | Part[], question: FormQuestion): Message {
  const metadata = { [FORM_EXTENSION]: { ...question } as unknown as JsonObject };
  return { ...agentMessage(reference, content, metadata), extensions: [FORM_EXTENSION] };
}

/** What a Message says of the answer to it, whoever wrote it; `undefined` where it says nothing. Members that are none are left out. */
export function formQuestion(message: Pick<Message, 'metadata'> | undefined): FormQuestion | undefined {
  const said = message?.metadata?.[FORM_EXTENSION];
  if (!isJsonObject(said)) return undefined;
  const { form, assignee, deadline, violations } = said;
  const found = Array.isArray(violations) ? violations.filter(isViolation) : [];
  return {
    ...(isJsonObject(form) && { form }),
    ...(typeof assignee === 'string' && { assignee }),
    ...(typeof deadline === 'string' && { deadline }),
    ...(found.length > 0 && { violations: found as unknown as FieldViolation[] }),
  };
}

function isViolation(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value['field'] === 'string' && typeof value['description'] === 'string';
}
