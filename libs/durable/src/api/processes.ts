import { createParamDecorator, type ExecutionContext, Injectable, Optional } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  AgentCatalog,
  agentOrGone,
  type CallContext,
  callerGone,
  type Execution,
  ExecutionRegistry,
  readIdempotencyKey,
  REVISION_KEY,
  type ServedAgent,
} from '#libs/executor';
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
 * Parameter decorator: the `Idempotency-Key` of a request, if any. @throws A2AError INVALID_PARAMS if it is malformed
 */
export const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext): string | undefined => {
  const key = context.switchToHttp().getRequest<FastifyRequest>().headers['idempotency-key'];
  return key === undefined ? undefined : readIdempotencyKey(key);
});

/** Rules for listing processes of one kind. */
export interface ProcessListing<Status extends string, Summary> {
  /** Path of their agent, or `workflows/*` for all agents one level below `workflows`; any agent if absent. */
  agent?: string;
  /** Further filters. */
  among?: Pick<TaskQuery, 'agents' | 'calledBy' | 'search' | 'updatedAfter'>;
  /** Task states that each status may stand for. */
  states: Readonly<Record<Status, readonly TaskState[]>>;
  /** Returns the exact status. Absent if the state determines it; otherwise Tasks of another status are skipped. */
  statusOf?: (process: StoredTask) => Status;
  /** Returns the summary, or `undefined` if the Task is not of this kind. */
  summary: (process: StoredTask) => Summary | undefined | Promise<Summary | undefined>;
}

interface ProcessPage<Summary> {
  found: Summary[];
  /** Empty on the last page. */
  nextPageToken: string;
}

/** Page to list, and a status to filter by. */
type ProcessQuery<Status> = Pick<PageQuery, 'pageSize' | 'before'> & { status?: Status };

/** Caller whose processes are listed, and the room that their logs share. */
interface ListCaller {
  scope: TaskScope;
  room: PageAdmission;
}

/** Listed Tasks of one state. */
interface StateListing {
  /** Newest first. */
  fitting: StoredTask[];
  /** Last Task that was examined; absent if no more follow. */
  passed?: TaskHeader;
}

/** Returns a page of a caller's processes of one kind, most recently updated first. The next page skips none. */
export async function listProcesses<Status extends string, Summary>(
  tasks: Pick<TaskStore, 'readPage'>,
  listing: ProcessListing<Status, Summary>,
  query: ProcessQuery<Status>,
  caller: ListCaller,
): Promise<ProcessPage<Summary>> {
  for (let { before } = query; ;) {
    const { page, next } = await tasksAfter(tasks, listing, { ...query, before }, caller);
    before = next;
    // Tasks that do not match may have filled the page.
    if (page.length === 0 && next) continue;
    const summaries = await Promise.all(page.map(async (process) => listing.summary(process)));
    return {
      found: summaries.filter((it) => it !== undefined),
      nextPageToken: next ? pageTokenAfter(next) : '',
    };
  }
}

