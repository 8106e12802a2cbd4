import { createParamDecorator, type ExecutionContext, Injectable, Optional } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AgentCatalog, agentOrGone, type CallContext, callerGone, REVISION_KEY, type ServedAgent } from '#libs/agents';
import { type Execution, ExecutionRegistry, readIdempotencyKey } from '#libs/executor';
import {
  malformedRequest,
  type PageQuery,
  pageTokenAfter,
  PassingText,
  ProblemError,
  ResponseAdmission,
  ResponseBudget,
  sendEvents,
  type SseFrame,
  type StreamCursor,
  type StreamEnd,
} from '#libs/http-server';
import {
  A2AError,
  dataPart,
  isTerminalState,
  type JsonObject,
  type Message,
  type SendMessageRequest,
  type TaskState,
  userMessage,
} from '#libs/protocol';
import { Shutdown } from '#libs/service';
import {
  begunTask,
  type LogAdmission,
  type PageAdmission,
  type RecordedEvent,
  type StoredTask,
  type TaskEvent,
  TaskFeed,
  type TaskHeader,
  type TaskQuery,
  type TaskScope,
  TaskStore,
  wholeLog,
} from '#libs/tasks';

/**
 * Parameter decorator for the `Idempotency-Key` of a request; `undefined` if the request has none.
 * @throws A2AError INVALID_PARAMS if it is malformed
 */
export const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext): string | undefined => {
  const key = context.switchToHttp().getRequest<FastifyRequest>().headers['idempotency-key'];
  return key === undefined ? undefined : readIdempotencyKey(key);
});

/** Rules for listing processes of one kind. */
export interface ProcessListing<Status extends string, Summary> {
  /** Path of the processes' agent, or `workflows/*` for all agents one level below `workflows`; absent: any agent. */
  agent?: string;
  /** Further filters of the Tasks, in addition to `agent` and the states. If absent, there are none. */
  among?: Pick<TaskQuery, 'agents' | 'calledBy' | 'search' | 'states' | 'taskIds' | 'updatedAfter' | 'updatedBefore'>;
  /** `false` to list processes without their Artifacts, and to read none. */
  artifacts?: boolean;
  /** Task states that a process of each status can have. */
  states: Readonly<Record<Status, readonly TaskState[]>>;
  /**
   * Returns the exact status of a process. Present only if several statuses have the same Task state; a process whose
   * status is not the requested one is then skipped.
   */
  statusOf?: (process: StoredTask) => Status;
  /** Returns the summary of a process; `undefined` if the Task is not a process of this kind. */
  summary: (process: StoredTask) => Summary | undefined | Promise<Summary | undefined>;
}

interface ProcessPage<Summary> {
  found: Summary[];
  /** Token of the next page; empty on the last page. */
  nextPageToken: string;
}

/** Page to list, and a status to filter by. */
type ProcessQuery<Status> = Pick<PageQuery, 'pageSize' | 'before'> & { status?: Status };

/** Caller whose processes are listed. `room` is the memory for their logs. */
export interface ListCaller {
  scope: TaskScope;
  room: PageAdmission;
}

/** Part of a page: the Tasks in one state. */
interface StateListing {
  /** Processes that belong to the page, newest first. */
  fitting: StoredTask[];
  /** Last Task that was examined; a next page continues after it. Absent if no further Tasks follow. */
  passed?: TaskHeader;
}

/**
 * Returns a page of a caller's processes of one kind, most recently updated first. A page token names the last Task
 * that was examined, and the next page begins after this Task. So a caller that follows the tokens gets every process.
 */
export async function listProcesses<Status extends string, Summary>(
  tasks: Pick<TaskStore, 'readPage'>,
  listing: ProcessListing<Status, Summary>,
  query: ProcessQuery<Status>,
  caller: ListCaller,
): Promise<ProcessPage<Summary>> {
  for (let { before } = query; ;) {
    const { page, next } = await tasksAfter(tasks, listing, { ...query, before }, caller);
    before = next;
    // Only Tasks that do not match may have been read.
    if (page.length === 0 && next) continue;
    const summaries = await Promise.all(page.map(async (process) => listing.summary(process)));
    return {
      found: summaries.filter((it) => it !== undefined),
      nextPageToken: next ? pageTokenAfter(next) : '',
    };
  }
}

