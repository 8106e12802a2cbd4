import { createHash } from 'node:crypto';
import type { RequestHandler } from '#libs/a2a-server';
import type { CallContext, ServedAgent } from '#libs/agents';
import { malformedRequest, ProblemError, type SseFrame } from '#libs/http-server';
import { A2AError, type JsonObject, type Message, type TaskState } from '#libs/protocol';
import type { KeyedRequest, TaskStore } from '#libs/tasks';
import { type AguiEvent, parseInterruptId } from './projection/agui-event.js';
import { type AguiTurn, isMessageOfTurn, RunProjection } from './projection/run-projection.js';
import type { InputMessage, ResumeEntry, RunInput } from './run-input.js';
import { answeringMessage, beginningMessage, messageIdOf, openEntries } from './user-content.js';

/** Services that AG-UI builds on. */
export interface AguiBackend {
  handler: RequestHandler;
  tasks: Pick<TaskStore, 'findKeyedRequest' | 'readHeader' | 'readEvents'>;
}

/** Position in the stream of a run: an event of the Task's log, and one of the events that it became. */
export interface RunCursor {
  sequence: number;
  index: number;
  /** Name of the field that contained the cursor. */
  field: string;
}

/** Name of a run: its conversation, and the id that the client gave it. */
export type RunName = Pick<AguiTurn, 'threadId' | 'runId' | 'isEarly'>;

/** Returns the frames of a run. @param signal ends the frames; the run continues */
export type RunFrames = (signal: AbortSignal) => AsyncGenerator<SseFrame>;

/** States of a Task that waits for its caller. */
const WAITING: readonly TaskState[] = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

/**
 * Runs of AG-UI of one caller at one agent. A run is a turn of a Task: the Message that begins it has an idempotency
 * key made from `threadId` and `runId`, so that any replica finds the turn again.
 */
export class AguiRuns {
  constructor(
    private readonly backend: AguiBackend,
    private readonly agent: ServedAgent,
    private readonly call: CallContext,
  ) {}

  /**
   * Begins a run, or finds the run with this name that began earlier, and returns its frames.
   * @throws ProblemError 409 if no interrupt that `resume` names is open
   * @throws A2AError if the agent rejects the Message, or the run began with another Message
   */
  async beginRun(input: RunInput, cursor?: RunCursor): Promise<RunFrames> {
    const { key, known } = await this.findTurn(input);
    if (known && (cursor !== undefined || input.resume.length > 0)) return this.framesOf(input, known, cursor);
    if (input.resume.length > 0) return this.resumeRun(input, key);
    const waiting = known ? undefined : await this.findWaiting(input.threadId);
    if (waiting !== undefined) return this.repeatQuestions(input, waiting);
    const message = await beginningMessage(this.agent, input);
    return this.sendMessage(input, message, { key, ...(known && { messages: input.messages }) });
  }

  /**
   * Returns the frames of a run after a cursor; without one, all of them.
   * @throws ProblemError 404 if the caller has no such run
   */
  async followRun(name: RunName, cursor?: RunCursor): Promise<RunFrames> {
    return this.framesOf(name, await this.requireRequest(name), cursor);
  }

  /**
   * Cancels the Task of a run. Resolves once the cancellation is durable.
   * @throws ProblemError 404 if the caller has no such run; A2AError if its Task has ended
   */
  async cancelTurn(name: RunName): Promise<JsonObject> {
    const { taskId } = await this.requireRequest(name);
    const { status } = await this.backend.handler.cancelTask(this.agent, { id: taskId }, this.call);
    return { taskId, state: status.state };
  }

  /**
   * Returns the idempotency key of a run, and the turn that began with this key. A client may answer questions under the
   * name of the run that asked (CopilotKit does): the key of such a turn has the answers too.
   */
  private async findTurn(input: RunInput): Promise<{ key: string; known: KeyedRequest | undefined }> {
    const key = runKey(input);
    const known = await this.findRequest(key);
    if (!known || input.resume.length === 0 || (await this.isBegunBy(known, input))) return { key, known };
    const answersKey = runKey(input, input.resume);
    return { key: answersKey, known: await this.findRequest(answersKey) };
  }

