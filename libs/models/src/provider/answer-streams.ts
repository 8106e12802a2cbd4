import { responseErrorBody, sseEvents } from '#libs/a2a-client';
import { hasMoreMembers, tooManyMembers } from '#libs/http-server';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  refuseUnfitText,
  tryParseJson,
  UnfitJson,
} from '#libs/protocol';
import { MAX_ANSWER_BYTES } from '../model.js';
import { DONE_REASON } from './answer-events.js';
import { errorInWords } from './error-forms.js';

/** Maximum nesting depth of the JSON of an answer. */
const DEEPEST_ANSWER = 500;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Error of an answer whose JSON has too many members or levels. It is thrown before the JSON is parsed. */
export class UnfitAnswer extends Error {
  override readonly name = 'UnfitAnswer';
}

/**
 * Wraps a `fetch` so that an error response has a short body or none: see `responseErrorBody`.
 * @param mostMembers maximum number of members and elements in the JSON of an error body
 */
export function shortErrors(send: typeof fetch, mostMembers: number): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    const text = await responseErrorBody(response, mostMembers);
    return new Response(WITHOUT_BODY.has(status) ? null : text, { status, statusText, headers });
  };
}

/**
 * Wraps a `fetch` so that every answer is read as a stream of events (SSE), whatever its content type. An event whose
 * JSON has too many members or levels fails the answer with UnfitAnswer.
 */
export function fittingEvents(send: typeof fetch, mostMembers: number): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || !response.body) return response;
    const { status, statusText, headers } = response;
    const events = passFitEvents(response.body, mostMembers);
    const body = ReadableStream.from(events).pipeThrough(new TextEncoderStream());
    return new Response(body, { status, statusText, headers });
  };
}

/**
 * Rejects JSON with too many members or levels, without parsing it.
 * @throws UnfitAnswer
 */
function refuseUnfit(text: string, mostMembers: number): void {
  if (hasMoreMembers(text, mostMembers)) throw new UnfitAnswer(`the answer ${tooManyMembers(mostMembers)}`);
  try {
    refuseUnfitText(text, DEEPEST_ANSWER);
  } catch (cause) {
    throw cause instanceof UnfitJson ? new UnfitAnswer(`the answer: ${cause.message}`, { cause }) : cause;
  }
}

