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
  registeredAgentPath,
  type RequestContext,
  TaskCanceled,
  UnknownAgent,
} from '#libs/agents';
import {
  AgentCall,
  type AgentReferences,
  type CalledAgent,
  type CallOutcome,
  isLeftWaiting,
  type KeptContext,
  type RemoteContexts,
  withDelay,
} from '#libs/durable';
import { retryWhileUnreachable } from '#libs/postgres';
import {
  callersMembers,
  callersMetadata,
  derivedId,
  type JsonObject,
  type Part,
  redactedUrl,
  type SendMessageRequest,
  statusUpdate,
  textPart,
  urlProblem,
  userMessage,
} from '#libs/protocol';
import { askedQuestion, outputOf, WorkingTexts } from './external-answer.js';
import { EXTERNAL_CONFIG, findExternalProblems, missingEndpoint, reachSettings, timeLimit } from './external-config.js';
import {
  findKnownRemote,
  findRequestMetadata,
  findTimeOfTurn,
  isNewFollowUp,
  type KnownRemote,
  messageIdOf,
  remoteNote,
  type RemoteTask,
  requestNote,
} from './external-log.js';
import { ANYTHING, type NodeEvent, NodeExecutor, NodeFailure, type NodeWork } from './node-executor.js';

/** Maximum milliseconds that the cancel of the Task waits until the remote Task is known and canceled too. */
const CANCEL_MS = 6_000;

/** Services of the executors of `external` nodes. */
interface ExternalServices {
  agents: AgentDirectory;
  chains: CallChains;
  /** Store of the context ids that remote agents assign. If absent, context ids are not stored. */
  contexts?: RemoteContexts | undefined;
  /** Finds registered agents; absent: there are none. */
  references?: Pick<AgentReferences, 'callTarget' | 'findServedAgent'> | undefined;
}

/** Request of the current turn, with data from the log about an earlier execution of the same turn. */
interface PlannedTurn {
  request: SendMessageRequest;
  known: KnownRemote | undefined;
  since: number | undefined;
}

/** Agent that an `external` node calls. */
interface ExternalTarget extends Pick<CalledAgent, 'own' | 'findTarget' | 'identity'> {
  /** Name of the agent in failures. */
  shown: string;
  /** URL of a remote agent, or path of a registered one. */
  address: string;
}

/**
 * Executor of `external` nodes: sends the Message to another agent, and answers with the output of that agent.
 * - The agent is at a URL, or registered here. A registered agent is called at its own path like any agent of this
 *   service, so its Task is a child of this Task.
 * - This Task waits while the agent's Task waits. The next Message goes to the agent's Task.
 * - `timeout` limits the whole turn.
 * - A cancel is passed on to the agent's Task.
 */
class ExternalExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  protected override readonly continuesFromLog = true;
  override readonly cancelGrace = CANCEL_MS;
  override readonly order: string;
  override readonly declares: AgentDeclaration = { inputModes: [...ANYTHING], outputModes: [...ANYTHING] };
  /** Path of the registered agent; `undefined` for an agent at a URL. */
  readonly #registered: string | undefined;

  constructor(
    node: NodeSpec,
    private readonly services: ExternalServices,
  ) {
    super(node);
    this.order = `Execute external node ${node.id}`;
    this.#registered = registeredAgentPath(node.config);
  }

  override taskMetadata(request: SendMessageRequest): JsonObject {
    const passed = callersMetadata(request.metadata);
    return { ...chainMetadata(chainOf(request)), ...(passed && requestNote(passed)) };
  }

  /**
   * Rejects a new Message that would close a circle of calls, because a Task in its call chain has already called the
   * agent of this node. Also rejects a Message whose call chain is too long.
   */
  override checkRequest(request: SendMessageRequest): void {
    const called = this.#registered ?? this.node.config['endpoint_url'];
    if (request.message.taskId === undefined && typeof called === 'string')
      this.services.chains.refuseCall(called, chainOf(request));
  }

  /**
   * Returns the input media types on the agent's pinned card; `undefined` if there is no pinned card, or it has no
   * media types.
   */
  override async findInputModes(tenant: string): Promise<readonly string[] | undefined> {
    const { endpoint_url: url } = this.node.config;
    if (this.#registered !== undefined) return this.#findRegisteredModes(this.#registered, tenant);
    if (typeof url !== 'string' || url === '') return undefined;
    const card = await this.services.agents.pinnedCard(url, { scope: { tenant, owner: '' } });
    return namedModes(card?.['defaultInputModes'] ?? card?.['default_input_modes']);
  }

  protected override async *performWork(context: RequestContext): NodeWork {
    const target = this.#findTarget(context);
    const known = await findKnownRemote(context);
    const passed = await findRequestMetadata(context);
    if (passed && isNewFollowUp(context))
      yield statusUpdate(context, 'TASK_STATE_WORKING', undefined, requestNote(passed));
    const request = this.#toRequest(context, known?.remote, passed);
    const call = this.#createCall(context, target, { request, known, since: await findTimeOfTurn(context) });
    try {
      yield* followCall(context, call, known?.ofThisTurn === true);
    } catch (error) {
      if (!(context.signal.reason instanceof TaskCanceled)) throw error;
      await call.cancelCall();
      return undefined;
    }
    if (isLeftWaiting(call.outcome)) await call.cancelCall();
    try {
      return yield* reportOutcome(context, target.shown, call.outcome);
    } finally {
      // No caller can answer a question that is too large for the Task.
      if (call.outcome.kind === 'waiting' && context.isRefused?.()) await call.cancelCall();
    }
  }

  /**
   * Creates the call of this turn. After a crash, the call follows the remote Task if its id is known. If not, the call
   * sends the same Message again.
   */
  #createCall(
    context: RequestContext,
    { own, findTarget, identity, address }: ExternalTarget,
    { request, known, since }: PlannedTurn,
  ): AgentCall {
    const { userMessage: asked, metadata, task, taskId, token, call } = context;
    const { agents, chains } = this.services;
    const kept = own ? undefined : this.#keptContext(context, address);
    const limit = timeLimit(this.node.config);
    const links = task ? keptChain(task.metadata) : chainOf({ message: asked, ...(metadata && { metadata }) });
    return new AgentCall(agents, {
      identity: { scope: call.scope, parent: { taskId, reference: this.node.id, token }, ...identity },
      signal: context.signal,
      request,
      adapt: () => undefined,
      ...(kept && { context: kept }),
      findTarget,
      ...(own && { own }),
      by: { context, agent: call.agent, chain: { links, signer: chains } },
      ...(known?.ofThisTurn && { known: known.remote.taskId, delivered: true }),
      ...(limit !== undefined && { limit }),
      ...(since !== undefined && { since }),
    });
  }

  /**
   * Returns the request to send: the caller's request without metadata for this service, and with the Task and context
   * ids that the agent has assigned.
   */
  #toRequest(
    context: RequestContext,
    remote: RemoteTask | undefined,
    metadata: JsonObject | undefined,
  ): SendMessageRequest {
    const { userMessage: asked } = context;
    const { skill } = this.node.config;
    const passed = callersMembers(asked);
    const members = {
      ...passed,
      ...(typeof skill === 'string' && { metadata: { ...passed.metadata, skillId: skill } }),
      messageId: messageIdOf(context),
      ...(remote ?? this.#registeredContext(context)),
    };
    return { message: userMessage(this.#toMessageParts(asked.parts), members), ...(metadata && { metadata }) };
  }

  /**
   * Returns the Parts to send: first the first text of the Message, or a default text if it has none, then all other
   * Parts.
   */
  #toMessageParts(asked: readonly Part[]): Part[] {
    const first = asked.find(({ text }) => text !== undefined);
    const others = asked.filter((part) => part !== first && part.text !== '');
    return [first === undefined ? textPart(this.order) : { mediaType: 'text/plain', ...first }, ...others];
  }

  /**
   * Returns access to the stored context id of the remote agent. All Messages of one context to this node share that
   * id. Returns `undefined` if the config sets `history: none`.
   */
  #keptContext({ call, contextId, taskId, signal }: RequestContext, agentUrl: string): KeptContext | undefined {
    const { contexts } = this.services;
    if (!contexts || this.node.config.history === 'none') return undefined;
    const talk = { ...call.scope, contextId, workflow: call.agent, node: this.node.id, agentUrl };
    return {
      findContextId: () => retryWhileUnreachable(() => contexts.findContext(talk), signal),
      keepContextId: (remote) => contexts.keepContext(talk, remote, taskId).catch(() => undefined),
    };
  }

  /**
   * Returns the context for Messages to a registered agent: always the same one for all Messages in one context of this
   * node. Returns `undefined` if the node calls no registered agent, or its config has `history: none`.
   */
  #registeredContext({ contextId, call }: RequestContext): { contextId: string } | undefined {
    const path = this.#registered;
    if (path === undefined || this.node.config.history === 'none') return undefined;
    return { contextId: derivedId(contextId, call.agent, this.node.id, path) };
  }

  /** Returns the agent to call. @throws NodeFailure if the config names none, or the registered agent does not exist */
  #findTarget({ call, signal }: RequestContext): ExternalTarget {
    const { references } = this.services;
    const path = this.#registered;
    if (path === undefined) {
      const url = this.#readEndpoint();
      const identity = reachSettings(this.node.config);
      return { shown: redactedUrl(url), address: url, own: false, findTarget: () => ({ url }), identity };
    }
    if (!references) throw new NodeFailure(`external agent call to ${path}: there are no registered agents here`);
    return { shown: path, address: path, ...references.callTarget(path, call.scope.tenant, signal) };
  }

  async #findRegisteredModes(path: string, tenant: string): Promise<readonly string[] | undefined> {
    try {
      return namedModes((await this.services.references?.findServedAgent(path, tenant))?.card?.defaultInputModes);
    } catch (error) {
      if (error instanceof UnknownAgent) return undefined;
      throw error;
    }
  }

  #readEndpoint(): string {
    const { endpoint_url: url } = this.node.config;
    if (typeof url !== 'string' || url === '') throw new NodeFailure(missingEndpoint(this.node));
    const problem = urlProblem(url);
    if (problem !== undefined)
      throw new NodeFailure(`external agent call to ${redactedUrl(url)}: endpoint_url ${problem}`);
    return url;
  }
}