  private findRequest(key: string): Promise<KeyedRequest | undefined> {
    return this.backend.tasks.findKeyedRequest(this.call.scope, this.agent.path, key);
  }

  /** True if the turn began with the Message that this request gives. */
  private async isBegunBy({ taskId, sequence }: KeyedRequest, input: RunInput): Promise<boolean> {
    const [recorded] = await this.backend.tasks.readEvents(taskId, sequence - 1, 1);
    const event = recorded?.event;
    const message = event && 'statusUpdate' in event ? event.received : undefined;
    return message?.messageId === messageIdOf(this.agent, input);
  }

  private async requireRequest(name: RunName): Promise<KeyedRequest> {
    const known = await this.findRequest(runKey(name));
    if (known) return known;
    throw new ProblemError(404, `The thread has no run "${name.runId}"`);
  }

  /** Answers the questions of the Task that `resume` names, or cancels the Task if all of them are refused. */
  private async resumeRun(input: RunInput, key: string): Promise<RunFrames> {
    const { resume, threadId } = input;
    const taskId = parseInterruptId(resume[0]?.interruptId ?? '')?.taskId ?? '';
    const header = await this.backend.tasks.readHeader(taskId, this.call.scope);
    const isHere = header?.agent === this.agent.path && header.contextId === threadId;
    const open = isHere ? openEntries(resume, (await this.foldTask(taskId, header.lastSequence)).interrupts) : [];
    const answers = open.filter(({ status }) => status === 'resolved');
    if (answers.length > 0) return this.sendAnswers(input, key, { taskId, answers });
    if (open.length > 0) return this.cancelTask(input, taskId);
    // A repeated refusal: the Task has been canceled.
    if (isHere && header.state === 'TASK_STATE_CANCELED') return this.framesOfEnd(input, taskId, header.lastSequence);
    throw notOpen();
  }

  private async sendAnswers(
    input: RunInput,
    key: string,
    answers: { taskId: string; answers: readonly ResumeEntry[] },
  ): Promise<RunFrames> {
    try {
      return await this.sendMessage(input, answeringMessage(this.agent, input, answers), { key });
    } catch (error) {
      // Another answer was first, and the Task works or has ended.
      throw error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION' ? notOpen() : error;
    }
  }

  private async cancelTask(input: RunInput, taskId: string): Promise<RunFrames> {
    await this.backend.handler.cancelTask(this.agent, { id: taskId }, this.call);
    const header = await this.backend.tasks.readHeader(taskId, this.call.scope);
    return this.framesOfEnd(input, taskId, header?.lastSequence ?? 1);
  }

  /** Returns the frames of a run that reports only the end of a Task. */
  private framesOfEnd(name: RunName, taskId: string, lastSequence: number): Promise<RunFrames> {
    return this.framesOf(name, { taskId, sequence: lastSequence });
  }

  /** Returns the id of a Task of the thread that waits for its caller; `undefined` if there is none. */
  private async findWaiting(threadId: string): Promise<string | undefined> {
    for (const status of WAITING) {
      const filter = { contextId: threadId, status, pageSize: 1, historyLength: 0 };
      const [task] = (await this.backend.handler.listTasks(this.agent, filter, this.call)).tasks;
      if (task) return task.id;
    }
    return undefined;
  }

  /** Returns the frames of a run that repeats the open questions of a Task. It begins nothing. */
  private async repeatQuestions(name: RunName, taskId: string): Promise<RunFrames> {
    const header = await this.backend.tasks.readHeader(taskId, this.call.scope);
    const projection = await this.foldTask(taskId, header?.lastSequence ?? 1, name);
    return async function* repeatedFrames() {
      for (const event of projection.repeatQuestions()) yield { data: JSON.stringify(event) };
    };
  }

  /** Folds the log of a Task up to a sequence. */
  private async foldTask(taskId: string, last: number, name?: RunName): Promise<RunProjection> {
    const turn = { threadId: '', runId: '', isEarly: false, ...name, begun: Number.POSITIVE_INFINITY };
    const projection = new RunProjection(turn);
    for await (const { sequence } of this.projectLog(projection, taskId)) if (sequence >= last) break;
    return projection;
  }

