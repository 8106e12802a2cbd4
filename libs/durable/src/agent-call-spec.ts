import { createHash } from 'node:crypto';
import {
  AgentCallError,
  type AgentCallOptions,
  type AgentClient,
  type AgentDirectory,
  type CancelOutcome,
  type SendFence,
} from '#libs/a2a-client';
import { CALL_CHAIN, type CallChains, type ChainLink, chainMetadata, type RequestContext } from '#libs/agents';
import {
  A2A_ERRORS,
  type CallCancelOutcome,
  type Message,
  type Part,
  type SendMessageRequest,
  type StreamResponse,
} from '#libs/protocol';

/**
 * Maximum age, in milliseconds, of the last confirmation that this replica has the claim (right to write the Task),
 * when a call leaves the process. A replica that was suspended for ten seconds or has lost its session may still try to
 * send calls, although other replicas have adopted its Tasks.
 */
const PROOF_MS = 1_000;
/**
 * Maximum milliseconds in which the store must answer an attempt to prove the claim (to confirm that this replica still
 * holds the Task). After a later answer, the claim is proven again.
 */
const ANSWER_MS = 5_000;
/**
 * Maximum number of attempts to prove the claim (to confirm that this replica still has the Task). An attempt fails if
 * the store's answer takes longer than ANSWER_MS, because this process was suspended or the database is busy. So all
 * attempts together last at least two minutes.
 */
const MOST_QUESTIONS = 24;

/**
 * Confirms that this replica still has the claim on a Task (the right to write it) before a call of that Task leaves
 * the process.
 */
export class ClaimProof {
  /**
   * @param provenAt time, by `performance.now()`, at or after which the store accepted an event: the first proof
   * @param prove asks the store; throws if another replica holds the Task
   */
  constructor(
    private provenAt: number,
    private readonly prove: () => Promise<void>,
  ) {}

  /**
   * Confirms that this replica still has the claim (the right to write the Task). Does nothing if that was confirmed
   * less than PROOF_MS ago.
   * @throws AgentCallError `aborted` if this replica lost the Task, `timeout` if the store's answers all came too late
   */
  readonly renewProof = async (): Promise<void> => {
    if (performance.now() - this.provenAt <= PROOF_MS) return;
    for (let questions = 0; questions < MOST_QUESTIONS; questions += 1) {
      const asked = performance.now();
      await this.proveClaim();
      this.provenAt = asked;
      if (performance.now() - asked < ANSWER_MS) return;
    }
    throw new AgentCallError('timeout', 'it could not be verified in time that this replica still owns the task', {
      unsent: true,
    });
  };

  private async proveClaim(): Promise<void> {
    try {
      await this.prove();
    } catch (cause) {
      throw new AgentCallError('aborted', 'another replica has taken over the task', { cause, unsent: true });
    }
  }
}

/**
 * Access to the `contextId` that a remote agent assigned to one conversation, for later calls of that conversation.
 * RemoteContexts stores the `contextId`s of all conversations.
 */
export interface KeptContext {
  /**
   * Returns the agent's `contextId` from earlier calls; `undefined` if there is none. Rejects only if the call has
   * ended.
   */
  findContextId(): Promise<string | undefined>;
  /** Stores a `contextId` for later calls. Never rejects. */
  keepContextId(contextId: string): Promise<void>;
}

/** Maximum characters of a stored `contextId`, since agents choose it. */
const LONGEST_CONTEXT = 1_024;

/**
 * The agent's context (`contextId`) during one call. The call is sent with the `contextId` that earlier calls stored.
 * If the agent names a `contextId` in a response, it is stored for later calls.
 */
export class AgentContext {
  private isRefused = false;
  private found: Promise<string | undefined> | undefined;
  private keeping: Promise<void> | undefined;

  constructor(private readonly kept: KeptContext | undefined) {}

