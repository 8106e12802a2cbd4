import { createHash } from 'node:crypto';
import type { AgentDirectory } from '#libs/a2a-client';
import {
  type AgentDeclaration,
  type AgentExecutor,
  type CallChains,
  chainMetadata,
  chainOf,
  keptChain,
  type NodeProblem,
  type NodeSpec,
  type NodeType,
  type RequestContext,
  TaskCanceled,
} from '#libs/agents';
import {
  AgentCall,
  type CallIdentity,
  type CallOutcome,
  isLeftWaiting,
  type KeptContext,
  type RemoteContexts,
} from '#libs/durable';
import { retryWhileUnreachable } from '#libs/postgres';
import {
  callersMembers,
  callersMetadata,
  hasUserinfo,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  LONGEST_URL,
  NO_USERINFO,
  type Part,
  redactedUrl,
  type SendMessageRequest,
  statusUpdate,
  textPart,
  TOO_LONG_URL,
  urlProblem,
  userMessage,
} from '#libs/protocol';
import { askedQuestion, outputOf, WorkingTexts } from './external-answer.js';
import { ConfigProblems, configSchema, DATA, PROMPT } from './node-config.js';
import { ANYTHING, type NodeEvent, NodeExecutor, NodeFailure, type NodeWork } from './node-executor.js';

const DEFAULT_TIMEOUT_SECONDS = 30;
/** Maximum of `timeout` in seconds, which is the maximum delay of a timer of Node.js. */
export const LONGEST_TIMEOUT_SECONDS = Math.floor((2 ** 31 - 1) / 1_000);
/** Milliseconds that a cancel of the Task waits until the remote Task is known and canceled too. */
const CANCEL_MS = 6_000;
/** Metadata key of the ids of the remote Task. */
const REMOTE_KEY = 'parley/remote';

/**
 * Passes the Message on to a remote agent, and answers with the output of that agent.
 * - The Task waits while the remote Task waits. The next Message goes to the remote Task.
 * - `timeout` limits the whole turn.
 * - A cancel is passed on to the remote Task.
 */
class ExternalExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  protected override readonly goesOn = true;
  override readonly cancelGrace = CANCEL_MS;
  override readonly order: string;
  override readonly declares: AgentDeclaration = { inputModes: [...ANYTHING], outputModes: [...ANYTHING] };

  constructor(
    node: NodeSpec,
    private readonly agents: AgentDirectory,
    private readonly chains: CallChains,
    private readonly contexts?: RemoteContexts,
  ) {
    super(node);
    this.order = `Execute external node ${node.id}`;
  }

  override taskMetadata(request: SendMessageRequest): JsonObject {
    return chainMetadata(chainOf(request));
  }

  /** Rejects a new Message that a call of this node itself led to (call chain). */
  override checkRequest(request: SendMessageRequest): void {
    const { endpoint_url: url } = this.node.config;
    if (request.message.taskId === undefined && typeof url === 'string') this.chains.refuseCall(url, chainOf(request));
  }

  /**
   * Returns the input media types of the agent's pinned card; `undefined` if there is no such card, or it names none.
   */
  override async findInputModes(tenant: string): Promise<readonly string[] | undefined> {
    const { endpoint_url: url } = this.node.config;
    if (typeof url !== 'string' || url === '') return undefined;
    const card = await this.agents.pinnedCard(url, { scope: { tenant, owner: '' } });
    const modes = card?.['defaultInputModes'] ?? card?.['default_input_modes'];
    return Array.isArray(modes) && modes.length > 0 ? modes.filter((mode) => typeof mode === 'string') : undefined;
  }

  protected override async *performWork(context: RequestContext): NodeWork {
    const url = this.#readEndpoint();
    const known = await remoteOf(context);
    const call = this.#createCall(context, url, known, await begunBefore(context));
    try {
      yield* followCall(context, call, known?.ofThisTurn === true);
    } catch (error) {
      if (!(context.signal.reason instanceof TaskCanceled)) throw error;
      await call.cancelCall();
      return undefined;
    }
    if (isLeftWaiting(call.outcome)) await call.cancelCall();
    try {
      return yield* reportOutcome(context, url, call.outcome);
    } finally {
      // No caller can answer a question that is too large for the Task.
      if (call.outcome.kind === 'waiting' && context.isRefused?.()) await call.cancelCall();
    }
  }

  /**
   * Creates the call of this turn. After a crash, the call follows the remote Task if it is known; otherwise it sends
   * the same Message again.
   */
  #createCall(
    context: RequestContext,
    url: string,
    known: KnownRemote | undefined,
    since: number | undefined,
  ): AgentCall {
    const { userMessage: asked, metadata, task, taskId, token, call } = context;
    const kept = this.#keptContext(context, url);
    const links = task ? keptChain(task.metadata) : chainOf({ message: asked, ...(metadata && { metadata }) });
    return new AgentCall(this.agents, {
      identity: { scope: call.scope, parent: { taskId, reference: this.node.id, token }, ...this.#reachSettings() },
      signal: context.signal,
      request: this.#toRequest(context, known?.remote),
      adapt: () => undefined,
      ...(kept && { context: kept }),
      findTarget: () => ({ url }),
      by: {
        context,
        agent: call.agent,
        chain: { links, signer: this.chains },
      },
      ...(known?.ofThisTurn && { known: known.remote.taskId, delivered: true }),
      limit: this.#readTimeout() * 1_000,
      ...(since !== undefined && { since }),
    });
  }

  /**
   * Returns the request to send: that of the caller, without metadata for this service, and with the Task and context
   * ids of the agent.
   */
  #toRequest(context: RequestContext, remote: RemoteTask | undefined): SendMessageRequest {
    const { userMessage: asked, metadata } = context;
    const members = { ...callersMembers(asked), messageId: messageIdOf(context), ...remote };
    const callers = callersMetadata(metadata);
    return { message: userMessage(this.#toMessageParts(asked.parts), members), ...(callers && { metadata: callers }) };
  }

  /**
   * Returns the Parts to send: the first text of the Message, or a default order if it has none, then all other Parts.
   */
  #toMessageParts(asked: readonly Part[]): Part[] {
    const first = asked.find(({ text }) => text !== undefined);
    const others = asked.filter((part) => part !== first && part.text !== '');
    return [first === undefined ? textPart(this.order) : { mediaType: 'text/plain', ...first }, ...others];
  }

  /**
   * Returns access to the stored context id of the remote agent. All Messages of one context to this node share it;
   * `undefined` if the config sets `history: none`.
   */
  #keptContext({ call, contextId, taskId, signal }: RequestContext, agentUrl: string): KeptContext | undefined {
    const { contexts } = this;
    if (!contexts || this.node.config.history === 'none') return undefined;
    const talk = { ...call.scope, contextId, workflow: call.agent, node: this.node.id, agentUrl };
    return {
      findContextId: () => retryWhileUnreachable(() => contexts.findContext(talk), signal),
      keepContextId: (remote) => contexts.keepContext(talk, remote, taskId).catch(() => undefined),
    };
  }

  #reachSettings(): Pick<CallIdentity, 'credential' | 'protocol'> {
    const { auth, protocol } = this.node.config;
    return {
      ...(typeof auth === 'string' && auth !== '' && { credential: auth }),
      ...(protocol === 'founding' && { protocol }),
    };
  }

  #readEndpoint(): string {
    const { endpoint_url: url } = this.node.config;
    if (typeof url !== 'string' || url === '') throw new NodeFailure(missingEndpoint(this.node));
    const problem = urlProblem(url);
    if (problem !== undefined)
      throw new NodeFailure(`external agent call to ${redactedUrl(url)}: endpoint_url ${problem}`);
    return url;
  }

  #readTimeout(): number {
    const { timeout } = this.node.config;
    const seconds = typeof timeout === 'number' && timeout > 0 ? timeout : DEFAULT_TIMEOUT_SECONDS;
    return Math.min(seconds, LONGEST_TIMEOUT_SECONDS);
  }
}