/**
 * Returns the Tasks of one page, newest first, and in `next` the last examined Task if another page follows. Reads one
 * state after the other, because all states share the memory for one page.
 */
async function tasksAfter<Status extends string>(
  tasks: Pick<TaskStore, 'readPage'>,
  listing: ProcessListing<Status, unknown>,
  query: ProcessQuery<Status>,
  { scope, room }: ListCaller,
): Promise<{ page: StoredTask[]; next: TaskHeader | undefined }> {
  const states = query.status === undefined ? [undefined] : listing.states[query.status];
  const caller = { scope, room: new ListAdmission(room) };
  const found: StateListing[] = [];
  for (const state of states) found.push(await listState(tasks, listing, state, query, caller));
  // Behind the first Task at which the listing of a state stopped, Tasks of that state may be missing.
  const horizon = found.flatMap(({ passed }) => passed ?? []).toSorted(newestFirst)[0];
  const known = found.flatMap(({ fitting }) => fitting).toSorted((a, b) => newestFirst(a.header, b.header));
  const certain = known.filter(({ header }) => !horizon || newestFirst(header, horizon) <= 0);
  const page = certain.slice(0, query.pageSize);
  return { page, next: certain.length > page.length ? page.at(-1)?.header : horizon };
}

async function listState<Status extends string>(
  tasks: Pick<TaskStore, 'readPage'>,
  { agent, among, artifacts, statusOf }: ProcessListing<Status, unknown>,
  state: TaskState | undefined,
  { status, before, pageSize }: ProcessQuery<Status>,
  { scope, room }: { scope: TaskScope; room: ListAdmission },
): Promise<StateListing> {
  // One more than the page size shows whether there is a next page.
  const limit = pageSize + 1;
  const fitting: StoredTask[] = [];
  const parts = artifacts === false && { artifacts };
  const which = { scope, ...(agent !== undefined && { agent }), ...among, state, ...parts };
  for (let after = before; ;) {
    const { tasks: listed, more } = await tasks.readPage({ ...which, before: after, limit }, room);
    fitting.push(...listed.filter((it) => status === undefined || !statusOf || statusOf(it) === status));
    const passed = listed.at(-1)?.header;
    if (!more || !passed) return { fitting };
    const isOutOfRoom = listed.length < limit;
    if (fitting.length >= limit || isOutOfRoom) return { fitting, passed };
    after = passed;
  }
}

/**
 * Reserves memory for the large logs of one list. All queries of the list share one limit, because their Tasks are in
 * memory together.
 */
export class ListAdmission implements PageAdmission {
  private read = 0;

  constructor(private readonly room: PageAdmission) {}

  /** Number of bytes of logs that may still be read. */
  get bytes(): number {
    return Math.max(0, this.room.bytes - this.read);
  }

  async admitBytes(bytes: number): Promise<void> {
    await this.room.admitBytes(this.read + bytes);
    this.read += bytes;
  }
}

type ListedPosition = Pick<TaskHeader, 'updatedAt' | 'taskId'>;

function newestFirst(a: ListedPosition, b: ListedPosition): number {
  const later = b.updatedAt.getTime() - a.updatedAt.getTime();
  if (later !== 0) return later;
  return a.taskId < b.taskId ? 1 : a.taskId > b.taskId ? -1 : 0;
}

/**
 * Part of a call's context that operations on processes need: the caller, the base URL of this service as the caller
 * used it, and the trace.
 */
export type ProcessCall = Pick<CallContext, 'scope' | 'baseUrl' | 'trace' | 'whenAnswered'>;

/** Kind of durable process, such as runs or conversations. */
export interface ProcessKind {
  /** Noun for error messages, such as `run`. */
  noun: string;
  /** Returns true if a Task is a process of this kind. Only the header of the Task is needed. */
  includes(header: TaskHeader): boolean;
}