/** Returns the media types in a list of a card; `undefined` if the value is not a list, or the list is empty. */
function namedModes(modes: unknown): string[] | undefined {
  return Array.isArray(modes) && modes.length > 0 ? modes.filter((mode) => typeof mode === 'string') : undefined;
}

/**
 * Runs the call, and yields events: one that records the remote Task as soon as its id is known, and events with texts
 * of the working agent (see WorkingTexts).
 * @param isRecorded true if an earlier execution of this turn has recorded the remote Task
 */
async function* followCall(
  context: RequestContext,
  call: AgentCall,
  isRecorded: boolean,
): AsyncGenerator<NodeEvent, void, void> {
  const progress = new WorkingTexts();
  for await (const update of withDelay(call)) {
    if ('delay' in update) {
      yield statusUpdate(context, 'TASK_STATE_WORKING', [textPart(update.delay)]);
      continue;
    }
    const { seen, response } = update;
    if (seen && !isRecorded) {
      yield statusUpdate(context, 'TASK_STATE_WORKING', undefined, remoteNote(seen));
    }
    const parts = progress.takeResponse(response);
    if (parts) yield statusUpdate(context, 'TASK_STATE_WORKING', parts);
  }
}

/**
 * Returns the output of a completed call. For a waiting agent, yields the event with its question instead.
 * @throws NodeFailure if the call failed
 */
async function* reportOutcome(context: RequestContext, agent: string, outcome: CallOutcome): NodeWork {
  const { answer } = outcome;
  if (outcome.kind === 'completed') return outputOf(answer);
  if (outcome.kind === 'waiting') {
    yield askedQuestion(context, answer);
    return undefined;
  }
  const { state, kind, message, cause } = outcome.failure;
  if (kind === 'internal') throw cause;
  if (state === 'TASK_STATE_CANCELED') throw new NodeFailure(`external agent ${agent} canceled`);
  if (state === 'TASK_STATE_REJECTED') throw new NodeFailure(`external agent ${agent} rejected`);
  if (state !== undefined) throw new NodeFailure(`external agent ${agent} failed`);
  throw new NodeFailure(`external agent call to ${agent}: ${message}`, { cause });
}

/**
 * Node type `external`: calls an agent at a URL, or a registered agent. The executor is used only if the node is called
 * directly; a run calls the agent without it.
 */
export class ExternalNode implements NodeType {
  readonly name = 'external';
  readonly configSchema = EXTERNAL_CONFIG;
  private readonly services: ExternalServices;

  constructor(
    agents: AgentDirectory,
    chains: CallChains,
    contexts?: RemoteContexts,
    references?: ExternalServices['references'],
  ) {
    this.services = { agents, chains, contexts, references };
  }

  findProblems(node: NodeSpec): NodeProblem[] {
    return findExternalProblems(node);
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new ExternalExecutor(node, this.services);
  }
}
