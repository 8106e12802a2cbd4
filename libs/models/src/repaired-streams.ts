import { sseEvents } from '#libs/a2a-client';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '#libs/protocol';
import { MAX_ANSWER_BYTES } from './bounded-fetch.js';
import { eventText } from './fitting-answers.js';
import { RepeatedCalls } from './repeated-calls.js';

/** Data of the event after the last piece of an answer. */
const DONE = '[DONE]';
/** `finish_reason` added to a text that ended with `[DONE]` and without a reason. */
export const DONE_REASON = DONE;

/**
 * Wraps a `fetch` to repair streams of chat completions that deviate from the format:
 * - A tool call that is sent again with the same index, id, name and arguments is passed on once.
 * - Arguments that are an object are passed on as JSON text.
 * - A piece with `usage` needs no `choices`.
 * - A text that ends with `[DONE]` is whole without a `finish_reason`.
 * - Lines may end with CR, LF or both.
 *
 * Everything else is passed on unchanged.
 */
export function repairedStreams(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    if (!response.ok || !isStream || !response.body) return response;
    const { status, statusText, headers } = response;
    const body = ReadableStream.from(repairedEvents(response.body)).pipeThrough(new TextEncoderStream());
    return new Response(body, { status, statusText, headers });
  };
}

async function* repairedEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const answer = new AnswerRepair();
  for await (const { data } of sseEvents(body, MAX_ANSWER_BYTES)) {
    for (const it of answer.repairEvent(data)) yield eventText(it);
  }
}

/** Repairs the pieces of one answer. */
class AnswerRepair {
  private readonly repeated = new RepeatedCalls();
  private hasText = false;
  private hasCalls = false;
  private hasEnd = false;

  /** Returns the data to pass on for an event. */
  repairEvent(data: string): string[] {
    if (data.trim() === DONE) return this.isWholeText ? [JSON.stringify(END), data] : [data];
    const chunk = tryParseJson(data);
    if (!isJsonObject(chunk)) return [data];
    const repaired = this.repairChunk(chunk);
    return [repaired === chunk ? data : JSON.stringify(repaired)];
  }

  private get isWholeText(): boolean {
    return this.hasText && !this.hasCalls && !this.hasEnd;
  }

  private repairChunk(chunk: JsonObject): JsonObject {
    const { choices } = chunk;
    if ('error' in chunk) this.hasEnd = true;
    else if (!Array.isArray(choices)) return isJsonObject(chunk['usage']) ? { ...chunk, choices: [] } : chunk;
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isJsonObject(choice)) return chunk;
    this.hasEnd ||= typeof choice['finish_reason'] === 'string';
    const { delta } = choice;
    if (!isJsonObject(delta)) return chunk;
    this.hasText ||= hasText(delta['content']);
    const calls = delta['tool_calls'];
    if (!Array.isArray(calls) || calls.length === 0) return chunk;
    this.hasCalls = true;
    const kept = calls.map(withTextArguments).filter((call) => !this.repeated.takePiece(call));
    if (kept.length === calls.length && kept.every((call, at) => call === calls[at])) return chunk;
    return {
      ...chunk,
      choices: [{ ...choice, delta: { ...delta, tool_calls: kept } }, ...(choices as JsonValue[]).slice(1)],
    };
  }
}

const END: JsonObject = { choices: [{ index: 0, delta: {}, finish_reason: DONE_REASON }] };

function hasText(content: JsonValue | undefined): boolean {
  if (!Array.isArray(content)) return typeof content === 'string' && content !== '';
  return content.some((it) => isJsonObject(it) && hasText(it['text']));
}

/** Converts arguments that are an object to JSON text. Lists and numbers stay, and the package rejects them. */
function withTextArguments(call: JsonValue): JsonValue {
  if (!isJsonObject(call) || !isJsonObject(call['function'])) return call;
  const { arguments: args, ...rest } = call['function'];
  return isJsonObject(args) ? { ...call, function: { ...rest, arguments: JSON.stringify(args) } } : call;
}
