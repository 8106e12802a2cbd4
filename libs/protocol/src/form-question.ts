import { agentMessage, type TaskReference } from './constructors.js';
import type { FieldViolation } from './errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';
import type { Message, Part } from './message.js';

/** URI of the extension, and metadata key, under which a question describes the expected answer. */
export const FORM_EXTENSION = 'urn:parley:extension:form:v1';

/** Description of the answer that a question expects. */
export interface FormQuestion {
  /** JSON Schema (draft 7) of the data Part that answers. Absent: any text is accepted. */
  form?: JsonObject;
  /** Label of the person or group who shall answer. */
  assignee?: string;
  /** Deadline of the answer (ISO 8601). */
  deadline?: string;
  /** Violations of the previous answer, for which the question is repeated. */
  violations?: FieldViolation[];
}

/** Creates a Message that asks a question. */
export function formMessage(reference: TaskReference, content: string | Part[], question: FormQuestion): Message {
  const metadata = { [FORM_EXTENSION]: { ...question } as unknown as JsonObject };
  return { ...agentMessage(reference, content, metadata), extensions: [FORM_EXTENSION] };
}

/**
 * Reads the question in a Message from any sender; `undefined` if it has none. Members with invalid types are dropped.
 */
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
