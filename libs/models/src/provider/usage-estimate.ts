import type { Part } from '#libs/protocol';
import type { ModelCall, ModelUsage } from '../model.js';
import { costOf, type ModelPrice } from '../model-price.js';

/** Estimated number of characters of a token. */
const TOKEN = 4;
/** Estimated number of tokens of a file. */
const FILE_TOKENS = 1_000;
/** Estimated number of tokens of an answer without a limit. */
const ANSWER_TOKENS = 4_096;

/**
 * Estimates the usage of a call before it is made: the length of its texts, and the longest answer that is permitted.
 * @param maxTokens maximum number of tokens of the answer; absent: unknown
 */
export function estimateUsage(
  { messages, tools = [], output }: Pick<ModelCall, 'messages' | 'tools' | 'output'>,
  maxTokens = ANSWER_TOKENS,
  price?: ModelPrice,
): ModelUsage {
  let tokens = textTokens([tools, output ?? {}]);
  for (const message of messages) {
    if ('parts' in message) tokens += message.parts.reduce((sum, part) => sum + partTokens(part), 0);
    if ('results' in message) tokens += textTokens(message.results);
    if ('toolCalls' in message) tokens += textTokens(message.toolCalls);
  }
  const usage = { inputTokens: Math.ceil(tokens), outputTokens: maxTokens };
  return { ...usage, ...(price && { cost: costOf(usage, price) }) };
}

function partTokens({ text, data, raw, url }: Part): number {
  if (text !== undefined) return text.length / TOKEN;
  return raw === undefined && url === undefined ? textTokens(data) : FILE_TOKENS;
}

function textTokens(value: unknown): number {
  return (JSON.stringify(value) ?? '').length / TOKEN;
}
