import { type AgentDeclaration, AgentExecutor, type RequestContext } from '#libs/agents';
import { coalesceText } from '#libs/models';
import {
  artifactUpdate,
  canonicalJson,
  dataPart,
  type JsonValue,
  type Part,
  statusUpdate,
  textPart,
} from '#libs/protocol';
import { endsTurn } from '#libs/tasks';
import type { NodeEvent } from '../node-executor.js';
import { type DefinedWork, Outbox, WorkExecution, type WorkItem } from './work-execution.js';
import { type ReportedAnswer, type Sealer, WorkLog } from './work-log.js';

/**
 * Piece of the answer that is sent to the caller. With `append: true` it continues the answer so far; otherwise it
 * replaces that answer.
 */
interface AnswerPiece {
  parts: Part[];
  append: boolean;
}

/**
 * Answer of a function (DefinedWork) that may be executed again after a crash. Text that an earlier execution has
 * already sent to the caller is not sent again. If this execution gives a different text, that text replaces the
 * earlier one.
 */
class AnswerInTurn {
  /** Text that this execution has produced so far; the reported text begins with it. */
  private said = '';
  /** True once the text of this execution exceeds the reported text, or differs from it. */
  private isBeyond: boolean;
  /** True if an answer has been reported, so that the next piece continues it. */
  private exists: boolean;
  /** True while the caller waits for the last piece of the answer. */
  private isOpen: boolean;

  /** @param reported answer that earlier executions sent to the caller; `undefined` if they sent none */
  constructor(private readonly reported: ReportedAnswer | undefined) {
    this.isBeyond = reported === undefined;
    this.exists = reported !== undefined;
    this.isOpen = reported !== undefined && reported.isClosed !== true;
  }

  /** Records that the last piece of the answer has been sent to the caller. */
  close(): void {
    this.isOpen = false;
  }

  /** Adds text to the answer. @returns the piece to send to the caller now; `undefined` if there is none */
  appendText(text: string): AnswerPiece | undefined {
    if (text === '') return undefined;
    if (this.isBeyond) return this.createPiece([textPart(text)]);
    const place = this.said.length;
    this.said += text;
    const before = this.reported!.text;
    if (before.startsWith(text, place)) return undefined;
    this.isBeyond = true;
    const goesOn = this.said.length > before.length && this.said.startsWith(before);
    return goesOn ? this.createPiece([textPart(this.said.slice(before.length))]) : this.replaceAnswer();
  }

  /**
   * Ends the answer.
   * @param value result of the work in addition to its text
   * @returns the last piece to send to the caller; `undefined` if there is no answer, or its last piece was sent
   * before. If all content was sent before, but not as a last piece, the piece has an empty text: some clients (ADK)
   * discard an Artifact that has no last piece
   */
  endAnswer(value?: JsonValue): AnswerPiece | undefined {
    return this.remainder(value) ?? (this.isOpen ? this.createPiece([textPart('')]) : undefined);
  }

  private remainder(value: JsonValue | undefined): AnswerPiece | undefined {
    const isShorter = !this.isBeyond && this.said.length < this.reported!.text.length;
    if (value === undefined) return isShorter ? this.replaceAnswer() : undefined;
    const known = this.isBeyond ? undefined : this.reported?.value;
    if (!isShorter && known === canonicalJson(value)) return undefined;
    return isShorter || known !== undefined ? this.replaceAnswer(dataPart(value)) : this.createPiece([dataPart(value)]);
  }

  private replaceAnswer(...more: Part[]): AnswerPiece {
    this.exists = false;
    const parts = this.said === '' && more.length > 0 ? more : [textPart(this.said), ...more];
    return this.createPiece(parts);
  }

  private createPiece(parts: Part[]): AnswerPiece {
    const append = this.exists;
    this.exists = true;
    this.isOpen = true;
    return { parts, append };
  }
}

/**
 * Executor for the function of an SDK agent or a plugin node. After a crash, and after each answer to a question, the
 * function runs again from its beginning. Steps, questions and text that the log of the Task already has are not
 * repeated (see WorkPoints and AnswerInTurn).
 */
export class DefinedExecutor extends AgentExecutor {
  constructor(
    private readonly work: DefinedWork,
    private readonly sealer: Sealer,
    override readonly recovery: 'restart' | 'fail' = 'restart',
    override readonly declares?: AgentDeclaration,
  ) {
    super();
  }

  override async *execute(context: RequestContext): AsyncIterable<NodeEvent> {
    // The log is read before the first event, as the log of a new Task is known without access to the store.
    const log = new WorkLog(await context.readTaskLog(), this.work.name);
    const said = context.task?.history?.[0] ?? context.userMessage;
    // Restores the bytes of Parts that the log stores as files.
    using held = await context.holdParts?.(said.parts);
    const opening = held ? { ...said, parts: held.parts } : said;
    if (context.task === null && context.recovered === 0) yield statusUpdate(context, 'TASK_STATE_WORKING');
    const leaving = new AbortController();
    const signal = AbortSignal.any([context.signal, leaving.signal]);
    const outbox = new Outbox<WorkItem>();
    signal.addEventListener('abort', () => outbox.endItems({ error: signal.reason }), { once: true });
    if (signal.aborted) outbox.endItems({ error: signal.reason });
    else void new WorkExecution(this.work, { context, opening, log, sealer: this.sealer, outbox, signal }).runWork();
    try {
      yield* this.reportItems(context, outbox, new AnswerInTurn(log.answer));
    } finally {
      leaving.abort(new Error('This execution has ended'));
    }
  }

  private async *reportItems(
    context: RequestContext,
    outbox: Outbox<WorkItem>,
    answer: AnswerInTurn,
  ): AsyncGenerator<NodeEvent> {
    for await (const { text, event: item } of coalesceText<Exclude<WorkItem, { text: string }>>(outbox)) {
      const isLast = item !== undefined && 'end' in item;
      const piece = answer.appendText(text);
      if (piece) {
        const isClosing = isLast && !('value' in item);
        if (isClosing) answer.close();
        yield this.answerUpdate(context, piece, isClosing);
      }
      if (item === undefined) continue;
      if ('event' in item) {
        yield item.event;
        if (endsTurn(item.event)) return;
        item.onRecorded();
      } else if ('reason' in item) {
        return yield statusUpdate(context, item.end, item.reason);
      } else {
        const last = answer.endAnswer(item.value);
        if (last) yield this.answerUpdate(context, last, true);
        return yield statusUpdate(context, item.end);
      }
    }
  }

  private answerUpdate(context: RequestContext, { parts, append }: AnswerPiece, lastChunk: boolean): NodeEvent {
    const { name } = this.work;
    const how = { ...(append && { append }), ...(lastChunk && { lastChunk }) };
    return artifactUpdate(context, { artifactId: name, name, parts }, how);
  }
}
