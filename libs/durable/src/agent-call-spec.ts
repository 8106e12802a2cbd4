import { createHash } from 'node:crypto';
import {
  AgentCallError,
  type AgentCallOptions,
  type AgentClient,
  type AgentDirectory,
  type CancelOutcome,
} from '#libs/a2a-client';
import { CALL_CHAIN, type CallChains, type ChainLink, chainMetadata, type RequestContext } from '#libs/executor';
import { A2A_ERRORS, type Message, type Part, type SendMessageRequest, type StreamResponse } from '#libs/protocol';

/**
 * Maximum age in milliseconds of the proof that this replica still holds the Task when a call leaves the process. A
 * replica that stalls for ten seconds, or loses its session, is taken over. It may wake with a call decided long
 * before.
 */
const PROOF_MS = 1_000;
/** Maximum age in milliseconds of a proof when it arrives. A database that is merely slow still lets calls out. */
const ANSWER_MS = 5_000;
/** Attempts. A proof is late if this process stalled or the database is busy: attempts cover two minutes of that. */
const MOST_QUESTIONS = 24;

/** Lets calls of a Task leave only while this replica holds the Task. */
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

/** Stores the context of a call at an agent elsewhere, and finds the context of earlier calls. */
export interface KeptContext {
  /** Returns the agent's `contextId` of earlier calls, if any; rejects only if the call has ended. */
  findContextId(): Promise<string | undefined>;
  /** Stores a context. Never rejects. */
  keepContextId(contextId: string): Promise<void>;
}

/** Maximum characters of a stored context; agents choose their contexts. */
const LONGEST_CONTEXT = 1_024;

/** The agent's context in one call. */
export class AgentContext {
  private isRefused = false;
  private found: Promise<string | undefined> | undefined;
  private keeping: Promise<void> | undefined;

  constructor(private readonly kept: KeptContext | undefined) {}

  /** Returns the request in the context of earlier calls, unless it names one or the agent has refused it. */
  async withKeptContext(request: SendMessageRequest): Promise<SendMessageRequest> {
    const { message } = request;
    if (!this.kept || this.isRefused || message.taskId !== undefined || message.contextId !== undefined) return request;
    const contextId = await (this.found ??= this.kept.findContextId());
    return contextId === undefined ? request : { ...request, message: { ...message, contextId } };
  }

  /**
   * Records the error of a request. Returns true if the request should be sent again without the context: the agent has
   * forgotten the context, and has done nothing.
   */
  noteRefusal(request: SendMessageRequest, error: unknown): boolean {
    const { contextId, taskId } = request.message;
    if (this.found === undefined || contextId === undefined || taskId !== undefined || this.isRefused) return false;
    this.isRefused = isRefusal(error);
    return this.isRefused;
  }

  /** Starts to store the first context that an answer names, unless it is very long. */
  keepFrom(response: StreamResponse): void {
    const contextId = contextOf(response);
    if (!contextId || contextId.length > LONGEST_CONTEXT) return;
    if (this.kept) this.keeping ??= this.kept.keepContextId(contextId);
  }

  /** Resolves when the context is stored, or storing it has failed. */
  async waitUntilKept(): Promise<void> {
    await this.keeping;
  }
}

/** True for TaskNotFound and InvalidParams, which have no code of A2A over REST. */
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
  /** Context of the calling Task, with a suffix if the conversation belongs to a part of that Task. */
  contextId: string;
  workflow: string;
  node: string;
  agentUrl: string;
}

/** Stores the contexts that agents elsewhere assign, so that later Messages use the same ones (section 3.4.3). */
export abstract class RemoteContexts {
  /** Returns the agent's `contextId` of earlier turns, if there were any. */
  abstract findContext(talk: RemoteTalk): Promise<string | undefined>;

  /**
   * Stores a context, replacing an earlier one. Resolves when it is durable.
   * @param taskId the calling Task; the context is deleted with the last Task that stored it
   */
  abstract keepContext(talk: RemoteTalk, contextId: string, taskId: string): Promise<void>;
}

/** Returns a fixed-length key of a conversation: 64 hexadecimal digits. */
export function talkKey({ tenant, owner, contextId, workflow, node, agentUrl }: RemoteTalk): string {
  const members = JSON.stringify([tenant, owner, contextId, workflow, node, agentUrl]);
  return createHash('sha256').update(members).digest('hex');
}

