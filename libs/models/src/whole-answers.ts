import { refuseUnfit } from './fitting-answers.js';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/**
 * Wraps a `fetch` for endpoints that answer a stream request with a whole chat completion, which becomes a stream of
 * one piece. Errors and other content types pass unchanged. An unfit answer fails.
 */
export function streamingWholeAnswers(send: typeof fetch, mostMembers: number): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || !/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) return response;
    const text = await response.text();
    refuseUnfit(text, mostMembers);
    return new Response(asStream(text) ?? text, { headers: { 'content-type': 'text/event-stream' } });
  };
}

function asStream(text: string): string | undefined {
  const answer = parseCompletion(text);
  if (!isJsonObject(answer)) return undefined;
  const choices = Array.isArray(answer['choices']) ? { choices: answer['choices'].map(chunkOf) } : {};
  return `data: ${JSON.stringify({ ...answer, ...choices })}\n\ndata: [DONE]\n\n`;
}

function chunkOf(choice: JsonValue): JsonValue {
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) return choice;
  const { message: delta, finish_reason: reason = 'stop', ...rest } = choice;
  return { ...rest, finish_reason: reason, delta: numberCalls(delta as JsonObject) };
}

/** Adds to each tool call the index that pieces of a stream have. */
function numberCalls(message: JsonObject): JsonObject {
  const calls = message['tool_calls'];
  if (!Array.isArray(calls)) return message;
  return { ...message, tool_calls: calls.map((call, index) => (isJsonObject(call) ? { index, ...call } : call)) };
}

function parseCompletion(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
