import { createHash } from 'node:crypto';
import { AgentCallError, type AgentClient, type AgentDirectory, type CallOptions } from '#libs/a2a-client';
import {
  type Hop,
  HOP_CHAIN,
  type HopChains,
  hopMetadata,
  hopsOf,
  keptHops,
  type NodeSpec,
  type RequestContext,
  TaskCanceled,
} from '#libs/executor';
import {
  firstText,
  isJsonObject,
  type JsonObject,
  type SendMessageRequest,
  statusUpdate,
  type StreamResponse,
  textPart,
  userMessage,
  hasUserinfo,
  NO_USERINFO,
  shownUrl,
} from '#libs/protocol';
import { NodeExecutor, type NodeEvent, type NodeWork } from './node-executor.js';
import { NodeFailure } from './node-failure.js';
import { RemoteAnswer, type RemoteTask } from './remote-answer.js';
import { RemoteCallEnd } from './remote-call-end.js';

export const DEFAULT_TIMEOUT_SECONDS = 30;
/** What a timer of this runtime can hold. */
export const LONGEST_TIMEOUT_SECONDS = Math.floor((2 ** 31 - 1) / 1_000);
const CANCEL_MS = 5_000;
/** No limit but the node's own shall speak. */
const UNLIMITED = { firstEvent: Infinity, idle: Infinity, total: Infinity };
/** The metadata key under which a Task event keeps the ids of the remote Task that works for it. */
const REMOTE_KEY = 'parley/remote';

/**
 * Sends the Message on to an agent elsewhere and gives what it answers (rows E3 to E5). The Task waits when the remote
 * Task waits, and its next Message goes down to that one; `timeout` holds over the whole turn, a cancel is passed on.
 */
export class ExternalExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  override readonly cancelGrace = CANCEL_MS + 1_000;
  override readonly order: string;

  constructor(
    node: NodeSpec,
    private readonly agents: AgentDirectory,
    private readonly hops: HopChains,
  ) {
    super(node);
    this.order = `Execute external node ${node.id}`;
  }

  override taskMetadata(request: SendMessageRequest): JsonObject {
    return hopMetadata(hopsOf(request));
  }

  /** A new Message may be one that this very node led to. */
  override check(request: SendMessageRequest): void {
    const { endpoint_url: url } = this.node.config;
    if (request.message.taskId === undefined && typeof url === 'string') this.hops.refuseCall(url, hopsOf(request));
  }

  protected override async *work(context: RequestContext): NodeWork {
    const url = this.#url();
    const known = await remoteOf(context);
    if (context.signal.reason instanceof TaskCanceled) return await this.#cancel(context, url, known?.remote);
    const answer = new RemoteAnswer();
    using end = new RemoteCallEnd(context.signal, this.#timeout());
    if (known) end.sighted();
    try {
      yield* this.#call(context, known, answer, end);
    } catch (error) {
      if (context.signal.reason instanceof TaskCanceled)
        return await this.#cancel(context, url, answer.task ?? known?.remote);
      context.signal.throwIfAborted();
      if (!(error instanceof AgentCallError)) throw error;
      const isLate = end.outOfTime && !error.unsent;
      const fault = isLate ? `timeout: not finished within ${this.#timeout()} s` : error.message;
      throw new NodeFailure(`external agent call to ${shownUrl(url)}: ${fault}`, { cause: error });
    }
    return yield* ended(context, url, answer);
  }

  async *#call(context: RequestContext, known: KnownRemote | undefined, answer: RemoteAnswer, end: RemoteCallEnd) {
    const options: CallOptions = {
      signal: end.signal,
      timeouts: UNLIMITED,
      scope: context.call.scope,
      parent: { taskId: context.taskId, reference: this.node.id },
      ...this.#credential(),
    };
    const client = await this.agents.client(this.#url(), options);
    for await (const event of this.#events(context, client, known, options)) {
      const isFirst = answer.task === undefined;
      answer.apply(event);
      if (answer.task) end.sighted();
      if (isFirst && answer.task) yield remoteNote(context, answer.task);
    }
  }

  /** After a crash the remote Task of this turn is followed; where none was seen the same Message is sent again. */
  #events(
    context: RequestContext,
    client: AgentClient,
    known: KnownRemote | undefined,
    options: CallOptions,
  ): AsyncIterable<StreamResponse> {
    if (known?.ofThisTurn) return client.follow(known.remote.taskId, options);
    const text = firstText(context.userMessage.parts) ?? this.order;
    const metadata = hopMetadata(this.#hopsTo(context));
    const fields = { messageId: messageIdOf(context), ...known?.remote, extensions: [HOP_CHAIN], metadata };
    const message = userMessage(text, fields);
    return client.send({ message }, options);
  }

  /** The calls that led to this Task, and the one of the remote agent. */
  #hopsTo(context: RequestContext): Hop[] {
    const { userMessage: message, metadata, task, taskId, call } = context;
    const hops = task ? keptHops(task.metadata) : hopsOf({ message, ...(metadata && { metadata }) });
    return this.hops.extended(hops, { task: taskId, caller: call.agent, callee: this.#url() });
  }

  async #cancel({ call }: RequestContext, url: string, remote: RemoteTask | undefined): Promise<undefined> {
    if (!remote) return;
    const options = { timeouts: { total: CANCEL_MS, refused: 0 }, scope: call.scope, ...this.#credential() };
    const client = await this.agents.client(url, options).catch(() => undefined);
    await client?.cancel(remote.taskId, options);
  }

  #credential(): Pick<CallOptions, 'credential'> {
    const { auth } = this.node.config;
    return typeof auth === 'string' && auth !== '' ? { credential: auth } : {};
  }

  #url(): string {
    const { endpoint_url: url } = this.node.config;
    if (typeof url !== 'string' || url === '') throw new NodeFailure(missingEndpoint(this.node));
    if (hasUserinfo(url)) throw new NodeFailure(`external agent call to ${shownUrl(url)}: endpoint_url ${NO_USERINFO}`);
    return url;
  }

  #timeout(): number {
    const { timeout } = this.node.config;
    const seconds = typeof timeout === 'number' && timeout > 0 ? timeout : DEFAULT_TIMEOUT_SECONDS;
    return Math.min(seconds, LONGEST_TIMEOUT_SECONDS);
  }
}