/** Request to start a process. */
export interface ProcessRequest {
  /** Path of the process's agent. */
  agent: string;
  /** Revision of the agent; absent: the newest. */
  revision?: string;
  /** Id of the new process, if it must be known before the start; generated if absent. */
  taskId?: string;
  /** Data of the process's first Message. */
  data: JsonObject;
  /** Members of the first Message besides its data. `parts`, if present, replace the Part with `data`. */
  message?: Partial<Pick<Message, 'contextId' | 'parts' | 'referenceTaskIds'>>;
  metadata?: JsonObject;
  /**
   * True to require that each member of `data` has the name of an input of the agent; other names are rejected. If
   * absent, data with other names may also be the content of the Message.
   */
  namesInputs?: true;
  /** `false` if the request has already been validated, so that the agent's check is skipped. */
  check?: boolean;
}

const ID = /^[\x21-\x7e]{1,200}$/;

/**
 * Starts, finds, resumes and cancels durable processes of any kind. A process is a Task of its agent and has the id of
 * that Task. Nothing else is stored for it.
 */
@Injectable()
export class Processes {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    @Optional() private readonly answers?: ResponseBudget,
  ) {}

  /**
   * Creates the reservation of memory for the response to an API call. A large log is read only after memory for it is
   * granted. Call this method at most once per API call.
   */
  openRoom(call: Pick<ProcessCall, 'scope' | 'whenAnswered'>): ResponseAdmission {
    return new ResponseAdmission(this.answers, call);
  }

  /**
   * Starts a process, and resolves with its id when the process is durable. The process continues if the caller
   * disconnects. Equal requests with the same idempotency key start one process: a repetition returns its id even if
   * the agent would reject the request now.
   * @param key idempotency key; if absent, each request starts a process
   * @throws UnknownAgent if there is no such agent
   * @throws A2AError as the agent's `checkRequest` does; 409 for a different request under a known key
   */
  async startProcess(
    { data, metadata, check = true, ...to }: ProcessRequest,
    call: ProcessCall,
    key?: string,
  ): Promise<string> {
    const agent = await this.catalog.inTenant(call.scope.tenant).resolveAgent(to.agent, to.revision);
    const { taskId, namesInputs } = to;
    const given = { ...(taskId !== undefined && { newTaskId: () => taskId }), ...(namesInputs && { namesInputs }) };
    const context = { ...toCallContext(agent, call), ...given };
    // The Message takes the key as its id, so that the same data makes the same request.
    const { parts = [dataPart(data)], ...fields } = to.message ?? {};
    const message = userMessage(parts, { ...fields, ...(key !== undefined && { messageId: key }) });
    const request = { message, ...(metadata && { metadata }) };
    const known = check && (await this.checkUnlessKnown(agent, request, context, key));
    const { executions } = this;
    const beginExecution = (): Execution | Promise<Execution> =>
      key === undefined
        ? executions.files.keepFiles(request, context).then((kept) => executions.beginExecution(agent, kept, context))
        : executions.beginOnce(agent, request, context, key);
    const execution = known || (await beginExecution());
    await execution.accepted;
    return execution.taskId;
  }

  /** Returns the header of a process. @throws ProblemError 404 */
  async findHeader(kind: ProcessKind, id: string, scope: TaskScope): Promise<TaskHeader> {
    const header = ID.test(id) ? await this.tasks.readHeader(id, scope) : undefined;
    if (!header || !kind.includes(header)) throw unknownProcess(kind);
    return header;
  }

  /**
   * Returns a process, with its Task as it was at the start. Only the first event of the log is read.
   * @throws ProblemError 404
   */
  async loadBegun(kind: ProcessKind, id: string, scope: TaskScope): Promise<StoredTask> {
    const header = await this.findHeader(kind, id, scope);
    const task = await begunTask(this.tasks, id);
    if (!task) throw unknownProcess(kind);
    return { header, task };
  }

  /**
   * Returns a page of a caller's processes of one kind, most recently updated first. The page is shorter than requested
   * if their logs are large.
   */
  listPage<Status extends string, Summary>(
    listing: ProcessListing<Status, Summary>,
    query: ProcessQuery<Status>,
    call: Pick<ProcessCall, 'scope' | 'whenAnswered'>,
  ): Promise<ProcessPage<Summary>> {
    return listProcesses(this.tasks, listing, query, { scope: call.scope, room: this.openRoom(call) });
  }

  /** Returns the events of a process up to the last sequence in its header. @param room memory for reading the log */
  async readLog(header: TaskHeader, room: LogAdmission): Promise<TaskEvent[]> {
    return (await wholeLog(this.tasks, header, room)).map(({ event }) => event);
  }

  /**
   * Cancels a process, and resolves when the process has ended. The outcome is in the log, and need not be `canceled`.
   * Does nothing if the process has ended before.
   * @param revision revision of the process's agent; by default the revision with which the process started
   * @throws ClientLeft if the caller disconnected before; the cancel remains in effect
   */
  async cancelProcess(process: StoredTask, call: ProcessCall, revision?: string): Promise<void> {
    const { header } = process;
    if (isTerminalState(header.state)) return;
    const agent = await this.agentOf(process, revision);
    try {
      await this.executions.cancelAndWait(agent, header.taskId, toCallContext(agent, call), callerGone(call));
    } catch (error) {
      // The process ended in the meantime; its outcome determines the answer.
      if (!isRefusal(error, 'TASK_NOT_CANCELABLE')) throw error;
    }
  }

  /**
   * Resumes a waiting process with a Message. Resolves with true when the Message is durable. Resolves with false if
   * the process does not wait, because another caller was first or the process has ended.
   * @param as `found`: resume it only if nothing has happened since `process` was read
   * @throws ProblemError 409 if the definition with which it started no longer exists
   */
  async resumeProcess(process: StoredTask, message: Message, call: ProcessCall, as?: 'found'): Promise<boolean> {
    const agent = await this.agentOf(process);
    if (agent.gone) throw new ProblemError(409, DEFINITION_GONE);
    const { taskId, lastSequence } = process.header;
    try {
      const options = as === 'found' ? { after: lastSequence } : {};
      const execution = await this.executions.resumeExecution(
        agent,
        taskId,
        { message },
        toCallContext(agent, call),
        options,
      );
      await execution.accepted;
      return true;
    } catch (error) {
      if (isRefusal(error, 'UNSUPPORTED_OPERATION')) return false;
      throw error;
    }
  }

  /**
   * Returns the agent of a process in the revision with which the process started. If that revision no longer exists,
   * returns a placeholder, which executes nothing.
   */
  private agentOf({ header, task }: StoredTask, named = task.metadata?.[REVISION_KEY]): Promise<ServedAgent> {
    const catalog = this.catalog.inTenant(header.tenant);
    const revision = typeof named === 'string' ? named : undefined;
    return agentOrGone(() => catalog.resolveAgent(header.agent, revision), header.agent, revision);
  }

  /**
   * Validates a request. Returns `undefined` if it is valid. If the agent rejects it now, but an equal request has
   * started an execution under the same key before, returns that execution.
   * @throws the agent's error if there is no such execution
   */
  private async checkUnlessKnown(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string | undefined,
  ): Promise<Execution | undefined> {
    try {
      await agent.executor.checkRequest?.(request, call);
      return undefined;
    } catch (error) {
      const known = key !== undefined && (await this.executions.findRepeated(agent, request, call, key));
      if (known) return known;
      throw error;
    }
  }
}

