import { Logger } from '@nestjs/common';
import { AgentCallError } from '#libs/a2a-client';
import { agentToolEntries, registeredAgentPath, type RequestContext, REVISION_KEY } from '#libs/agents';
import type { CallIdentity, KeptContext, RemoteContexts, RemoteTalk } from '#libs/durable';
import { parseDuration } from '#libs/expressions';
import { retryWhileDatabaseDown } from '#libs/postgres';
import {
  briefText,
  callersMembers,
  ContentTooLarge,
  derivedId,
  LONGEST_URL,
  type Part,
  type RunEventNote,
  type SendMessageRequest,
  templateReferences,
  textBefore,
  TextBudget,
  textStart,
  urlProblem,
  userMessage,
  withoutUserinfo,
} from '#libs/protocol';
import type { ContentLimits } from '#libs/service';
import { templatesOf, type WorkflowDefinition, type WorkflowGraph, type WorkflowNode } from '#libs/workflow-definition';
import {
  ECHOES_IN_A_TASK,
  fittedInto,
  isEmptied,
  type MessageSource,
  type NodeContent,
  nodeContent,
  standsForSomething,
} from '../messages/node-message.js';
import type { RunEvaluation } from '../messages/run-evaluation.js';
import { FailedExpression } from '../messages/run-expressions.js';
import { isRemoteNode, type NodeInstance } from '../state/node-instance.js';
import { answerParts } from '../state/run-questions.js';
import type { RunState } from '../state/run-state.js';

/**
 * Returns the path of a workflow's agent below `/a2a`; for an inline workflow, the path of the node that contains it.
 * @param name name of the workflow; `outer.node` for the inline workflow of a node
 */
export function workflowPath(name: string): string {
  const [workflow = '', ...nodes] = name.split('.');
  return nodes.length === 0 ? `workflows/${workflow}` : `workflows/${workflow}/nodes/${nodes.join('.')}`;
}

/**
 * Returns the path of a node's agent below `/a2a`. For a node in an inline workflow, the path also names the
 * surrounding node.
 */
export function nodePath(workflow: string, id: string): string {
  const isInline = workflow.includes('.') || id.includes('.');
  return isInline ? workflowPath(`${workflow}.${id}`) : `workflows/${workflow}/nodes/${id}`;
}

/**
 * Returns the path of the workflow that contains the node at `path`; for an inline workflow, the path of the node that
 * contains the definition. `undefined` if `path` is not the path of a node.
 */
export function pathAround(path: string): string | undefined {
  const [, workflow, around] = /^(workflows\/[^/]+)\/nodes\/(?:([^/]+)\.)?[^/.]+$/.exec(path) ?? [];
  return around === undefined ? workflow : `${workflow}/nodes/${around}`;
}

/**
 * Returns the URL of a node's agent, without userinfo.
 * - External node: its endpoint, truncated to the longest URL that can be called; `undefined` if it has none. A
 *   registered agent has its path under the base URL of this service.
 * - Any other node: its path under that base URL.
 */
export function nodeUrl(workflow: string, node: WorkflowNode, baseUrl: string): string | undefined {
  const path = node.type === 'external' ? registeredAgentPath(node.config) : nodePath(workflow, node.id);
  if (path !== undefined) return `${baseUrl}/a2a/${path}`;
  const url = node.config['endpoint_url'];
  return typeof url === 'string' && url !== '' ? briefText(withoutUserinfo(url), LONGEST_URL) : undefined;
}

/**
 * Rejects a call to an invalid endpoint. A definition that was saved by an earlier version may contain one.
 * @throws AgentCallError of the kind `refused`
 */
export function refuseEndpoint(node: WorkflowNode): void {
  if (!isRemoteNode(node)) return;
  const { endpoint_url: url } = node.config;
  const problem = typeof url === 'string' ? urlProblem(url) : undefined;
  if (problem !== undefined) throw new AgentCallError('refused', `endpoint_url ${problem}`);
}

/**
 * Returns the settings of an `external` node for calls to its agent: the credential, and the protocol that the agent is
 * known to speak. Empty for any other node, and for a registered agent, which has settings of its own.
 */