  /**
   * @param key idempotency key of the turn
   * @param messages history that the client sent; given for a run that began earlier
   */
  private async sendMessage(
    input: RunInput,
    message: Message,
    { key, messages }: { key: string; messages?: readonly InputMessage[] },
  ): Promise<RunFrames> {
    const call = { ...this.call, idempotencyKey: key };
    const items = this.backend.handler.sendStreamingMessage(this.agent, { message }, call);
    const { value: first } = await items.next();
    await items.return();
    if (!first) throw new Error('A Message was accepted without a Task');
    const { response, sequence = 1 } = first;
    if ('task' in response) return this.framesOf(input, { taskId: response.task.id, sequence }, undefined, messages);
    if (!('message' in response)) throw new Error('The first item of a stream is a Task or a Message');
    const reply = response.message;
    return async function* replyFrames() {
      const projection = new RunProjection({ ...input, begun: 1 });
      for (const event of projection.projectReply(reply)) yield { data: JSON.stringify(event) };
    };
  }

  /**
   * Returns the frames of one turn of a Task.
   * @param messages history of a client that begins the stream again: messages of the turn are removed from it first
   */
  private async framesOf(
    { threadId, runId, isEarly }: RunName,
    { taskId, sequence: begun }: Pick<KeyedRequest, 'taskId' | 'sequence'>,
    cursor?: RunCursor,
    messages: readonly InputMessage[] = [],
  ): Promise<RunFrames> {
    if (cursor) await this.refuseBeyond(cursor, taskId, begun);
    const projection = new RunProjection({ threadId, runId, isEarly, begun });
    const kept = messages.filter(({ id }) => !isMessageOfTurn(id, taskId, begun));
    const snapshot = kept.length < messages.length ? { type: 'MESSAGES_SNAPSHOT', messages: kept } : undefined;
    const projectLog = (signal: AbortSignal) => this.projectLog(projection, taskId, signal);
    return async function* turnFrames(signal) {
      for await (const { sequence, events } of projectLog(signal)) {
        for (const [index, event] of events.entries()) {
          if (cursor && !isAfter(cursor, sequence, index)) continue;
          yield { id: `${sequence}.${index}`, data: JSON.stringify(event) };
          if (snapshot && event.type === 'RUN_STARTED') yield { data: JSON.stringify(snapshot) };
        }
        if (projection.isOver) return;
      }
    };
  }

  private async refuseBeyond({ sequence, field }: RunCursor, taskId: string, begun: number): Promise<void> {
    const header = await this.backend.tasks.readHeader(taskId, this.call.scope);
    if (sequence < begun) throw malformedRequest({ path: field, detail: 'is before the first event of the run' });
    if (header && sequence > header.lastSequence)
      throw malformedRequest({ path: field, detail: 'is beyond the last event of the run' });
  }

  private async *projectLog(
    projection: RunProjection,
    taskId: string,
    signal?: AbortSignal,
  ): AsyncGenerator<{ sequence: number; events: AguiEvent[] }> {
    const options = { since: 0, ...(signal && { signal }) };
    const items = this.backend.handler.subscribeToTask(this.agent, { id: taskId }, this.call, options);
    for await (const { sequence = 0, response } of items)
      yield { sequence, events: projection.projectEvent(sequence, response) };
  }
}

/** Creates the error for answers to questions that are not open. */
function notOpen(): ProblemError {
  const detail = 'names no open question of this thread; it may have been answered elsewhere';
  const entry = { path: 'resume[0].interruptId', detail };
  return new ProblemError(409, `${entry.path}: ${detail}`, [entry], 'INTERRUPT_NOT_OPEN');
}

/** Returns the idempotency key of a run. @param answers answers of a turn that has the name of an earlier one */
function runKey({ threadId, runId }: Pick<RunName, 'threadId' | 'runId'>, answers?: readonly ResumeEntry[]): string {
  const name = JSON.stringify([threadId, runId, ...(answers ? [answers] : [])]);
  return `agui:${createHash('sha256').update(name).digest('base64url')}`;
}

function isAfter(cursor: RunCursor, sequence: number, index: number): boolean {
  return sequence > cursor.sequence || (sequence === cursor.sequence && index > cursor.index);
}