/** Reason why a process whose definition no longer exists is not shown completely and accepts no Message. */
export const DEFINITION_GONE =
  'the definition that it was started with is gone: it can be read and canceled, but accepts no message';

/** Returns the 404 problem for an id under which the caller has no process of this kind. */
export function unknownProcess({ noun }: ProcessKind): ProblemError {
  return new ProblemError(404, `${noun} not found`);
}

/**
 * Returns the 409 problem for a process that has ended.
 * @param how words for the outcome, such as `it is completed`
 */
export function endedProcessError({ noun }: ProcessKind, how: string): ProblemError {
  return new ProblemError(409, `the ${noun} has ended: ${how}`);
}

function toCallContext(agent: ServedAgent, { scope, baseUrl, trace }: ProcessCall): CallContext {
  return { scope, agent: agent.path, extensions: [], baseUrl, ...(trace !== undefined && { trace }) };
}

function isRefusal(error: unknown, reason: string): boolean {
  return error instanceof A2AError && error.reason === reason;
}

/** Events of one process in the form that its readers see. */
export interface ProcessEvents {
  /** Number of the last event so far (its sequence in the log). */
  last: number;
  /** Returns the events after a number as SSE frames: first from the log, then as they are recorded. */
  framesAfter: (number: number, signal: AbortSignal) => AsyncIterable<SseFrame>;
}