/** Returns the problem of a node without `endpoint_url`. */
function missingEndpoint(node: NodeSpec): string {
  return `external node "${node.id}": missing endpoint_url config`;
}

/** Ids of a remote Task and its context. */
interface RemoteTask {
  taskId: string;
  contextId: string;
}

/** Remote Task that the log of this Task names. */
interface KnownRemote {
  remote: RemoteTask;
  /** True if an earlier execution of this turn recorded the remote Task, before a crash. */
  ofThisTurn: boolean;
}

/**
 * Runs the call, and yields an event that records the remote Task as soon as it is known, and events with the texts of
 * the agent at work that WorkingTexts chooses.
 * @param isRecorded true if an earlier execution of this turn recorded the remote Task
 */
async function* followCall(
  context: RequestContext,
  call: AgentCall,
  isRecorded: boolean,
): AsyncGenerator<NodeEvent, void, void> {
  const progress = new WorkingTexts();
  for await (const { seen, response } of call.runCall()) {
    if (seen && !isRecorded) {
      const { taskId, contextId } = seen;
      yield statusUpdate(context, 'TASK_STATE_WORKING', undefined, { [REMOTE_KEY]: { taskId, contextId } });
    }
    const parts = progress.takeResponse(response);
    if (parts) yield statusUpdate(context, 'TASK_STATE_WORKING', parts);
  }
}

/**
 * Returns the output of a completed call, or yields the question of a waiting one. @throws NodeFailure if the call
 * failed
 */
async function* reportOutcome(context: RequestContext, url: string, outcome: CallOutcome): NodeWork {
  const { answer } = outcome;
  if (outcome.kind === 'completed') return outputOf(answer);
  if (outcome.kind === 'waiting') {
    yield askedQuestion(context, answer);
    return undefined;
  }
  const { state, kind, message, cause } = outcome.failure;
  if (kind === 'internal') throw cause;
  const agent = redactedUrl(url);
  if (state === 'TASK_STATE_CANCELED') throw new NodeFailure(`external agent ${agent} canceled`);
  if (state === 'TASK_STATE_REJECTED') throw new NodeFailure(`external agent ${agent} rejected`);
  if (state !== undefined) throw new NodeFailure(`external agent ${agent} failed`);
  throw new NodeFailure(`external agent call to ${agent}: ${message}`, { cause });
}