export function externalCall(node: WorkflowNode | undefined): Pick<CallIdentity, 'credential' | 'protocol'> {
  if (!node || !isRemoteNode(node)) return {};
  const { auth, protocol } = node.config;
  return {
    ...(typeof auth === 'string' && auth !== '' && { credential: auth }),
    ...(protocol === 'founding' && { protocol }),
  };
}

const logger = new Logger('NodeContext');

interface ContextRun {
  context: Pick<RequestContext, 'taskId' | 'contextId' | 'call' | 'signal'>;
  definition: WorkflowDefinition;
  isRerun: boolean;
}

/**
 * Returns an object that reads and stores the context id that a node uses at its external agent. `undefined` if each
 * call begins a new context, and for a registered agent (see `registeredContext`).
 * - The turns of the run's context and the iterations of a loop share one context at the agent.
 * - A rerun, and a run that was called for one entry of a list, have a separate context.
 * - Each call for an entry of a list, or of a node with `history: "none"`, begins a new context.
 */
export function nodeContext(
  contexts: RemoteContexts,
  run: ContextRun,
  node: Pick<NodeInstance, 'id' | 'type' | 'index'>,
  agentUrl: string,
): KeptContext | undefined {
  const config = findConfig(run, node);
  if (config === undefined || registeredAgentPath(config) !== undefined) return undefined;
  const { taskId, call, signal } = run.context;
  const { tenant, owner } = call.scope;
  const talk: RemoteTalk = { tenant, owner, ...talkPlace(run, node), agentUrl };
  return {
    findContextId: () => retryWhileDatabaseDown(() => contexts.findContext(talk), signal),
    keepContextId: (remote) =>
      contexts.keepContext(talk, remote, taskId).catch((error: unknown) => {
        logger.warn({ err: error, taskId }, "The context of a node's agent could not be kept");
      }),
  };
}

/**
 * Returns the context id of Messages from a node to a registered agent. `undefined` if each Message begins a new
 * context, and for an agent that is not registered. As in `nodeContext`, the turns of the run's context and the
 * iterations of a loop share one context. Two nodes never share a context, because an agent may not accept two Messages
 * in one context at the same time.
 */
export function registeredContext(
  run: ContextRun,
  node: Pick<NodeInstance, 'id' | 'type' | 'index'>,
): string | undefined {
  const path = registeredAgentPath(findConfig(run, node) ?? {});
  if (path === undefined) return undefined;
  const { contextId, workflow, node: id } = talkPlace(run, node);
  return derivedId(contextId, workflow, id, path);
}

/**
 * Returns the config of an `external` node whose calls share one context (see `nodeContext`); `undefined` otherwise.
 */
function findConfig(
  { definition }: ContextRun,
  { id, type, index }: Pick<NodeInstance, 'id' | 'type' | 'index'>,
): WorkflowNode['config'] | undefined {
  const config = definition.nodes.find((it) => it.id === id)?.config;
  return type === 'external' && index === undefined && config?.['history'] !== 'none' ? config : undefined;
}

function talkPlace(
  run: ContextRun,
  { id: node }: Pick<NodeInstance, 'id'>,
): Pick<RemoteTalk, 'contextId' | 'workflow' | 'node'> {
  const { context, definition } = run;
  const part = partOf(run);
  const contextId = part === undefined ? context.contextId : `${context.contextId}/${part}`;
  return { contextId, workflow: definition.name, node };
}

/**
 * Returns the suffix by which a rerun, or a run that was called for one entry of a list, keeps its contexts at remote
 * agents apart from other runs of the same A2A context. `undefined` for any other run.
 */
function partOf({ context, isRerun }: ContextRun): string | undefined {
  if (isRerun) return context.taskId;
  const { parent } = context.call;
  return parent?.reference.includes('[') ? `${parent.taskId}/${parent.reference}` : undefined;
}

/** Default time limit for the whole answer of an external agent, in seconds. */
const EXTERNAL_TIMEOUT = 30;

/** Node types whose agents may call agents that are not nodes of the workflow. */
const CALLING_TYPES = new Set(['external', 'conversation', 'brainstorm', 'workflow']);

/** Longest delay of a Node.js timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Metadata key of a Message to a node: the id of the Message that the caller sent to the run. */
const CALLER_MESSAGE_KEY = 'parley/caller-message-id';

