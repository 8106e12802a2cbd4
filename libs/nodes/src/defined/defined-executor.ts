import { type AgentDeclaration, AgentExecutor, endsTurn, type RequestContext } from '#libs/executor';
import { coalesceText } from '#libs/models';
import { artifactUpdate, statusUpdate } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { AnswerInTurn, type AnswerPiece } from './answer-in-turn.js';
import { Outbox } from './outbox.js';
import type { Sealer } from './work-event.js';
import { type DefinedWork, WorkExecution, type WorkItem } from './work-execution.js';
import { WorkLog } from './work-log.js';

/**
 * Executes work of another author, each time from its beginning: after a crash, and with each answer to a question.
 * Steps, questions and texts that the Task's log has are not repeated (see WorkPoints and AnswerInTurn).
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
    // Read first, as a new log is known without access to the store.
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
      if (piece) yield this.answerUpdate(context, piece, isLast && !('value' in item));
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