  /**
   * Returns the request with the `contextId` of earlier calls. Returns the request unchanged if no `contextId` is
   * stored, if the request itself names a context or a Task, or if the agent has rejected the stored context.
   */
  async withKeptContext(request: SendMessageRequest): Promise<SendMessageRequest> {
    const { message } = request;
    if (!this.kept || this.isRefused || message.taskId !== undefined || message.contextId !== undefined) return request;
    const contextId = await (this.found ??= this.kept.findContextId());
    return contextId === undefined ? request : { ...request, message: { ...message, contextId } };
  }

  /**
   * Handles the error of a request that was sent with the `contextId` of earlier calls.
   * @returns true if the request should be sent again without the `contextId`: the agent no longer knows the context,
   * and so has not acted on the request
   */
  noteRefusal(request: SendMessageRequest, error: unknown): boolean {
    const { contextId, taskId } = request.message;
    if (this.found === undefined || contextId === undefined || taskId !== undefined || this.isRefused) return false;
    this.isRefused = isRefusal(error);
    return this.isRefused;
  }

  /**
   * Stores the first `contextId` that a response of this call names, without waiting. A `contextId` longer than
   * LONGEST_CONTEXT is not stored.
   */
  keepFrom(response: StreamResponse): void {
    const contextId = contextOf(response);
    if (!contextId || contextId.length > LONGEST_CONTEXT) return;
    if (this.kept) this.keeping ??= this.kept.keepContextId(contextId);
  }

  /** Resolves when the `contextId` is stored, or storing it has failed. */
  async waitUntilKept(): Promise<void> {
    await this.keeping;
  }
}

/**
 * True if the agent may have rejected the `contextId`: the error is TaskNotFound or InvalidParams. An error of A2A over
 * REST has no JSON-RPC code, so it counts if it has the HTTP status of one of these two errors.
 */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof AgentCallError)) return false;
  const { kind, code } = error;
  return kind === 'not-found' || code === A2A_ERRORS.INVALID_PARAMS.code || code === 400 || code === 404;
}

function contextOf(response: StreamResponse): string | undefined {
  if ('task' in response) return response.task.contextId;
  if ('message' in response) return response.message.contextId;
  return 'statusUpdate' in response ? response.statusUpdate.contextId : response.artifactUpdate.contextId;
}

/** Key of a conversation between a calling Task and a remote agent. */
export interface RemoteTalk {
  tenant: string;
  owner: string;
  /**
   * `contextId` of the calling Task. It has a suffix if the conversation belongs only to a part of that Task, such as a
   * rerun or a list entry.
   */
  contextId: string;
  workflow: string;
  node: string;
  agentUrl: string;
}

/**
 * Stores the `contextId`s that remote agents assign, so that later Messages of the same conversation use them
 * (section 3.4.3).
 */
export abstract class RemoteContexts {
  /** Returns the agent's `contextId` from earlier calls; `undefined` if there is none. */
  abstract findContext(talk: RemoteTalk): Promise<string | undefined>;

  /**
   * Stores a `contextId`, replacing an earlier one. Resolves when it is durable.
   * @param taskId id of the calling Task; the `contextId` is deleted with the last Task that stored it
   */
  abstract keepContext(talk: RemoteTalk, contextId: string, taskId: string): Promise<void>;
}

/** Returns a fixed-length key of a conversation: 64 hexadecimal digits. */
export function talkKey({ tenant, owner, contextId, workflow, node, agentUrl }: RemoteTalk): string {
  const members = JSON.stringify([tenant, owner, contextId, workflow, node, agentUrl]);
  return createHash('sha256').update(members).digest('hex');
}

/** Identity and authorization of the caller. The cancel of a call needs them as well. */
export type CallIdentity = Pick<
  AgentCallOptions,
  'scope' | 'parent' | 'revision' | 'credential' | 'onlyToHosts' | 'protocol' | 'extensions' | 'headers'
>;

export interface CallTarget {
  url: string;
  /** Name of the agent in the call chain; by default its URL. */
  calledAgent?: string;
}