/**
 * Returns the remote Task that the log of this Task names last; `undefined` if it names none. The log of a new Task is
 * not read.
 */
async function remoteOf(context: RequestContext): Promise<KnownRemote | undefined> {
  if (context.task === null && context.recovered === 0) return undefined;
  const log = await context.readTaskLog();
  const index = log.findLastIndex((event) => remoteIn(event) !== undefined);
  const event = log[index];
  const remote = event && remoteIn(event);
  return remote && { remote, ofThisTurn: index >= log.length - context.recovered };
}

/**
 * Returns the time when an earlier execution began this turn, in milliseconds of the epoch; `undefined` if there was no
 * earlier execution.
 */
async function begunBefore(context: RequestContext): Promise<number | undefined> {
  if (context.recovered === 0) return undefined;
  const opening = (await context.readTaskLog()).at(-context.recovered - 1);
  if (opening === undefined || 'artifactUpdate' in opening) return undefined;
  const { timestamp } = 'task' in opening ? opening.task.status : opening.statusUpdate.status;
  return timestamp === undefined ? undefined : Date.parse(timestamp);
}

function remoteIn(event: Awaited<ReturnType<RequestContext['readTaskLog']>>[number]): RemoteTask | undefined {
  const metadata: JsonObject | undefined = 'statusUpdate' in event ? event.statusUpdate.metadata : undefined;
  const remote = metadata?.[REMOTE_KEY];
  return isJsonObject(remote) ? (remote as unknown as RemoteTask) : undefined;
}

/**
 * Returns a Message id that is the same for each attempt of a turn, so that the remote agent can detect a repeated
 * Message.
 */
function messageIdOf({ taskId, userMessage: { messageId } }: RequestContext): string {
  const hash = createHash('sha256').update(`${taskId}/${messageId}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/**
 * Pattern of the name of a credential. Only a run checks that the credential exists, as a workflow may be saved before
 * its credentials.
 */
const CREDENTIAL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/**
 * Node type `external`: calls a remote A2A agent. The executor serves direct calls of the node; a run calls the remote
 * agent itself.
 */
export class ExternalNode implements NodeType {
  readonly name = 'external';
  readonly configSchema = configSchema(
    {
      endpoint_url: {
        type: 'string',
        maxLength: LONGEST_URL,
        pattern: '^[hH][tT][tT][pP][sS]?:',
        description: 'Base URL of the agent, or the URL of its card.',
      },
      timeout: {
        type: 'number',
        minimum: 1,
        maximum: LONGEST_TIMEOUT_SECONDS,
        default: DEFAULT_TIMEOUT_SECONDS,
        description: 'Time limit of the call, in seconds.',
      },
      auth: { type: 'string', pattern: CREDENTIAL_NAME.source, description: 'Name of a stored credential.' },
      protocol: {
        enum: ['founding'],
        description: 'Protocol older than A2A 1.0 that the agent speaks; default: taken from its card, or detected.',
      },
      history: {
        enum: ['context', 'none'],
        description:
          'context (default): later turns of the same context reuse the context of the agent; none: they do not.',
      },
      prompt: PROMPT,
      data: DATA,
    },
    ['endpoint_url'],
  );

  constructor(
    private readonly agents: AgentDirectory,
    private readonly chains: CallChains,
    private readonly contexts?: RemoteContexts,
  ) {}

  findProblems(node: NodeSpec): NodeProblem[] {
    const { endpoint_url: endpoint } = node.config;
    if (endpoint === undefined || endpoint === null || endpoint === '')
      return [{ path: 'config.endpoint_url', detail: missingEndpoint(node) }];
    const isShort = typeof endpoint !== 'string' || endpoint.length <= LONGEST_URL;
    const isUrl = typeof endpoint === 'string' && /^https?:/i.test(endpoint) && URL.canParse(endpoint);
    return new ConfigProblems(node)
      .addUnless(isUrl, 'endpoint_url must be an http or https URL', 'endpoint_url')
      .addUnless(isShort, `endpoint_url ${TOO_LONG_URL}`, 'endpoint_url')
      .addUnless(
        !isUrl || !isShort || !hasUserinfo(endpoint),
        `endpoint_url ${NO_USERINFO}; name a credential in auth`,
        'endpoint_url',
      )
      .checkMember('timeout', `must be a number of seconds, from 1 to ${LONGEST_TIMEOUT_SECONDS}`, isTimeout)
      .checkMember('protocol', 'must be "founding", or absent', (it) => it === 'founding')
      .checkMember('history', 'must be context or none', (it) => it === 'context' || it === 'none')
      .checkMember(
        'auth',
        'must be the name of a credential',
        (it) => typeof it === 'string' && CREDENTIAL_NAME.test(it),
      )
      .checkStrings('prompt').found;
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new ExternalExecutor(node, this.agents, this.chains, this.contexts);
  }
}

function isTimeout(value: JsonValue): boolean {
  return typeof value === 'number' && value >= 1 && value <= LONGEST_TIMEOUT_SECONDS;
}