/** Data of a run that the Messages of its calls contain. */
export interface DispatchingRun {
  contextId: string;
  /** Context id of Messages to the node's registered agent; absent if each Message begins a new context. */
  registeredContext?: string | undefined;
  revision: string;
  /** Id of the Message that began the run, or that answers the node's question. */
  callerMessageId?: string;
  /** Members of the caller's Message, and metadata of its request, that are passed on to the node's agent. */
  callers?: RunState['callers'];
}

/** Task of a node's agent that waits for an answer. */
export interface WaitingTask {
  taskId: string;
  contextId: string | undefined;
}

/**
 * Returns the id of the Message that calls a node, shaped as a UUID. It depends only on the run, the instance, the
 * attempt and the forwarded answer, so that an agent can recognize a repeated Message.
 */
export function dispatchMessageId(runId: string, instance: string, attempt: number, answer = ''): string {
  return derivedId(runId, instance, attempt, answer);
}

/** Returns the reference that identifies the Task of a node's attempt: `instance#attempt`. */
export function childReference(instance: string, attempt: number): string {
  return `${instance}#${attempt}`;
}

/** Returns the node id in the name of an instance. */
export function nodeOfInstance(instance: string): string {
  return textBefore(instance, '@[');
}

/**
 * Returns the members of a caller's Message that are passed on to the agent of an `external` or `workflow` node.
 * - If the node's question is being answered: the members of the answer.
 * - If only `input` nodes come before the node: the members of the Message that began the run.
 * - Otherwise, and for any other type of node: an empty object.
 */
export function callersOf(
  { id, type, answer }: Pick<NodeInstance, 'id' | 'type' | 'answer'>,
  { graph, callers }: Pick<RunState, 'graph' | 'callers'>,
): RunState['callers'] {
  if (type !== 'external' && type !== 'workflow') return {};
  if (answer) return callersMembers(answer);
  const isFirst = graph.incoming(id).every(({ from }) => graph.node(from).type === 'input');
  return isFirst ? callers : {};
}

/**
 * Builds the request that calls a node.
 * - A local agent shares the context of the run and receives the revision of the workflow.
 * - An external agent has a context of its own, also if it is registered.
 * - The metadata of the Message contain the id of the caller's Message. The members in `run.callers` are passed on.
 * @param waiting the Task whose question the Message answers
 */
export function nodeRequest(
  node: WorkflowNode,
  run: DispatchingRun,
  messageId: string,
  parts: Part[],
  waiting?: WaitingTask,
): SendMessageRequest {
  const own = node.type !== 'external';
  const contextId = waiting ? waiting.contextId : own ? run.contextId : run.registeredContext;
  const { callerMessageId, callers: { request, metadata, ...callers } = {} } = run;
  const { skill } = node.config;
  const named = {
    ...metadata,
    ...(callerMessageId && { [CALLER_MESSAGE_KEY]: callerMessageId }),
    ...(!own && typeof skill === 'string' && { skillId: skill }),
  };
  const message = userMessage(parts, {
    messageId,
    ...(contextId !== undefined && { contextId }),
    ...(waiting && { taskId: waiting.taskId }),
    ...callers,
    ...(Object.keys(named).length > 0 && { metadata: named }),
  });
  // The definition of a local agent decides its output modes.
  if (own) return { message, metadata: { [REVISION_KEY]: run.revision } };
  const configuration = { acceptedOutputModes: ['text/plain', 'application/json'] };
  return { message, configuration, ...(request && { metadata: request }) };
}

/** True if the node's agent may call agents that are not nodes of the workflow. */
export function callsOthers({ type, config }: Pick<WorkflowNode, 'type' | 'config'>): boolean {
  return CALLING_TYPES.has(type) || (type === 'agent' && agentToolEntries(config['tools']).length > 0);
}

/** Returns the time limit of a node's call in milliseconds; `undefined` if only the client or a policy limits it. */
export function nodeTimeout(node: WorkflowNode): number | undefined {
  const limit = node.timeout === undefined ? undefined : parseDuration(node.timeout);
  if (limit !== undefined) return Math.min(limit, LONGEST_TIMER);
  const isLimited = isRemoteNode(node) || node.config['timeout'] !== undefined;
  if (node.type !== 'external' || !isLimited) return undefined;
  const seconds = Number(node.config['timeout'] ?? EXTERNAL_TIMEOUT);
  return Math.min((seconds > 0 ? seconds : EXTERNAL_TIMEOUT) * 1000, LONGEST_TIMER);
}