/** Task that makes a call, in its current execution. */
export interface CallingTask {
  context: Pick<RequestContext, 'taskId' | 'flush' | 'assertClaimHeld' | 'trace'>;
  /** Agent that owns the Task, as the call chain names it. */
  agent: string;
  /**
   * Call chain that led to the Task, and the signer that adds this call to it. Absent if the called agent itself
   * makes no calls, so that the Message needs no call chain. `hasBudget` is true if the Task has a budget.
   */
  chain?: { links: readonly ChainLink[]; signer: CallChains; hasBudget?: boolean };
  /**
   * Time, by `performance.now()`, right before this execution yielded the event that records the call in the log;
   * absent if an earlier execution yielded it.
   */
  announcedAt?: number;
  /**
   * True if the agent works in this process. The call then does not wait until the event that records the call is
   * durable: the journal writes events in order, so the agent's Task never becomes durable before that event.
   */
  staysHere?: boolean;
}

/** Description of one call. After a crash, the recovered Task creates an equal description, with the same messageId. */
export interface AgentCallSpec {
  identity: CallIdentity;
  /**
   * Signal that aborts when the calling execution ends. If the reason is a cancel, an agent that was just called still
   * has a moment to report its Task.
   */
  signal: AbortSignal;
  /**
   * Request of the call, to which its call chain is added later. Its `messageId` is derived from the purpose of the
   * call, so that every execution uses the same id.
   */
  request: SendMessageRequest;
  /**
   * Reports the files that the agent does not accept. If this method is present, Parts that the agent does not accept
   * are replaced before the Message is sent: data by its JSON text, a file by a line that names the file. The method is
   * then called once; `unread` has the replaced files, possibly none. If it is absent, all Parts are sent unchanged.
   */
  adapt?(unread: readonly Part[]): void;
  /**
   * Completes the Message once the agent's card is known, for example with metadata for agents that declare an
   * extension. Must return the same Message for every attempt. If this method is absent, the Message is sent unchanged.
   */
  complete?(message: Message, client: Pick<AgentClient, 'declaresExtension'>): Message;
  /**
   * Access to the `contextId` of earlier calls to the agent. If one is stored, a Message that starts a Task is sent
   * with it.
   */
  context?: KeptContext;
  /** Returns the address of the agent. An error that it throws fails the call. */
  findTarget(): CallTarget | Promise<CallTarget>;
  /**
   * Checks if the call is allowed, for example by a budget. It runs after the check for loops, as the last check before
   * the agent is called. If it throws, the call fails with that error.
   */
  admit?(): Promise<void>;
  /** The calling Task. If absent, the call is not recorded, and no later execution finds the Task that it created. */
  by?: CallingTask;
  /** True for an agent of this service. Such an agent creates only one Task for a Message, even if it gets it twice. */
  own?: boolean;
  /**
   * Id of a Task that is followed first: the Task that an earlier attempt of the same request created, or the waiting
   * Task to which the Message belongs. Absent if no Task is known.
   */
  known?: string;
  /** Run events of the `known` Task that this call may lack; absent: none are asked for. */
  missed?: AgentCallOptions['missed'];
  /** True if it is known that the Message has reached the `known` Task, so that it need not be sent. */
  delivered?: boolean;
  /** `'send'` to send the Message again if the agent no longer has the `known` Task. Absent: the call fails then. */
  forgotten?: 'send';
  /**
   * True to leave the agent's Task running if the call fails, because the caller will follow the Task in a later call.
   * If the time limit ends the call, the Task is canceled in any case.
   */
  leavesTask?: boolean;
  /** Time limit of the whole call in milliseconds, which replaces all other limits; absent: `timeouts` apply. */
  limit?: number;
  /**
   * Called when the time limit is paused because the answer cannot be read for lack of memory. The caller must then
   * pause its own limits for the call as well.
   */
  onPause?(): void;
  /** Called when the time limit starts from the beginning now, instead of counting from `since`. */
  onRestart?(): void;
  /**
   * Time from which `limit` counts, in milliseconds since 1970. Set if an earlier execution recorded the call in the
   * log. If the Message was never sent, `limit` counts from the time when it is sent instead. That is known if a local
   * agent has no Task for the Message, or the known Task still waits for the Message.
   */
  since?: number;
  /**
   * Maximum number of retries of the Message within this call, after 5xx and timeouts; the client's default unless set.
   */
  resends?: number;
  /**
   * Function that is awaited before the Message is passed to the client of the agent. If it throws, the call fails with
   * that error.
   */
  beforeSend?(): Promise<void>;
  /**
   * Called right before each attempt to send the Message to a remote agent. The client calls the returned function once
   * the attempt has a connection. If the returned function throws, nothing is sent.
   */
  openGate?(): () => void;
  /** Time limits of the client. Absent: with `limit`, it has none of its own; without `limit`, it has its defaults. */
  timeouts?: AgentCallOptions['timeouts'];
}

