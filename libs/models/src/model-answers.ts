import { InputSchema, InvalidInputSchema } from '#libs/expressions';
import { hasMoreMembers, refuseUnfitJson } from '#libs/http-server';
import {
  firstData,
  joinedText,
  jsonInText,
  type JsonObject,
  type JsonValue,
  type Part,
  withoutHalf,
} from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import type { Model, ModelCall, ModelEnd, ModelToolCall } from './model.js';

/** Default time in milliseconds for which text is held back. */
const HELD_MS = 80;

/** Starts a timer that resolves `over` after `ms` milliseconds; `endPause` stops it. */
export type Pause = (ms: number) => { over: Promise<void>; endPause(): void };

/** Text since the previous piece, and the event that followed it. Without an event, more text may follow. */
export interface Piece<E> {
  text: string;
  event?: E;
}

export interface CoalescingOptions {
  /** Milliseconds for which text is held; 80 unless set. */
  heldMs?: number;
  /** Timer for tests. */
  pause?: Pause;
}

/**
 * Merges consecutive texts, and yields each other event with the text before it.
 * - Text is yielded at most `heldMs` after its first piece, so at most once in that time.
 * - Characters stay whole: the first half of a surrogate pair waits for the second. A half that stays alone becomes
 *   U+FFFD.
 */
export async function* coalesceText<E extends object>(
  events: AsyncIterable<E | { text: string }>,
  { heldMs = HELD_MS, pause = startTimer }: CoalescingOptions = {},
): AsyncGenerator<Piece<E>> {
  const iterator = events[Symbol.asyncIterator]();
  let text = '';
  let held: ReturnType<Pause> | undefined;
  const letGo = (piece = text): string => {
    text = text.slice(piece.length);
    held?.endPause();
    held = undefined;
    return piece.toWellFormed();
  };
  try {
    for (let next = iterator.next(); ;) {
      const result = await (held ? Promise.race([next, held.over]) : next);
      if (!result) {
        const piece = letGo(withoutHalf(text));
        if (piece !== '') yield { text: piece };
        continue;
      }
      if (result.done) break;
      next = iterator.next();
      // Avoids an unhandled rejection if the reader leaves before this piece.
      next.catch(() => undefined);
      const { value } = result;
      if (!isText(value)) yield { text: letGo(), event: value };
      else if (value.text !== '') {
        text += value.text;
        held ??= pause(heldMs);
      }
    }
    if (text !== '') yield { text: letGo() };
  } finally {
    held?.endPause();
    void iterator.return?.().catch(() => undefined);
  }
}

function isText<E extends object>(event: E | { text: string }): event is { text: string } {
  return 'text' in event;
}

function startTimer(ms: number): ReturnType<Pause> {
  let timeout: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timeout = setTimeout(resolve, ms);
  });
  return { over, endPause: () => clearTimeout(timeout) };
}

/** Complete answer of a model. */
export interface WholeAnswer {
  /** Text as one Part, between Parts that are not text. */
  parts: Part[];
  toolCalls: ModelToolCall[];
  end: ModelEnd;
}

/** Reads an answer to its end. @throws as `Model.streamAnswer` does */
export async function wholeAnswer(model: Model, call: ModelCall): Promise<WholeAnswer> {
  const parts: Part[] = [];
  const toolCalls: ModelToolCall[] = [];
  let growing: Part | undefined;
  for await (const event of model.streamAnswer(call)) {
    if ('end' in event) return { parts: parts.length > 0 ? parts : [{ text: '' }], toolCalls, end: event.end };
    if ('toolCall' in event) toolCalls.push(event.toolCall);
    else if ('part' in event) {
      parts.push(event.part);
      growing = undefined;
    } else if (growing) growing.text = (growing.text ?? '') + event.text;
    else parts.push((growing = { text: event.text, mediaType: 'text/plain' }));
  }
  throw new Error('a stream of a model ended before its last event');
}

/** Rules for the JSON of an answer. Paths are relative to the value, such as `.items[2]`. */
export interface AnswerRules {
  faults(value: JsonValue): { path: string; detail: string }[];
}

/** Maximum number of faults that a model is told about one answer. */
const MOST_FAULTS = 10;

/** Rules that replace the schema that the model is asked for. */
export interface AnswerLimits {
  rules?: AnswerRules;
  /** JSON Schema (draft 7) in place of `rules`. */
  accepts?: JsonObject;
  /** Maximum number of members and elements of the JSON. */
  mostMembers?: number;
}

/** Required form of an answer: JSON that conforms to a schema. */
export class StructuredAnswer {
  private readonly rules: AnswerRules | undefined;
  private readonly mostMembers: number;

  /** @param schema schema for the model; the answer is validated against it unless the limits say otherwise */
  constructor(
    readonly schema: JsonObject,
    { accepts = schema, rules = usableSchema(accepts), mostMembers }: AnswerLimits = {},
  ) {
    this.rules = rules;
    this.mostMembers = mostMembers ?? DEFAULT_CONTENT_LIMITS.jsonMembers;
  }

  /** Returns the value of an answer, or its first ten faults: one phrase each, beginning with its path. */
  readValue(answer: readonly Part[]): { value: JsonValue } | { fault: string } {
    const value = firstData(answer) ?? this.jsonIn(joinedText(answer) ?? '');
    if (value === undefined) return { fault: 'output is not valid JSON' };
    const faults = this.rules?.faults(value).slice(0, MOST_FAULTS) ?? [];
    if (faults.length === 0) return { value };
    return { fault: faults.map(({ path, detail }) => `output${path} ${detail}`).join('; ') };
  }

  /** Returns the faults of all answers that have any. */
  faultsOf(answers: readonly (readonly Part[])[]): string[] {
    return answers.map((answer) => this.readValue(answer)).flatMap((read) => ('fault' in read ? [read.fault] : []));
  }

  /** Returns the message to a model about a wrong answer. */
  complaintAbout(answer: readonly Part[]): string {
    const [fault = ''] = this.faultsOf([answer]);
    return `That is not what was asked for: ${fault}. Answer again, with the whole JSON document and nothing else.`;
  }

  private jsonIn(text: string): JsonValue | undefined {
    const { rules, mostMembers } = this;
    return jsonInText(text, {
      read: (json) => (hasMoreMembers(json, mostMembers) ? undefined : parseFitJson(json)),
      ...(rules && { fits: (value) => rules.faults(value).length === 0 }),
    });
  }
}

function parseFitJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    refuseUnfitJson(value);
    return value;
  } catch {
    return undefined;
  }
}

/** Compiles a schema. Answers are not validated by a schema that was saved under other rules and is invalid now. */
function usableSchema(schema: JsonObject): InputSchema | undefined {
  try {
    return InputSchema.fromJson(schema, undefined, { mostFaults: MOST_FAULTS });
  } catch (error) {
    if (error instanceof InvalidInputSchema) return undefined;
    throw error;
  }
}
