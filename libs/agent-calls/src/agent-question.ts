import type { CalledTask } from '#libs/a2a-client';
import {
  agentMessage,
  firstData,
  formMessage,
  formQuestion,
  isJsonObject,
  type JsonObject,
  type Message,
  type Part,
  type TaskReference,
  textPart,
  textRows,
  textStart,
} from '#libs/protocol';

/** Metadata key of a Message whose question is about a call, or comes from a called agent. */
export const CALL_QUESTION = 'parley/question';

/** Metadata keys of a run's nodes that ask a question. */
const WAITING_KEY = 'parley/waiting';
const OPEN_KEY = 'parley/open-questions';

/** Maximum characters of a question for a model or a caller. */
const LONGEST_QUESTION = 32_768;

/**
 * True if a person has to answer: a login, the question of a `human` node, an approval, a question about a call with
 * unknown fate, or one of several questions. The Message says so in its metadata, or by the call that it is about.
 */
export function needsPerson({ status }: Pick<CalledTask, 'status'>): boolean {
  if (status?.state === 'TASK_STATE_AUTH_REQUIRED') return true;
  const { metadata, parts = [] } = status?.message ?? {};
  if (formQuestion(status?.message) || metadata?.[CALL_QUESTION] !== undefined) return true;
  const waiting = metadata?.[WAITING_KEY];
  const isOneOfSeveral = Array.isArray(waiting) && waiting.length > 1;
  return isOneOfSeveral || metadata?.[OPEN_KEY] !== undefined || parts.some(isToolCall);
}

/** Returns the text of a question. */
export function questionText({ status }: Pick<CalledTask, 'status'>): string {
  const parts = status?.message?.parts ?? [];
  const rows = textRows(parts).filter((row) => row !== '');
  const data = firstData(parts);
  const asked = rows.length > 0 ? rows.join('\n\n') : JSON.stringify(data ?? null);
  return rows.length === 0 && data === undefined ? 'An answer is needed' : textStart(asked, LONGEST_QUESTION);
}

/** Returns the Parts that pass an agent's question on to the caller of its caller. @param name of the agent */
export function questionParts(name: string, answer: Pick<CalledTask, 'status'>): Part[] {
  const parts = answer.status?.message?.parts ?? [];
  const text = textPart(`The agent "${name}" asks: ${questionText(answer)}`);
  return [text, ...parts.filter((part) => part.text === undefined)];
}

/**
 * Returns the Message by which a Task passes on the question of an agent that it calls. A person has to answer it.
 * @param about the call, for the metadata
 * @param asked the agent's own Message, whose form is kept
 */
export function questionMessage(
  reference: TaskReference,
  words: Part[],
  about: JsonObject,
  asked: Message | undefined,
): Message {
  const form = formQuestion(asked);
  const message = form ? formMessage(reference, words, form) : agentMessage(reference, words);
  return { ...message, metadata: { ...message.metadata, [CALL_QUESTION]: about } };
}

/** True for the data Part with which an agent asks about the call of a tool. */
function isToolCall({ data }: Part): boolean {
  return isJsonObject(data) && typeof data.tool === 'string' && isJsonObject(data.args);
}
