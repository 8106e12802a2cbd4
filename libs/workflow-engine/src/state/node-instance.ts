import { registeredAgentPath } from '#libs/agents';
import {
  type Artifact,
  type CallCancelOutcome,
  type FieldViolation,
  type FormQuestion,
  joinedText,
  type JsonValue,
  type Message,
  type Part,
  textBefore,
} from '#libs/protocol';
import type { FailureKind, Loop, WorkflowFailure, WorkflowNode } from '#libs/workflow-definition';

/** Reason for the end of a loop: its `exit_when` held, it reached its `max_iterations`, or an iteration failed. */
export type LoopReason = 'exit_when' | 'max' | 'failure';

/** State of a loop's execution, from its first iteration to its last. */
export interface LoopRun {
  readonly loop: Loop;
  /** Numbers of the current iterations of the enclosing loops, outermost first. */
  readonly path: readonly number[];
  /** Number of the newest iteration, from 1; 0 until the loop is reached. */
  iteration: number;
  /** Reason for the end; absent while the loop runs. */
  reason?: LoopReason;
}

export type NodeStatus = 'pending' | 'running' | 'input-required' | 'completed' | 'failed' | 'canceled' | 'skipped';

export type RunStatus = 'running' | 'input-required' | 'completed' | 'failed' | 'canceled';

/**
 * Reason why a node is skipped:
 * - `off`: no edge to the node was taken.
 * - `broken`: a node that it needs has failed.
 * - `out-of-reach`: fewer of its incoming edges can still be taken than its `join` needs.
 * - `failure`: the run has failed.
 * - `canceled`: its result is no longer needed.
 */
export type SkipReason = 'off' | 'broken' | 'out-of-reach' | 'failure' | 'canceled';

/**
 * State of an instance of a node. A node has one instance, or one for each iteration of its loop and each entry of its
 * list. Optional members are absent until an event of the log sets them.
 */
export interface NodeInstance {
  readonly id: string;
  readonly type: string;
  /** Name of the instance: the id with its iterations and its index in a list, for example `draft@2` or `tr[17]`. */
  readonly instance: string;
  /** Numbers of the iterations of the surrounding loops, outermost first, each from 1. */
  readonly path: readonly number[];
  /** Index of an entry in its list, from 0; absent for any other instance. */
  readonly index?: number;
  /** Instance that processes the list, if this instance is an entry of a list; else absent. */
  readonly list?: NodeInstance;
  /** Progress of the list, for a node that processes one. That node itself is never sent a Message; its entries are. */
  readonly each?: EachRun;
  /** Status of the instance; only `NodeSets.setStatus` sets it. */
  readonly status: NodeStatus;
  /** Number of starts, retries included; 0 while the node is pending. */
  attempts: number;
  /** URL of the agent that was called; absent before the first call. */
  agentUrl?: string;
  /** Ids of the called agent's Task and context; each absent until the log names it. */
  taskId?: string;
  contextId?: string;
  /** Id of the Message that was sent last in this attempt; absent before the first one. */
  messageId?: string;
  /** Time at which the Message `messageId` was sent, or its Task resumed without a Message (ISO 8601). */
  sentAt?: string;
  /** Number of steps of the agent's Task that the run has recorded in this attempt; absent if none. */
  forwarded?: number;
  /** Number of times that the agent's Task has resumed without a Message since the last Message. */
  resumes?: number;
  /** Message to the run that was forwarded to the agent as the answer to its question; absent if none was. */
  answer?: Message;
  /**
   * The question that the last Message answered. It becomes the open question again if the agent rejects the answer.
   */
  answered?: { question: Part[]; wantsAuth: boolean };
  artifacts: Artifact[];
  error?: string;
  /**
   * Failure of the last failed attempt; absent if no attempt has failed, and in logs of older versions, which have only
   * a text.
   */
  failure?: WorkflowFailure;
  /** Question of the agent, while the node is `input-required`. */
  question?: Part[];
  /** Time of the question (ISO 8601). */
  askedAt?: string;
  /**
   * Time since which the run itself asks the question, so that a caller can answer it (ISO 8601). A run asks when none
   * of its nodes can continue.
   */
  openSince?: string;
  /** Form that the answer to the question must fit; absent if any answer does. */
  asks?: FormQuestion;
  /**
   * Violations in the last answer, which the agent rejected, so that the question stays open; absent if it rejected
   * none.
   */
  refused?: FieldViolation[];
  /** True if the run has asked the question (`input.required` is recorded). */
  isAsked?: boolean;
  /** True if the agent asks for authentication instead of input. */
  wantsAuth?: boolean;
  /** Reason and end (ISO 8601) of a pause in which a `running` node only waits; absent while it works. */
  waitsFor?: { state: 'timer' | 'retry'; until: string };
  /** Indexes in `edges` of the taken edges, among the outgoing edges that had to be decided; absent if none had to. */
  taken?: readonly number[];
  /** True if the result of the node is its `fallback`. */
  fallback?: boolean;
  /** Id of the run whose result was reused; absent if the result was not reused. */
  origin?: string;
  /** Reason why the node is `skipped`; absent in any other status. */
  because?: SkipReason;
  /** Outcome of the cancel of the agent's Task; absent if it was not canceled. */
  cancelOutcome?: CallCancelOutcome;
  /** Start of the last attempt (ISO 8601); absent before the first attempt. */
  startedAt?: string;
  /** End of the node (ISO 8601); absent before its end. */
  finishedAt?: string;
}

