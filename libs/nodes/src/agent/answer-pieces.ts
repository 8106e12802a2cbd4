import type { ModelToolCall, StructuredAnswer } from '#libs/models';
import { dataPart, type JsonObject, type Part, type TaskReference, textPart } from '#libs/protocol';
import { type NodeEvent, typedParts } from '../node-executor.js';
import { answerPiece } from './agent-events.js';

/**
 * Maximum number of characters in `received`. Later content is not added, because the stored prompts have no room for
 * more (PROMPT_BYTES).
 */
const MOST_RECEIVED = 300 * 1024;

/** Members of a turn that are needed to report the answer of its model. */
interface AnsweringTurn {
  /** Id of the node, which is also the id of its Artifact. */
  node: string;
  context: TaskReference;
  structure: StructuredAnswer | undefined;
}

/** Answer of a model while it arrives. Events report the answer as pieces of one Artifact. */
export class AnswerInPieces {
  readonly calls: ModelToolCall[] = [];
  /** Parts that have arrived, and that no event contains yet. */
  private parts: Part[] = [];
  /** Text that has arrived after the last of `parts`, if any; later text is appended to it. */
  private text: string | undefined;
  private isReported = false;
  private readonly whole: Part[] = [];
  private wholeLength = 0;

  constructor(private readonly turn: AnsweringTurn) {}

  /** True if the model has sent neither content nor tool calls so far. */
  get isEmpty(): boolean {
    return this.calls.length === 0 && this.parts.length === 0 && this.text === undefined && !this.isReported;
  }

  /**
   * Content of the answer as it arrived, with consecutive text as one Part. The end of a very long answer is missing.
   */
  get received(): readonly Part[] {
    return this.whole;
  }

  appendText(text: string): void {
    if (text === '') return;
    this.text = (this.text ?? '') + text;
    const last = this.whole.at(-1);
    if (last?.text === undefined) this.keepReceived(textPart(text), text.length);
    else if (this.wholeLength < MOST_RECEIVED) {
      last.text += text;
      this.wholeLength += text.length;
    }
  }

  addPart(part: Part): void {
    this.closeText();
    this.parts.push(part);
    this.keepReceived(part, part.raw?.length ?? 0);
  }

  /**
   * Yields the Parts that have arrived since the last call. A structured answer is yielded only when it is complete.
   */
  *reportPieces(): Generator<NodeEvent> {
    if (!this.turn.structure) yield* this.emitPiece({});
  }

  /**
   * Yields the remaining Parts. Call this before the answer is recorded, so that the log has the whole answer by then.
   * @param report metadata of the Artifact, if the answer is data
   */
  *reportRest(report?: JsonObject): Generator<NodeEvent> {
    const isAnswer = this.calls.length === 0;
    this.closeText();
    if (isAnswer && this.parts.length === 0) this.parts.push(textPart(''));
    const read = isAnswer ? this.turn.structure?.readValue(this.parts) : undefined;
    const isData = read !== undefined && 'value' in read;
    if (isData) this.parts = [dataPart(read.value)];
    const metadata = isData && report ? { metadata: report } : {};
    yield* this.emitPiece(isAnswer && !(read && 'fault' in read) ? { lastChunk: true, ...metadata } : {});
  }

  private *emitPiece(how: { lastChunk?: true; metadata?: JsonObject }): Generator<NodeEvent> {
    this.closeText();
    if (this.parts.length === 0) return;
    const { context, node } = this.turn;
    yield answerPiece(context, node, typedParts(this.parts), { ...(this.isReported && { append: true }), ...how });
    this.parts = [];
    this.isReported = true;
  }

  private closeText(): void {
    if (this.text !== undefined) this.parts.push(textPart(this.text));
    this.text = undefined;
  }

  private keepReceived(part: Part, length: number): void {
    if (this.wholeLength < MOST_RECEIVED) this.whole.push({ ...part });
    this.wholeLength += length;
  }
}
