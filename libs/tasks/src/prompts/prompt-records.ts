import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Request of one model call, as the model receives it. */
export interface SentPrompt {
  /** Number of the model call in the Task's log, from 1. A call that is repeated or falls back has the same number. */
  step: number;
  /** Name of the model in this service. */
  model: string;
  /** Provider, such as `openai-compatible`; absent for the built-in model. */
  provider?: string;
  /** Name of the model at the provider; absent for the built-in model. */
  providerModel?: string;
  /** System prompt; absent if there is none. */
  system?: string;
  /** Messages after the system prompt, with the history of earlier Tasks. */
  messages: readonly JsonValue[];
  /** Offered tools; absent if there are none. */
  tools?: readonly JsonValue[];
  /** JSON Schema for the answer; absent if the answer is free text. */
  output?: JsonObject;
  temperature?: number;
  /** Maximum number of tokens of the answer. */
  maxTokens?: number;
}

/** Numbers of tokens of one model call. A kind that the provider does not report is absent. */
interface PromptUsage {
  inputTokens: number;
  outputTokens: number;
  /** Input tokens that the provider read from its cache. */
  cachedInputTokens?: number;
  /** Input tokens that the provider wrote to its cache. */
  cacheWriteInputTokens?: number;
  /** Output tokens of the model's reasoning. */
  reasoningTokens?: number;
  /** Cost in US dollars, as a decimal number; absent if it is unknown. */
  cost?: string;
}

/** Outcome of one model call: an answer, or an error. */
export interface PromptOutcome {
  step: number;
  model: string;
  /** Milliseconds from the request to the end of the answer. */
  ms: number;
  /** Answer as a message of the conversation; absent after an error. */
  message?: JsonValue;
  /** Reason why the answer ended, as the provider reports it, for example `stop` or `tool-calls`. */
  reason?: string;
  usage?: PromptUsage;
  /** Description of a violation of the provider's protocol by the answer; absent if there is none. */
  note?: string;
  /** Error text, if the model gave no answer. */
  error?: string;
}

/** Numbers of the texts (pieces) of a message list, as ranges: `0-5,7`. */
export type PieceRanges = string;

/**
 * Line in the stored prompts of a Task: the request or the outcome of one call. The texts of prompts are called pieces;
 * they are numbered over all lines of a Task, from 0. A line contains only the pieces that no earlier line has.
 */
export interface PromptLine {
  kind: 'sent' | 'received';
  step: number;
  model: string;
  provider?: string;
  providerModel?: string;
  /** Time of the request (ISO 8601). */
  at?: string;
  temperature?: number;
  maxTokens?: number;
  /** Number of the piece with the system prompt; `tools`, `output` (schema) and `message` (answer) are pieces too. */
  system?: number;
  tools?: number;
  output?: number;
  message?: number;
  messages?: PieceRanges;
  ms?: number;
  reason?: string;
  usage?: PromptUsage;
  note?: string;
  error?: string;
  /** True if a text (piece) of the line was truncated or omitted. */
  cut?: true;
  /** True if the Task may have later lines that were not kept. */
  last?: true;
  pieces?: JsonValue[];
}

/**
 * Replacement of a piece that was too large to store: `cut` is its number of bytes, `start` its beginning as text, and
 * `digest` the digest of the whole piece.
 */
export interface CutPiece {
  cut: number;
  start: string;
  digest: string;
}

/** Number used in place of the number of a text (piece) that was not stored at all. */
export const NOT_KEPT = -1;

/** True if the piece is a CutPiece, which replaces a text that was too large to store. */
export function isCutPiece(piece: JsonValue | undefined): piece is JsonValue & CutPiece {
  if (!isJsonObject(piece)) return false;
  return typeof piece['cut'] === 'number' && typeof piece['start'] === 'string' && typeof piece['digest'] === 'string';
}

/** Returns the numbers of texts (pieces) as ranges. */
export function toRanges(numbers: readonly number[]): PieceRanges {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range && number !== NOT_KEPT && range[1] === number - 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === NOT_KEPT ? '' : from === to ? String(from) : `${from}-${to}`)).join(',');
}

/** Returns the numbers of texts (pieces) in ranges such as `0-5,7`, in order. */
export function numbersOf(ranges: PieceRanges): number[] {
  return ranges.split(',').flatMap((range) => {
    if (range === '') return [NOT_KEPT];
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** Parses the rows of stored prompts. A row contains one or more lines, separated by newlines. */
export function parseLines(rows: readonly string[]): PromptLine[] {
  return rows.flatMap((row) => row.split('\n').map((line) => JSON.parse(line) as PromptLine));
}
