import type { CalledTask } from '#libs/a2a-client';
import { questionText } from '#libs/agent-calls';
import { isFilePart, type JsonObject, type JsonValue, type Part, textRows } from '#libs/protocol';

/** Returns a called agent's answer as a model reads it. */
export function calledAgentResult({ reply, artifacts, status }: CalledTask): JsonObject {
  const said = reply ?? status?.message;
  const made = reply || artifacts.length === 0 ? (said ? [said] : []) : artifacts;
  const parts = made.flatMap((it) => it.parts);
  const text = made.flatMap((it) => textRows(it.parts)).filter((row) => row !== '');
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
  const files = parts.filter(isFilePart).map(describeFile);
  return {
    status: 'completed',
    ...(text.length > 0 && { text: text.join('\n\n') }),
    ...(data.length > 0 && { data: data.length === 1 ? (data[0] as JsonValue) : data }),
    ...(files.length > 0 && { files }),
  };
}

/** Returns a called agent's question as a model reads it, if the model may answer. */
export function questionResult(answer: CalledTask): JsonObject {
  return { status: 'input-required', text: questionText(answer) };
}

function describeFile({ filename, mediaType, url }: Part): JsonObject {
  return { ...(filename !== undefined && { name: filename }), ...(mediaType && { mediaType }), ...(url && { url }) };
}