/** True if a node may have several instances like this one: in a loop, or for the entries of a list. */
export function isRepeated({ path, list }: NodeInstance): boolean {
  return path.length > 0 || list !== undefined;
}

/** Progress of a node that processes a list. */
export interface EachRun {
  /** The list; absent before `each.started` and after the node has ended. */
  items?: readonly JsonValue[];
  /** Number of entries of the list; 0 before it is known. */
  total: number;
  /** Instances of the entries that have started so far, by index. */
  readonly runs: NodeInstance[];
  /** Number of entries that have completed. `failed` and `canceled` count the entries with those outcomes. */
  completed: number;
  failed: number;
  canceled: number;
  /** First entry that failed; absent if none did. */
  firstFailed?: NodeInstance;
}

/** The first unhandled failure of a run. `node` is absent if no node caused the failure. */
export interface RunError {
  /**
   * Kind of the failure; absent in logs of older versions, in which failures had no kinds, and if something other than
   * the run ended its Task.
   */
  kind?: FailureKind;
  node?: string;
  instance?: string;
  message: string;
}

/** Outcome of the cancel of a child (the Task of a node) when its run was canceled. */
export interface CanceledChild {
  node: string;
  /** Name of the instance, if it is not the node's id. */
  instance?: string;
  agentUrl: string;
  taskId?: string;
  outcome: CallCancelOutcome;
}

/**
 * Returns the name of an instance: the node's id, the iterations of the enclosing loops, and the index in a list, for
 * example `draft@2` or `tr[17]`.
 */
export function formatInstanceName(id: string, path: readonly number[], index?: number): string {
  const iterations = path.map((iteration) => `@${iteration}`).join('');
  return `${id}${iterations}${index === undefined ? '' : `[${index}]`}`;
}

/** Returns the node id in the name of an instance, which need not exist yet. */
export function readNodeId(instance: string): string {
  return textBefore(instance, '@[');
}

/** All instances of a run's nodes, by name and by node. */
export class Instances {
  /** Newest instance of each node, by id; entries of lists are not included. */
  readonly nodes = new Map<string, NodeInstance>();
  readonly byName = new Map<string, NodeInstance>();

  /** @param made called with each instance after its creation */
  constructor(private readonly made: (node: NodeInstance) => void) {}

  /** Returns the instance of a node in the iterations `path`. Creates it with the status `pending` if there is none. */
  ensureInstance(node: WorkflowNode, path: readonly number[]): NodeInstance {
    const known = this.byName.get(formatInstanceName(node.id, path));
    if (known) return known;
    const made = this.createInstance(node, { path, ...(node.each && { each: newList() }) });
    this.nodes.set(node.id, made);
    return made;
  }

  /** Creates the instance of an entry of `list`. */
  addListEntry(node: WorkflowNode, list: NodeInstance, index: number): NodeInstance {
    return this.createInstance(node, { path: list.path, index, list });
  }

  private createInstance(
    { id, type }: WorkflowNode,
    place: Pick<NodeInstance, 'path' | 'index' | 'list' | 'each'>,
  ): NodeInstance {
    const instance = formatInstanceName(id, place.path, place.index);
    const made: NodeInstance = { id, type, instance, ...place, status: 'pending', attempts: 0, artifacts: [] };
    this.byName.set(instance, made);
    this.made(made);
    return made;
  }
}

function newList(): NonNullable<NodeInstance['each']> {
  return { total: 0, runs: [], completed: 0, failed: 0, canceled: 0 };
}

/** Returns a node's output as text: the text of its first Artifact, or an empty text. */
export function outputText({ artifacts }: { artifacts: readonly Artifact[] }): string {
  return joinedText(artifacts[0]?.parts ?? []) ?? '';
}

/**
 * True if a node calls a remote agent: it is an `external` node whose agent is not registered here. The agents of all
 * other nodes have their Tasks in this service.
 */
export function isRemoteNode({ type, config }: Pick<WorkflowNode, 'type' | 'config'>): boolean {
  return type === 'external' && registeredAgentPath(config) === undefined;
}