/** Function that converts an event in the log of a process to the event that readers see. Both have the same number. */
type Projection = (recorded: RecordedEvent) => { sequence: number; type: string };

/**
 * Streams the events of processes to readers: first from the log, then as they are recorded.
 * - Streams only read. The end of a stream does not affect the process.
 * - A reader that reconnects with its last event id misses no event and sees none twice.
 */
@Injectable()
export class ProcessStreams {
  constructor(
    private readonly feed: TaskFeed,
    private readonly tasks: TaskStore,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Sends the events after a cursor as the reply; resolves when the stream has ended.
   * @throws ProblemError 400 for a cursor beyond the last event
   */
  async streamEvents(
    { last, framesAfter: eventsAfter }: ProcessEvents,
    { after, field }: StreamCursor,
    reply: FastifyReply,
  ): Promise<StreamEnd> {
    if (after > last) throw malformedRequest({ path: field, detail: `is beyond the last event, ${last}` });
    return sendEvents(reply, this.shutdown, (signal) => eventsAfter(after, signal));
  }

  /**
   * Returns the events of a process for readers. Each event of the log becomes exactly one of them.
   * @param project converts an event of the log to the event that readers see
   * @param until end of the stream. `terminal`: when the process has ended. `waiting`: when the process has ended or
   *   waits for a caller. `now`: after the last event so far.
   */
  eventsOf(
    { taskId, lastSequence, tenant, owner }: Pick<TaskHeader, 'taskId' | 'lastSequence'> & Partial<TaskScope>,
    project: Projection,
    until: 'terminal' | 'waiting' | 'now' = 'terminal',
  ): ProcessEvents {
    const follow = until === 'now' ? 'terminal' : until;
    const reader = tenant === undefined || owner === undefined ? undefined : { tenant, owner };
    const framesAfter = (number: number, signal: AbortSignal): AsyncGenerator<SseFrame> => {
      const frames = this.followFrames(taskId, number, project, { signal, until: follow, reader });
      return until === 'now' ? takeUntil(lastSequence, number, frames) : frames;
    };
    return { last: lastSequence, framesAfter };
  }

  /**
   * Yields the events of the log as frames. The stream does not end at a wait from which the process has already
   * resumed.
   */
  private async *followFrames(
    taskId: string,
    after: number,
    project: Projection,
    follow: { signal: AbortSignal; until: 'terminal' | 'waiting'; reader?: TaskScope },
  ): AsyncGenerator<SseFrame> {
    for (let last = after; ;) {
      for await (const recorded of this.feed.followTask(taskId, last, follow)) {
        last = recorded.sequence;
        yield frameOf(recorded, project);
      }
      if (follow.signal.aborted || follow.until === 'terminal') return;
      const header = await this.tasks.readHeader(taskId);
      if (header === undefined || header.lastSequence <= last) return;
    }
  }
}

/**
 * Returns an SSE frame whose text is built only when there is memory for it, because many readers may read one large
 * event at the same time.
 */
function frameOf(recorded: RecordedEvent, project: Projection): SseFrame {
  const event = project(recorded);
  const data = new PassingText(recorded.json.length, () => JSON.stringify(event));
  return { id: event.sequence, event: event.type, data };
}

/**
 * Yields frames up to the event with the number `last`. Yields none if `seen`, the number of the last event that the
 * reader has, is not below `last`.
 */
async function* takeUntil(last: number, seen: number, frames: AsyncGenerator<SseFrame>): AsyncGenerator<SseFrame> {
  if (seen >= last) return;
  for await (const frame of frames) {
    yield frame;
    if (Number(frame.id) >= last) return;
  }
}
