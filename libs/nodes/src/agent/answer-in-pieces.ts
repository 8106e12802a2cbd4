import type { ModelToolCall } from '#libs/models';
import { dataPart, type JsonObject, type Part, textPart } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { typedParts } from '../result-parts.js';
import { answerPiece } from './agent-events.js';
import type { AgentNodeTurn } from './agent-turn.js';

/** Model's answer while it arrives. It is reported as pieces of one Artifact. */
export class AnswerInPieces {
  readonly calls: ModelToolCall[] = [];
  /** Parts that arrived and were not reported. */
  private parts: Part[] = [];
  private text: string | undefined;
  private isReported = false;

  constructor(private readonly turn: Pick<AgentNodeTurn, 'node' | 'context' | 'structure'>) {}

  /** True if the model has sent neither text nor calls so far. */
  get isEmpty(): boolean {
    return this.calls.length === 0 && this.parts.length === 0 && this.text === undefined && !this.isReported;
  }

  appendText(text: string): void {
    if (text !== '') this.text = (this.text ?? '') + text;
  }

  addPart(part: Part): void {
    this.closeText();
    this.parts.push(part);
  }

  /** Yields the Parts that arrived. A structured answer is reported only as a whole. */
  *reportPieces(): Generator<NodeEvent> {
    if (!this.turn.structure) yield* this.emitPiece({});
  }

  /**
   * Yields the remaining Parts. Call it before the answer is recorded, so that the log then has the whole answer.
   * @param report metadata of the Artifact whose data is the answer
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
}