/** Identity and authorization of the caller, which the cancel of a call needs as well. */
export type CallIdentity = Pick<
  AgentCallOptions,
  'scope' | 'parent' | 'revision' | 'credential' | 'onlyToHosts' | 'protocol'
>;

export interface CallTarget {
  url: string;
  /** Name of the agent in the call chain; its URL unless set. */
  calledAgent?: string;
}

/** Task that calls, in its current execution. */
export interface CallingTask {
  context: Pick<RequestContext, 'taskId' | 'flush' | 'assertClaimHeld' | 'trace'>;
  /** Agent that owns the Task, as the call chain names it. */
  agent: string;
  /**
   * Calls that led to the Task, and the signer of this one. If absent, the agent is not told about them, since it makes
   * no calls.
   */
  chain?: { links: readonly ChainLink[]; signer: CallChains };
  /**
   * `performance.now()` before this execution yielded the event that announces the call; absent if another execution
   * did.
   */
  announcedAt?: number;
  /**
   * True if the agent works in this process. Its Task is never durable before the calling one, so the call does not
   * wait for a commit.
   */
  staysHere?: boolean;
}

/**
 * Specification of one call of one agent. The recovery of a Task creates the same specification, with the same
 * messageId.
 */
export interface AgentCallSpec {
  identity: CallIdentity;
  /**
   * Signal of the calling execution. After a cancel, an agent that was just called still has a moment to report its
   * Task.
   */
  signal: AbortSignal;
  /** Request of the call. Its `messageId` is derived from the purpose of the call. The call chain is added to it. */
  request: SendMessageRequest;
  /**
   * Makes the call adapt Parts that the agent does not accept: data is sent as JSON text, a file as a line about it.
   * Called once before the Message is sent, with those files, even if there are none.
   */
  adapt?(unread: readonly Part[]): void;
  /** Returns the Message for the agent once its card is known; the same for every attempt. */
  complete?(message: Message, client: Pick<AgentClient, 'declaresExtension'>): Message;
  /** The agent's context of earlier calls. A Message that starts a Task is sent in that context, if any. */
  context?: KeptContext;
  /** Returns the address of the agent. An error that it throws fails the call. */
  findTarget(): CallTarget | Promise<CallTarget>;
  /** Runs last before the agent is called, after the loop check. An error that it throws fails the call. */
  admit?(): Promise<void>;
  /** The calling Task. Without one, the call is neither recorded nor found again. */
  by?: CallingTask;
  /** True for an agent of this service, which creates one Task for a Message, however often it is sent. */
  own?: boolean;
  /** Task that an earlier call of the same request created, or that the Message is for. It is followed first. */
  known?: string;
  /** True if the agent is known to have received the Message for this Task. */
  delivered?: boolean;
  /** Set to send the Message again if the agent no longer knows that Task; otherwise the call fails. */
  forgotten?: 'send';
  /** Time limit of the whole call in milliseconds; it replaces all other limits. */
  limit?: number;
  /**
   * Called when the limit is suspended because the answer is not being read. From then on no other clock measures the
   * call.
   */
  onPause?(): void;
  /** Called when the limit restarts now and no longer counts from `since`. */
  onRestart?(): void;
  /**
   * Start of the limit in epoch milliseconds, if another execution announced the call. If the Message was never sent,
   * the limit starts with the Message: a local agent has no Task for it, or a known Task still waits for it.
   */
  since?: number;
  /** Retries of the Message within this call after 5xx and timeouts; the client's default unless set. */
  resends?: number;
  /** Limits of single steps, if there is no limit for the whole call. */
  timeouts?: AgentCallOptions['timeouts'];
}

/** Limits of single steps that never apply: the call has a limit as a whole. */
const UNLIMITED = { firstEvent: Infinity, idle: Infinity, total: Infinity };
const CANCEL_MS = 5_000;

/**
 * Returns the options of a call. A local agent detects retries by the idempotency key. For any other agent, nothing is
 * sent without a fresh proof of the claim.
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

/** Returns the options of a cancel: one attempt, without retries. */
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
  return { ...request, message: { ...message, extensions: [CALL_CHAIN], metadata } };
}

/**
 * Outcome of a cancel. `not-started`: the agent received no Message, so there was nothing to cancel. `unknown`: it may
 * have received one, but no Task of it is known.
 */
export type CallCancelOutcome = CancelOutcome | 'not-started' | 'unknown';

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