/** Lists the states one after the other, since they share the room of one page. */
async function tasksAfter<Status extends string>(
  tasks: Pick<TaskStore, 'readPage'>,
  listing: ProcessListing<Status, unknown>,
  query: ProcessQuery<Status>,
  { scope, room }: ListCaller,
): Promise<{ page: StoredTask[]; next: TaskHeader | undefined }> {
  const states = query.status === undefined ? [undefined] : listing.states[query.status];
  const caller = { scope, room: new ListedLogs(room) };
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
  { agent, among, statusOf }: ProcessListing<Status, unknown>,
  state: TaskState | undefined,
  { status, before, pageSize }: ProcessQuery<Status>,
  { scope, room }: { scope: TaskScope; room: ListedLogs },
): Promise<StateListing> {
  // One more than the page size shows whether there is a next page.
  const limit = pageSize + 1;
  const fitting: StoredTask[] = [];
  const which = { scope, ...(agent !== undefined && { agent }), ...among, state };
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

/** Room of the large logs that one list has read, over all its queries: their Tasks are in memory together. */
class ListedLogs implements PageAdmission {
  private read = 0;

  constructor(private readonly room: PageAdmission) {}

  /** Number of bytes that may still be read. */
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

/** Caller of an operation, and the address of this service that it used. */
export type ProcessCall = Pick<CallContext, 'scope' | 'baseUrl' | 'trace' | 'whenAnswered'>;

/** Kind of durable process, as its API names it. */
export interface ProcessKind {
  /** Noun in problems: `run`. */
  noun: string;
  /** True if a Task is of this kind, judged by its header. */
  includes(header: TaskHeader): boolean;
}

/** Request to start a process. */
export interface ProcessRequest {
  /** Path of its agent. */
  agent: string;
  /** Revision of the agent; the newest unless set. */
  revision?: string;
  /** Id of the process, if it must be known before the start; a new one if absent. */
  taskId?: string;
  /** Data of its first Message. */
  data: JsonObject;
  /** Further members of its first Message; `parts` replace the data. */
  message?: Partial<Pick<Message, 'contextId' | 'parts' | 'referenceTaskIds'>>;
  metadata?: JsonObject;
  /** `false` if the starter has validated the request in place of the agent. */
  check?: boolean;
}

const ID = /^[\x21-\x7e]{1,200}$/;

/**
 * Starts, finds, resumes and cancels durable processes of any kind. Each process is the Task of its agent, under the
 * Task's id; no other state of it is stored.
 */
@Injectable()
export class Processes {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    @Optional() private readonly answers?: ResponseBudget,
  ) {}

  /** Opens the room for the answer of a call; without it no large log is read. At most one per call. */
  openRoom(call: Pick<ProcessCall, 'scope' | 'whenAnswered'>): ResponseAdmission {
    return new ResponseAdmission(this.answers, call);
  }

  /**
   * Starts a process and resolves with its id when it is durable. It continues if the caller leaves. The same request
   * under the same key is the same process. A request that was accepted once is not validated again, since its agent
   * may have changed.
   * @throws UnknownAgent; A2AError as the agent's `check` does, 409 for another request under a known `Idempotency-Key`
   */
  async startProcess(
    { data, metadata, check = true, ...to }: ProcessRequest,
    call: ProcessCall,
    key?: string,
  ): Promise<string> {
    const agent = await this.catalog.inTenant(call.scope.tenant).resolveAgent(to.agent, to.revision);
    const { taskId } = to;
    const context = { ...toCallContext(agent, call), ...(taskId !== undefined && { newTaskId: () => taskId }) };
    // The Message takes the key as its id, so that the same data is the same request.
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
   * Returns a process with its Task in its initial state.
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

  /** Returns all events of a process up to its header. */
  async readLog(header: TaskHeader, room: LogAdmission): Promise<TaskEvent[]> {
    return (await wholeLog(this.tasks, header, room)).map(({ event }) => event);
  }

  /**
   * Cancels a process and resolves when it has ended, for whatever reason; an ended process stays as it is. Its log has
   * the outcome.
   * @param revision revision of its agent
   * @throws ClientLeft if the caller left first; the cancel remains in effect
   */
  async cancelProcess(process: StoredTask, call: ProcessCall, revision?: string): Promise<void> {
    const { header } = process;
    if (isTerminalState(header.state)) return;
    const agent = await this.agentOf(process, revision);
    try {
      await this.executions.cancelAndWait(agent, header.taskId, toCallContext(agent, call), callerGone(call));
    } catch (error) {
      // It ended in the meantime; its outcome determines the answer.
      if (!isRefusal(error, 'TASK_NOT_CANCELABLE')) throw error;
    }
  }

  /**
   * Resumes a waiting process. Resolves with true when that is durable, and with false if it does not wait: another
   * caller was first, or it has ended.
   * @throws ProblemError 409 if its definition is gone
   * @param as `found`: only if it still waits in the state of its header
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

  /** Returns the agent whose Task the process is, in the revision at its start, or a placeholder if it is gone. */
  private agentOf({ header, task }: StoredTask, named = task.metadata?.[REVISION_KEY]): Promise<ServedAgent> {
    const catalog = this.catalog.inTenant(header.tenant);
    const revision = typeof named === 'string' ? named : undefined;
    return agentOrGone(() => catalog.resolveAgent(header.agent, revision), header.agent, revision);
  }

  /** Validates a request. Returns the process started earlier under the same key if the agent would refuse it now. */
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

/** Reason why a process whose definition is gone accepts no Message and is not shown completely. */
export const DEFINITION_GONE =
  'the definition that it was started with is gone: it can be read and canceled, but accepts no message';

/** Returns the 404 problem for an id that names no process of the kind, or none of the caller. */
export function unknownProcess({ noun }: ProcessKind): ProblemError {
  return new ProblemError(404, `${noun} not found`);
}

/** Returns the 409 problem for a process that has ended. @param how its outcome: `it is completed` */
export function endedProcessError({ noun }: ProcessKind, how: string): ProblemError {
  return new ProblemError(409, `the ${noun} has ended: ${how}`);
}

function toCallContext(agent: ServedAgent, { scope, baseUrl, trace }: ProcessCall): CallContext {
  return { scope, agent: agent.path, extensions: [], baseUrl, ...(trace !== undefined && { trace }) };
}

function isRefusal(error: unknown, reason: string): boolean {
  return error instanceof A2AError && error.reason === reason;
}

/** Events of one process for its readers. */
export interface ProcessEvents {
  /** Number of the last event so far. */
  last: number;
  /** Returns the events after a number: first from the log, then live. */
  framesAfter: (number: number, signal: AbortSignal) => AsyncIterable<SseFrame>;
}

/** Maps an event of a process's log to what readers see; the number stays the same. */
type Projection = (recorded: RecordedEvent) => { sequence: number; type: string };

/**
 * Streams the events of processes to readers, first from the log and then live.
 * - Streams only read: the process continues however a stream ends.
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
   * Takes over the reply and streams the events after a cursor; resolves when the stream has ended.
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
   * Returns the events of a process, one for each event of its log.
   * @param until end of the stream: the end of the process (`terminal`), also its wait for a caller (`waiting`), or the
   * last event so far (`now`)
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

  /** Follows the log. A wait from which the process has already resumed does not end the stream. */
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

/** Returns a frame whose text is built when there is room for it: many readers may read one large event. */
function frameOf(recorded: RecordedEvent, project: Projection): SseFrame {
  const event = project(recorded);
  const data = new PassingText(recorded.json.length, () => JSON.stringify(event));
  return { id: event.sequence, event: event.type, data };
}

/** Passes frames on up to a number; none if a reader already has that one. */
async function* takeUntil(last: number, seen: number, frames: AsyncGenerator<SseFrame>): AsyncGenerator<SseFrame> {
  if (seen >= last) return;
  for await (const frame of frames) {
    yield frame;
    if (Number(frame.id) >= last) return;
  }
}