const NO_CONTENT: NodeContent = { own: [], passed: [], leftOut: [] };

/**
 * Builds the content of the Messages to the nodes of one run, and limits their size: each Message, and all of them
 * together.
 */
export class RunContent {
  /** Number of characters that this execution has rendered for the nodes of the run. */
  private rendered = 0;
  /**
   * Number of characters of results that this run has forwarded to nodes as Parts since this process began to execute
   * it.
   */
  private passed = 0;

  constructor(
    private readonly run: { graph: WorkflowGraph; evaluation: RunEvaluation },
    private readonly limits: ContentLimits,
  ) {}

  /**
   * Returns the content of the Message to a node. If it exceeds a limit, or an expression fails, the content is empty
   * and `fault` is set.
   * @param isLocal true if the agent is called in this process
   */
  fittedContent(
    node: NodeInstance,
    isLocal: boolean,
  ): { content: NodeContent; fault?: ContentTooLarge | FailedExpression } {
    const { graph, evaluation } = this.run;
    const { renderedText, task } = this.limits;
    if (node.answer) return { content: { ...NO_CONTENT, own: answerParts(node.answer, node) } };
    const budget = new TextBudget(renderedText);
    try {
      const content = nodeContent(graph.node(node.id), graph, evaluation.messageSource(node), budget);
      this.rendered += budget.spent;
      if (this.rendered > task)
        throw ContentTooLarge.beyondLimit('what was rendered for the nodes of the run', task, 'TASK_LIMIT');
      const fitted = fittedInto(this.roomFor(node, isLocal), content);
      this.passed += fitted.length;
      return { content: fitted };
    } catch (error) {
      if (error instanceof ContentTooLarge || error instanceof FailedExpression)
        return { content: NO_CONTENT, fault: error };
      throw error;
    }
  }

  /**
   * Returns the maximum number of characters of a Message with results of other nodes. The content of an `output` node
   * is limited further, because the log of the run stores it once more. A local agent (`isLocal`) stores the content as
   * well, so the limits of its Task apply. A remote call is limited by the size of its body.
   */
  private roomFor({ type }: NodeInstance, isLocal: boolean): number {
    const { artifact, renderedText, task } = this.limits;
    const share = task / ECHOES_IN_A_TASK;
    const ofRun = (type === 'output' ? share : task) - this.passed;
    return Math.min(isLocal ? Math.min(artifact, share) : renderedText, ofRun);
  }
}

/** Maximum number of warnings for one node. */
const MOST_WARNINGS = 10;
/** Maximum number of `{{references}}` that are checked for one node. */
const MOST_REFERENCES = 1_000;

/** Reference in the arguments of a `tool` node to the text of the Message that calls the node. */
const TOOL_TEXT = '{{text}}';

const EMPTIED = 'becomes an empty text here: its node was skipped or canceled';

/** Returns a warning for each different `{{reference}}` that has no value, or a suffix other than `.data`. */
export function templateWarnings(node: WorkflowNode, run: MessageSource): RunEventNote[] {
  const reported = new Map<string, string>();
  const seen = new Set<string>();
  let looked = 0;
  for (const { text } of templatesOf(node)) {
    for (const { id, suffix, written } of templateReferences(text)) {
      looked += 1;
      if (looked > MOST_REFERENCES || reported.size === MOST_WARNINGS) return warningNotes(node, reported);
      if (seen.has(written)) continue;
      seen.add(written);
      if (node.type === 'tool' && written === TOOL_TEXT) continue;
      if (!standsForSomething(run, id, suffix))
        reported.set(written, isEmptied(run, id) ? EMPTIED : 'has no value here and stays unchanged');
      else if (suffix.length > 1 || (suffix.length === 1 && suffix[0] !== 'data'))
        reported.set(written, `stands for {{${id}}}: only .data is known`);
    }
  }
  return warningNotes(node, reported);
}

function warningNotes({ id, type }: WorkflowNode, reported: ReadonlyMap<string, string>): RunEventNote[] {
  return [...reported].map(([written, what]) => {
    const reference = textStart(written, 200);
    const payload = { reference, message: `${reference} ${what}` };
    return { type: 'template.warning', node_id: id, node_type: type, payload };
  });
}
