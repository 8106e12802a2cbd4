import type { Part } from '#libs/protocol';
import type { Model, ModelCall, ModelEnd, ModelToolCall } from './model.js';

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
  throw new Error('a stream of a model ended without its end');
}