/** Writes an event of a stream (SSE), with one `data` field for each line. */
function eventText(data: string): string {
  return `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}

async function* passFitEvents(body: AsyncIterable<Uint8Array>, mostMembers: number): AsyncGenerator<string> {
  for await (const { type, data } of sseEvents(body, MAX_ANSWER_BYTES)) {
    refuseUnfit(data, mostMembers);
    yield `event: ${type}\n${eventText(data)}`;
  }
}

/** Members of one piece of a streamed tool call. A member that the piece lacks is an empty string. */
interface CallPiece {
  id: string;
  name: string;
  args: string;
}

/** Detects tool calls that one streamed answer sends twice. Reads each character once. */
class RepeatedCalls {
  /** Newest tool call at each index. Every piece of a call names the index of the call. */
  private readonly open = new Map<number, GrowingCall>();
  /** Keys (`callKey`) of earlier calls whose index has a newer call. */
  private readonly ended = new Set<string>();

  /** Adds a piece of a call. @returns true if the piece repeats a complete call: same index, id, name and arguments */
  takePiece(sent: JsonValue): boolean {
    if (!isJsonObject(sent) || typeof sent['index'] !== 'number') return false;
    const { index, id } = sent;
    const { name, arguments: args } = isJsonObject(sent['function']) ? sent['function'] : {};
    const piece = { id: pieceText(id), name: pieceText(name), args: pieceText(args) };
    const open = this.open.get(index);
    const isNamed = piece.id !== '' && piece.name !== '';
    if (isNamed && (open?.isRepeatedBy(piece) || this.ended.has(callKey(index, piece)))) return true;
    if (open && !(piece.name !== '' && open.isComplete)) open.addPiece(piece);
    else {
      if (open) this.ended.add(callKey(index, open));
      this.open.set(index, new GrowingCall(piece));
    }
    return false;
  }
}

/** Tool call whose pieces are still arriving. */
class GrowingCall implements CallPiece {
  id = '';
  name = '';
  args = '';
  private depth = 0;
  private inString = false;
  private escaped = false;

  constructor(piece: CallPiece) {
    this.addPiece(piece);
  }

  /** True if the arguments are complete: all lists, objects and strings are closed. */
  get isComplete(): boolean {
    return this.args !== '' && this.depth === 0 && !this.inString;
  }

  addPiece({ id, name, args }: CallPiece): void {
    this.id ||= id;
    this.name ||= name;
    this.args += args;
    for (const character of args) this.readCharacter(character);
  }

  isRepeatedBy({ id, name, args }: CallPiece): boolean {
    return this.isComplete && this.id === id && this.name === name && this.args === args;
  }

  private readCharacter(character: string): void {
    if (this.escaped) this.escaped = false;
    else if (character === '"') this.inString = !this.inString;
    else if (this.inString) this.escaped = character === '\\';
    else if (character === '{' || character === '[') this.depth += 1;
    else if (character === '}' || character === ']') this.depth -= 1;
  }
}

function callKey(index: number, { id, name, args }: CallPiece): string {
  return JSON.stringify([index, id, name, args]);
}

function pieceText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Data of the event that ends a stream of chat completions. */
const DONE = '[DONE]';

/**
 * Wraps a `fetch` to repair streams of chat completions that deviate from the format of OpenAI:
 * - A tool call that is sent again with the same index, id, name and arguments is passed on once.
 * - Arguments that are an object are passed on as JSON text.
 * - A piece with `usage` and without `choices` gets empty `choices`.
 * - An error that is a text gets the form of OpenAI.
 * - A text that ends with `[DONE]` and without a `finish_reason` gets one.
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

/** Repairs the events of one answer. */
class AnswerRepair {
  private readonly repeated = new RepeatedCalls();
  private hasText = false;
  private hasCalls = false;
  private hasEnd = false;

  /**
   * Returns the `data` of the events that replace one event: the repaired event, preceded by an added `finish_reason`
   * if a text ends with `[DONE]` and has none.
   */
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
    const error = errorInWords(chunk['error']);
    if (error) return this.repairChunk({ ...chunk, error });
    if ('error' in chunk) this.hasEnd = true;
    else if (!Array.isArray(choices)) return isJsonObject(chunk['usage']) ? { ...chunk, choices: [] } : chunk;
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isJsonObject(choice)) return chunk;
    this.hasEnd ||= typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '';
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

/**
 * Converts the arguments of a tool call to JSON text if they are an object. Lists and numbers stay, and the provider
 * package rejects them.
 */
function withTextArguments(call: JsonValue): JsonValue {
  if (!isJsonObject(call) || !isJsonObject(call['function'])) return call;
  const { arguments: args, ...rest } = call['function'];
  return isJsonObject(args) ? { ...call, function: { ...rest, arguments: JSON.stringify(args) } } : call;
}

/**
 * Wraps a `fetch` to change its requests: an earlier answer of the model that only calls tools gets an empty text as
 * its `content` instead of null, because some endpoints (llama-cpp-python) refuse null. The change is made in the JSON
 * text. It cannot match a text of the conversation, because JSON escapes the quotes of such a text.
 */
export function withoutNullContent(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const { body } = init ?? {};
    if (typeof body !== 'string') return send(input, init);
    return send(input, {
      ...init,
      body: body.replaceAll('"role":"assistant","content":null', '"role":"assistant","content":""'),
    });
  };
}

/**
 * Wraps a `fetch` for endpoints that answer a stream request with a whole chat completion: the JSON becomes a stream of
 * one piece. Errors and other content types pass unchanged.
 * @throws UnfitAnswer from the wrapped `fetch`, if the JSON has too many members or levels
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

/** Adds to each tool call its `index`, which pieces of a stream have. */
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
