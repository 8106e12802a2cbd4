import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { PromptOutcome, SentPrompt } from './prompt-records.js';

/** Maximum number of UTF-16 code units of one attribute. */
const LONGEST = 64 * 1024;

/**
 * Returns span attributes for the request of a model call, as JSON texts (OpenTelemetry's semantic conventions for
 * GenAI). The oldest messages are omitted if not all fit.
 */
export function requestAttributes({ system, messages, tools }: SentPrompt): Record<string, string> {
  const input = messages.flatMap(toSpanMessages);
  const definitions = tools?.map((tool) => ({ type: 'function', ...(isJsonObject(tool) && toolDefinition(tool)) }));
  return {
    ...(system !== undefined && fitAttribute('gen_ai.system_instructions', [{ type: 'text', content: system }])),
    ...fitAttribute('gen_ai.input.messages', input),
    ...(definitions && fitAttribute('gen_ai.tool.definitions', definitions)),
  };
}

/** Returns span attributes for the answer of a model call; empty if there is no answer. */
export function answerAttributes({ message, reason }: PromptOutcome): Record<string, string> {
  if (message === undefined) return {};
  const said = toSpanMessages(message).map((it) => ({
    ...it,
    finish_reason: reason === 'tool-calls' ? 'tool_call' : 'stop',
  }));
  return fitAttribute('gen_ai.output.messages', said);
}

function fitAttribute(name: string, entries: readonly JsonValue[]): Record<string, string> {
  for (let from = 0; from < entries.length; from += Math.max(1, (entries.length - from) >> 1)) {
    const json = JSON.stringify(entries.slice(from));
    if (json.length <= LONGEST) return { [name]: json };
  }
  return {};
}

function toolDefinition({ name, description, inputSchema }: JsonObject): JsonObject {
  return { name: name ?? '', ...(description !== undefined && { description }), parameters: inputSchema ?? {} };
}

function toSpanMessages(message: JsonValue): JsonObject[] {
  if (!isJsonObject(message)) return [];
  const { role, parts, toolCalls, results } = message;
  const content = [
    ...objectsIn(parts).map(toSpanPart),
    ...objectsIn(toolCalls).map(({ id, name, args }) => ({
      type: 'tool_call',
      id: id ?? '',
      name: name ?? '',
      arguments: args ?? {},
    })),
    ...objectsIn(results).map(({ id, result, error }) => ({
      type: 'tool_call_response',
      id: id ?? '',
      response: result ?? error ?? null,
    })),
  ];
  return [{ role: role ?? 'user', parts: content }];
}

function toSpanPart(part: JsonObject): JsonObject {
  if (typeof part['text'] === 'string') return { type: 'text', content: part['text'] };
  if (part['data'] !== undefined) return { type: 'text', content: JSON.stringify(part['data']) };
  return { type: 'uri', modality: 'file', mime_type: part['mediaType'] ?? '', uri: part['url'] ?? '' };
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((it) => isJsonObject(it)) : [];
}
