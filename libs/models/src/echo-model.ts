import type { Model, ModelCall, ModelEvent } from './model.js';

/** Name that always selects the built-in model. */
export const ECHO_MODEL = 'echo';

/** Answers with the last message, Part by Part. Used if no other model is configured. */
export class EchoModel implements Model {
  readonly name = ECHO_MODEL;
  readonly inputModes = ['text/plain', 'application/json'];

  async *streamAnswer({ messages, signal }: ModelCall): AsyncIterable<ModelEvent> {
    signal.throwIfAborted();
    const last = messages.at(-1);
    for (const part of last !== undefined && 'parts' in last ? last.parts : []) yield { part };
    yield { end: { reason: 'stop' } };
  }
}
