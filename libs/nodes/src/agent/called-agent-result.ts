import type { CalledTask } from '#libs/a2a-client';
import {
  firstData,
  formQuestion,
  isFilePart,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Part,
  textPart,
  textRows,
  textStart,
} from '#libs/protocol';
import { isAboutCall } from './agent-events.js';

/** Metadata keys under which a run says which of its nodes ask. */
const WAITING_KEY = 'parley/waiting';
const OPEN_KEY = 'parley/open-questions';

/** Characters of a question that go to a model or to a caller. */
const LONGEST_QUESTION = 32_768;

/** Returns what a model reads of the answer of a called agent. */
export function resultOf({ reply, artifacts, status }: CalledTask): JsonObject {
  const said = reply ?? status?.message;
  const made = reply || artifacts.length === 0 ? (said ? [said] : []) : artifacts;
  const parts = made.flatMap((it) => it.parts);
  const text = made.flatMap((it) => textRows(it.parts)).filter((row) => row !== '');
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
  const files = parts.filter(isFilePart).map(fileOf);
  return {
    status: 'completed',
    ...(text.length > 0 && { text: text.join('\n\n') }),
    ...(data.length > 0 && { data: data.length === 1 ? (data[0] as JsonValue) : data }),
    ...(files.length > 0 && { files }),
  };
}

/** Returns what a model reads of a question that it may answer. */
export function questionResult(answer: CalledTask): JsonObject {
  return { status: 'input-required', text: questionText(answer) };
}

/** Returns the Parts of a question of an agent, for the caller of the calling agent. @param name of the tool */
export function questionParts(name: string, answer: CalledTask): Part[] {
  const parts = answer.status?.message?.parts ?? [];
  const text = textPart(`The agent "${name}" asks: ${questionText(answer)}`);
  return [text, ...parts.filter((part) => part.text === undefined)];
}

/**
 * True if a person has to answer: a login, the question of a `human` node, an approval, a question about a call with
 * unknown fate, or one of several questions. The Message says so in its metadata, or by the call that it is about.
 */
export function needsPerson({ status }: CalledTask): boolean {
  if (status?.state === 'TASK_STATE_AUTH_REQUIRED') return true;
  const { metadata, parts = [] } = status?.message ?? {};
  if (formQuestion(status?.message) || isAboutCall(metadata)) return true;
  const waiting = metadata?.[WAITING_KEY];
  const isOneOfSeveral = Array.isArray(waiting) && waiting.length > 1;
  return isOneOfSeveral || metadata?.[OPEN_KEY] !== undefined || parts.some(isToolCall);
}

/** The data Part by which an agent asks about a call of a tool. */
function isToolCall({ data }: Part): boolean {
  return isJsonObject(data) && typeof data.tool === 'string' && isJsonObject(data.args);
}

function questionText({ status }: CalledTask): string {
  const parts = status?.message?.parts ?? [];
  const rows = textRows(parts).filter((row) => row !== '');
  const data = firstData(parts);
  const asked = rows.length > 0 ? rows.join('\n\n') : JSON.stringify(data ?? null);
  return rows.length === 0 && data === undefined ? 'An answer is needed' : textStart(asked, LONGEST_QUESTION);
}

function fileOf({ filename, mediaType, url }: Part): JsonObject {
  return { ...(filename !== undefined && { name: filename }), ...(mediaType && { mediaType }), ...(url && { url }) };
}