/** Time limits that never expire, which replace the client's defaults if `limit` is set and `timeouts` is absent. */
const UNLIMITED = { firstEvent: Infinity, idle: Infinity, total: Infinity };
const CANCEL_MS = 5_000;

/**
 * Returns the client's options for a call. An agent of this service gets an idempotency key, by which it recognizes a
 * repeated Message. Before the client sends to any other agent, ClaimProof confirms that this replica still has the
 * calling Task; if it does not, nothing is sent.
 */
export function callOptions(spec: AgentCallSpec, signal: AbortSignal): AgentCallOptions {
  const { identity, own, by, request, resends, limit, timeouts = limit === undefined ? undefined : UNLIMITED } = spec;
  const trace = by?.context.trace?.contextBelow('call', request.message.messageId);
  return {
    ...identity,
    signal,
    ...(trace && { trace }),
    ...(own && { idempotencyKey: request.message.messageId }),
    ...(!own && by && { fence: fenceOf(spec, by) }),
    ...(timeouts && { timeouts }),
    ...(limit !== undefined && { isLimited: true }),
    ...(resends !== undefined && { resends }),
  };
}

function fenceOf(spec: AgentCallSpec, by: CallingTask): SendFence {
  const proof = new ClaimProof(by.announcedAt ?? -Infinity, () => by.context.assertClaimHeld());
  return async () => {
    await proof.renewProof();
    return spec.openGate?.();
  };
}

/** Returns the client's options for a cancel: a single attempt of at most five seconds. */
export function cancelOptions(identity: CallIdentity): AgentCallOptions {
  return { ...identity, timeouts: { refused: 0 }, signal: AbortSignal.timeout(CANCEL_MS) };
}

/**
 * Returns the request with its call chain, to which this call is added.
 * @throws A2AError LOOP_DETECTED if the chain already contains the agent
 */
export function extendCallChain(
  { by, request }: AgentCallSpec,
  { url, calledAgent = url }: CallTarget,
): SendMessageRequest {
  if (by?.chain === undefined) return request;
  const { links, signer, hasBudget } = by.chain;
  signer.refuseCall(calledAgent, links);
  const call = { task: by.context.taskId, caller: by.agent, callee: calledAgent };
  return withChain(request, signer.extendChain(links, call, hasBudget));
}

function withChain(request: SendMessageRequest, links: readonly ChainLink[]): SendMessageRequest {
  const { message } = request;
  const metadata = { ...message.metadata, ...chainMetadata(links) };
  const extensions = [...(message.extensions ?? []), CALL_CHAIN];
  return { ...request, message: { ...message, extensions, metadata } };
}

export interface CanceledCall {
  taskId?: string;
  outcome: CallCancelOutcome;
}

/** Cancels a Task at an agent to which no call is open, within five seconds. Never throws. */
export async function cancelTask(
  directory: AgentDirectory,
  url: string,
  taskId: string,
  identity: CallIdentity,
): Promise<CancelOutcome> {
  const options = cancelOptions(identity);
  try {
    return await (await directory.resolveClient(url, options)).cancelTask(taskId, options);
  } catch {
    return 'unreachable';
  }
}
