import type { ToolCall } from '#libs/models';
import { dataPart, type JsonObject, type Part, textPart } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { typedParts } from '../result-parts.js';
import { answerPiece } from './agent-events.js';
import type { AgentTurn } from './agent-turn.js';

/** An answer of a model while it comes, and what its Task has been told of it: pieces of one Artifact. */
export class AnswerInPieces {
  readonly calls: ToolCall[] = [];
  /** What has come and was not told. */
  private parts: Part[] = [];
  private text: string | undefined;
  private isReported = false;

  constructor(private readonly turn: Pick<AgentTurn, 'node' | 'context' | 'structure'>) {}

  /** True if the model has said nothing so far and called nothing. */
  get isEmpty(): boolean {
    return this.calls.length === 0 && this.parts.length === 0 && this.text === undefined && !this.isReported;
  }

  say(text: string): void {
    if (text !== '') this.text = (this.text ?? '') + text;
  }

  add(part: Part): void {
    this.closeText();
    this.parts.push(part);
  }

  /** What has come so far; JSON that may be none is told of as a whole. */
  *report(): Generator<NodeEvent> {
    if (!this.turn.structure) yield* this.piece({});
  }

  /**
   * Yields the rest, before the answer is recorded as one: what the log says of it then is whole.
   * @param report metadata of the Artifact whose data is the answer
   */
  *last(report?: JsonObject): Generator<NodeEvent> {
    const isAnswer = this.calls.length === 0;
    this.closeText();
    if (isAnswer && this.parts.length === 0) this.parts.push(textPart(''));
    const read = isAnswer ? this.turn.structure?.read(this.parts) : undefined;
    const isData = read !== undefined && 'value' in read;
    if (isData) this.parts = [dataPart(read.value)];
    const metadata = isData && report ? { metadata: report } : {};
    yield* this.piece(isAnswer && !(read && 'fault' in read) ? { lastChunk: true, ...metadata } : {});
  }

  private *piece(how: { lastChunk?: true; metadata?: JsonObject }): Generator<NodeEvent> {
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