/** Row E2. */
export function missingEndpoint(node: NodeSpec): string {
  return `external node "${node.id}": missing endpoint_url config`;
}

interface KnownRemote {
  remote: RemoteTask;
  /** Whether it was seen in this turn, before a crash. */
  ofThisTurn: boolean;
}

async function* ended(context: RequestContext, url: string, answer: RemoteAnswer): NodeWork {
  switch (answer.outcome) {
    case 'TASK_STATE_COMPLETED':
      return [textPart(answer.output)];
    case 'TASK_STATE_INPUT_REQUIRED':
    case 'TASK_STATE_AUTH_REQUIRED':
      yield statusUpdate(context, answer.outcome, answer.status?.message?.parts);
      return undefined;
    case 'TASK_STATE_CANCELED':
      throw new NodeFailure(`external agent ${shownUrl(url)} canceled`);
    case 'TASK_STATE_REJECTED':
      throw new NodeFailure(`external agent ${shownUrl(url)} rejected`);
    default:
      throw new NodeFailure(`external agent ${shownUrl(url)} failed`);
  }
}

function remoteNote(context: RequestContext, { taskId, contextId }: RemoteTask): NodeEvent {
  return statusUpdate(context, 'TASK_STATE_WORKING', undefined, { [REMOTE_KEY]: { taskId, contextId } });
}

/** The remote Task that this Task's log names last. On a first turn that never ran there is none to read. */
async function remoteOf(context: RequestContext): Promise<KnownRemote | undefined> {
  if (context.task === null && context.recovered === 0) return undefined;
  const log = await context.log();
  const index = log.findLastIndex((event) => remoteIn(event) !== undefined);
  const event = log[index];
  const remote = event && remoteIn(event);
  return remote && { remote, ofThisTurn: index >= log.length - context.recovered };
}

function remoteIn(event: Awaited<ReturnType<RequestContext['log']>>[number]): RemoteTask | undefined {
  const metadata: JsonObject | undefined = 'statusUpdate' in event ? event.statusUpdate.metadata : undefined;
  const remote = metadata?.[REMOTE_KEY];
  return isJsonObject(remote) ? (remote as unknown as RemoteTask) : undefined;
}

/** The same for every attempt at a turn, so that the remote can tell a repetition. */
function messageIdOf({ taskId, userMessage: { messageId } }: RequestContext): string {
  const hash = createHash('sha256').update(`${taskId}/${messageId}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
