import { createHash } from 'node:crypto';
import {
  AgentCallError,
  type AgentCallOptions,
  type AgentClient,
  type AgentDirectory,
  type CancelOutcome,
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
 * Maximum age in milliseconds of the proof that this replica still holds the Task when a call leaves the process. A
 * replica that stalls for ten seconds, or loses its session, loses its Tasks to another replica. When it wakes, it may
 * try to send a call that it decided long before.
 */
const PROOF_MS = 1_000;
/** Maximum age in milliseconds of a proof when it arrives. With a database that is merely slow, calls still leave. */
const ANSWER_MS = 5_000;
/**
 * Maximum number of attempts to prove the claim, which cover two minutes. A proof is late if this process stalled or
 * the database is busy.
 */
const MOST_QUESTIONS = 24;

/** Checks that this replica still holds a Task (its claim) before a call of that Task leaves the process. */
export class ClaimProof {
  /**
   * @param provenAt a `performance.now()` after which the store accepted an event of this execution
   * @param prove throws if another replica holds the Task
   */
  constructor(
    private provenAt: number,
    private readonly prove: () => Promise<void>,
  ) {}

  /**
   * Proves the claim unless the last proof is fresh.
   * @throws AgentCallError `aborted` if this replica lost the Task, `timeout` if that cannot be decided in time
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
 * Stores the `contextId` that an agent elsewhere assigned in one call, and finds that of earlier calls (see
 * RemoteContexts, which stores those of all conversations).
 */
export interface KeptContext {
  /** Returns the agent's `contextId` of earlier calls, if any. Rejects only if the call has ended. */
  findContextId(): Promise<string | undefined>;
  /** Stores a `contextId` for later calls. Never rejects. */
  keepContextId(contextId: string): Promise<void>;
}

/** Maximum characters of a stored `contextId`, since agents choose it. */
const LONGEST_CONTEXT = 1_024;

/** Context (`contextId`) at the agent during one call: uses that of earlier calls, and stores it for later ones. */
export class AgentContext {
  private isRefused = false;
  private found: Promise<string | undefined> | undefined;
  private keeping: Promise<void> | undefined;

  constructor(private readonly kept: KeptContext | undefined) {}

  /**
   * Returns the request with the `contextId` of earlier calls, unless the request names a context or a Task, or the
   * agent has refused that context.
   */
  async withKeptContext(request: SendMessageRequest): Promise<SendMessageRequest> {
    const { message } = request;
    if (!this.kept || this.isRefused || message.taskId !== undefined || message.contextId !== undefined) return request;
    const contextId = await (this.found ??= this.kept.findContextId());
    return contextId === undefined ? request : { ...request, message: { ...message, contextId } };
  }

  /**
   * Records the error of a request that was sent with the `contextId` of earlier calls.
   * @returns true if the request should be sent again without it: the agent has forgotten the context, and done nothing
   */
  noteRefusal(request: SendMessageRequest, error: unknown): boolean {
    const { contextId, taskId } = request.message;
    if (this.found === undefined || contextId === undefined || taskId !== undefined || this.isRefused) return false;
    this.isRefused = isRefusal(error);
    return this.isRefused;
  }

  /** Starts to store the first `contextId` that a response names, unless it is very long. */
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
 * True if the agent refused the context: TaskNotFound or InvalidParams, or their HTTP status, since A2A over REST sends
 * no code.
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

/** Key of a conversation between a Task and an agent elsewhere. */
export interface RemoteTalk {
  tenant: string;
  owner: string;
  /** `contextId` of the calling Task, with a suffix if the conversation belongs to a part of that Task. */
  contextId: string;
  workflow: string;
  node: string;
  agentUrl: string;
}

/**
 * Stores the `contextId`s that agents elsewhere assign, so that later Messages of the same conversation use them
 * (section 3.4.3).
 */
export abstract class RemoteContexts {
  /** Returns the agent's `contextId` of earlier calls, if any. */
  abstract findContext(talk: RemoteTalk): Promise<string | undefined>;

  /**
   * Stores a `contextId`, replacing an earlier one. Resolves when it is durable.
   * @param taskId the calling Task; the `contextId` is deleted with the last Task that stored it
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
  /** Name of the agent in the call chain; the URL unless set. */
  calledAgent?: string;
}

/** Task that makes a call, in its current execution. */
export interface CallingTask {
  context: Pick<RequestContext, 'taskId' | 'flush' | 'assertClaimHeld' | 'trace'>;
  /** Agent that owns the Task, as the call chain names it. */
  agent: string;
  /**
   * Calls that led to the Task, and the signer that adds this call to them. Absent for an agent that makes no calls and
   * so needs no call chain.
   */
  chain?: { links: readonly ChainLink[]; signer: CallChains };
  /**
   * `performance.now()` before this execution yielded the event that announces the call; absent if an earlier execution
   * yielded it.
   */
  announcedAt?: number;
  /**
   * True if the agent works in this process. The agent's Task never becomes durable before the calling Task, so the
   * call does not wait for a commit.
   */
  staysHere?: boolean;
}

/**
 * Specification of one call of one agent. When a Task is recovered, it creates the same specification, with the same
 * messageId.
 */
export interface AgentCallSpec {
  identity: CallIdentity;
  /**
   * Signal of the calling execution. After a cancel, an agent that was just called has a moment left to report its
   * Task.
   */
  signal: AbortSignal;
  /** Request of the call. Its `messageId` is derived from the purpose of the call. The call chain is added to it. */
  request: SendMessageRequest;
  /**
   * Called once before the Message is sent, with the files that the agent does not accept, even if there are none. If
   * present, the call adapts Parts that the agent does not accept: data is sent as JSON text, a file as a line about
   * it.
   */
  adapt?(unread: readonly Part[]): void;
  /** Returns the Message to send once the agent's card is known; the same Message for every attempt. */
  complete?(message: Message, client: Pick<AgentClient, 'declaresExtension'>): Message;
  /** The `contextId` at the agent. A Message that starts a Task is sent with that of earlier calls, if any. */
  context?: KeptContext;
  /** Returns the address of the agent. An error that it throws fails the call. */
  findTarget(): CallTarget | Promise<CallTarget>;
  /**
   * Checks whether the call is allowed, last before the agent is called, after the check for loops. An error that it
   * throws fails the call.
   */
  admit?(): Promise<void>;
  /** The calling Task. Without it, the call is neither recorded nor found again. */
  by?: CallingTask;
  /**
   * True for a local agent, one of this service. It creates one Task for a Message, however often the Message is sent.
   */
  own?: boolean;
  /**
   * Id of the Task that an earlier attempt of the same request created, or that the Message is for. That Task is
   * followed first.
   */
  known?: string;
  /** True if the agent is known to have received the Message for this Task. */
  delivered?: boolean;
  /** Set to send the Message again if the agent no longer knows the `known` Task; otherwise the call fails. */
  forgotten?: 'send';
  /**
   * True to leave the agent's Task at work after a failed call, since the caller will follow it again. The Task is still
   * canceled after the time limit.
   */
  leavesTask?: boolean;
  /** Time limit of the whole call in milliseconds; it replaces all other limits. */
  limit?: number;
  /**
   * Called when the limit is suspended because the answer is not being read. The caller must then suspend its own time
   * limits for the call.
   */
  onPause?(): void;
  /** Called when the limit restarts now, instead of counting from `since`. */
  onRestart?(): void;
  /**
   * Time from which `limit` counts, in epoch milliseconds, if another execution announced the call. If the Message was
   * never sent (a local agent has no Task for it, or a known Task still waits for it), the limit starts when the
   * Message is sent.
   */
  since?: number;
  /**
   * Maximum number of retries of the Message within this call, after 5xx and timeouts; the client's default unless set.
   */
  resends?: number;
  /** Time limits of the single phases of the call, if the whole call has no limit. */
  timeouts?: AgentCallOptions['timeouts'];
}

/** Time limits of single phases that never expire, for a call with a limit as a whole. */
const UNLIMITED = { firstEvent: Infinity, idle: Infinity, total: Infinity };
const CANCEL_MS = 5_000;

/**
 * Returns the client's options for a call. A local agent detects retries by the idempotency key. To any other agent,
 * nothing is sent without a fresh proof of the claim.
 */
export function callOptions(spec: AgentCallSpec, signal: AbortSignal): AgentCallOptions {
  const { identity, own, by, request, resends, limit, timeouts = limit === undefined ? undefined : UNLIMITED } = spec;
  const trace = by?.context.trace?.contextBelow('call', request.message.messageId);
  return {
    ...identity,
    signal,
    ...(trace && { trace }),
    ...(own && { idempotencyKey: request.message.messageId }),
    ...(!own &&
      by && { fence: new ClaimProof(by.announcedAt ?? -Infinity, () => by.context.assertClaimHeld()).renewProof }),
    ...(timeouts && { timeouts }),
    ...(limit !== undefined && { isLimited: true }),
    ...(resends !== undefined && { resends }),
  };
}

/** Returns the client's options for a cancel: one attempt without retries, at most five seconds. */
export function cancelOptions(identity: CallIdentity): AgentCallOptions {
  return { ...identity, timeouts: { refused: 0 }, signal: AbortSignal.timeout(CANCEL_MS) };
}

/**
 * Returns the request with its call chain, including this call.
 * @throws A2AError LOOP_DETECTED if the chain already contains the agent
 */
export function extendCallChain(
  { by, request }: AgentCallSpec,
  { url, calledAgent = url }: CallTarget,
): SendMessageRequest {
  if (by?.chain === undefined) return request;
  const { links, signer } = by.chain;
  signer.refuseCall(calledAgent, links);
  return withChain(
    request,
    signer.extendChain(links, { task: by.context.taskId, caller: by.agent, callee: calledAgent }),
  );
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

/** Cancels a Task of an agent to which no call is open, within five seconds. Never throws. */
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
