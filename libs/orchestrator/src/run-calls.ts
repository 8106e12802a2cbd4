import { Logger } from '@nestjs/common';
import { AgentCall, type CallIdentity, type CallOutcome, type CallTarget, cancelTask } from '#libs/agent-calls';
import type { Hop, RequestContext } from '#libs/executor';
import type { Job } from '#libs/jobs';
import { ContentTooLarge, isJsonObject, type Part, type RunEventNote, shownUrl, TextBudget } from '#libs/protocol';
import { cancelJob } from './child-cancel.js';
import { type ChildEnding, childEnding } from './child-ending.js';
import { nodeUrl, refuseUserinfo } from './node-address.js';
import { callsOthers, childReference, dispatchMessageId, nodeRequest, nodeTimeout } from './node-dispatch.js';
import { nodeParts } from './node-message.js';
import type { CanceledChild, NodeRun } from './node-run.js';
import { answerParts } from './run-answer.js';
import { RunChildren } from './run-children.js';
import type { RunServices } from './run-services.js';
import type { RunState } from './run-state.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** What a run hears of a node's call. */
export interface ChildNews {
  nodeId: string;
  url: string;
  taskId: string | undefined;
  contextId: string | undefined;
  /** A step that the agent told of, or how the call ended. */
  step?: RunEventNote;
  ending?: ChildEnding;
}

/** The steps of a child that its run passes on. */
const PASSED_STEPS = new Set(['model.request', 'model.response', 'tool.call', 'tool.result']);

/** What a cancel takes to find out which Tasks an earlier process has made. */
const FINDING_MS = 5_000;

/** The run that calls are made for. */
export interface CallingRun {
  context: Pick<RequestContext, 'taskId' | 'contextId' | 'call' | 'signal' | 'flush' | 'prove'>;
  graph: WorkflowGraph;
  state: RunState;
  revision: string;
  hops: readonly Hop[];
}

/** The calls of one run to the agents of its nodes. */
export class RunCalls {
  private readonly logger = new Logger(RunCalls.name);
  private readonly open = new Map<string, AgentCall>();
  /** Nodes whose current call is announced and not made here. */
  private readonly announced: Set<NodeRun>;
  /** Nodes whose current call was decided by this process, and when: no earlier process can have made it. */
  private readonly fresh = new Map<string, number>();
  private readonly children: RunChildren;
  /** Characters that this process has put together for the run's nodes. */
  private rendered = 0;

  constructor(
    private readonly services: RunServices,
    private readonly run: CallingRun,
    private readonly tell: (news: ChildNews) => Promise<void>,
  ) {
    this.children = new RunChildren(run.context.taskId, services.tasks, services.children);
    this.announced = new Set(run.state.frontier.running.filter((node) => node.messageId !== undefined));
  }

  /** Nodes whose call is announced, by this process or an earlier one, and still to be made; as defined. */
  get unmade(): NodeRun[] {
    return this.run.graph.asDefined(this.announced);
  }

  /** What a call is about to be announced with; `undefined` for a node without an URL (row C6). */
  announce(node: NodeRun): { url: string; messageId: string; taskId?: string } | undefined {
    const { context, state } = this.run;
    const waiting = node.status === 'input-required' && node.taskId !== undefined;
    const url = this.urlOf(node);
    if (url === undefined) return undefined;
    this.fresh.set(node.id, performance.now());
    this.announced.add(node);
    const answer = waiting ? state.received?.messageId : undefined;
    const messageId = dispatchMessageId(context.taskId, node.id, node.attempts, answer);
    return { url, messageId, ...(waiting && { taskId: node.taskId }) };
  }

  /** Makes the announced calls, or finds again those that an earlier process made. Does not wait for answers. */
  async launch(nodes: readonly NodeRun[]): Promise<void> {
    const known = await Promise.all(nodes.map((node) => this.known(node, this.run.context.signal)));
    for (const [index, node] of nodes.entries()) {
      const call = this.call(node, known[index]);
      this.announced.delete(node);
      this.open.set(node.id, call);
      void this.hear(node, call);
    }
  }

  /** Forgets a call that has told its end. */
  close(nodeId: string): void {
    this.open.delete(nodeId);
    this.fresh.delete(nodeId);
  }

  /** Closes the nodes' connections and cancels their agents' Tasks, all at once. */
  async cancel(nodes: readonly NodeRun[]): Promise<CanceledChild[]> {
    return Promise.all(nodes.map((node) => this.cancelOne(node)));
  }

  /** Closes a node's connection and cancels its agent's Task, whose outcome nobody asks for. */
  giveUp(node: NodeRun): void {
    void this.cancelOne(node).catch(() => undefined);
  }

  /** Tries again what did not reach the agent; `undefined` where there is nothing to try. */
  cancelAgain({ node: nodeId, agentUrl, taskId, outcome }: CanceledChild): Job | undefined {
    if (outcome !== 'unreachable' || taskId === undefined) return undefined;
    const { context, graph, state } = this.run;
    const node = state.node(nodeId);
    const { credential } = this.identity(node);
    return cancelJob({
      runId: context.taskId,
      node: nodeId,
      attempt: node.attempts,
      taskId,
      agentUrl,
      ...(node.type !== 'external' && { workflow: graph.definition.name }),
      scope: context.call.scope,
      ...(credential !== undefined && { credential }),
    });
  }

  /** Closes every connection; the agents work on. */
  abort(): void {
    for (const call of this.open.values()) call.abort();
  }

  private async cancelOne(node: NodeRun): Promise<CanceledChild> {
    const agentUrl = this.urlOf(node) ?? '';
    this.announced.delete(node);
    const canceled = await this.open.get(node.id)?.cancel();
    const taskId = canceled?.taskId ?? node.taskId ?? (await this.known(node, AbortSignal.timeout(FINDING_MS)));
    const unseen = canceled?.outcome === 'unknown' || this.mayBeSent(node) ? 'unknown' : 'not-started';
    this.close(node.id);
    if (canceled?.taskId !== undefined) return { node: node.id, agentUrl, ...canceled };
    if (taskId === undefined) return { node: node.id, agentUrl, outcome: unseen };
    const outcome = await cancelTask(this.services.directory, agentUrl, taskId, this.identity(node));
    return { node: node.id, agentUrl, taskId, outcome };
  }

  /** Whether an earlier process, which announced the call, may have made it. A Task of our own would be known. */
  private mayBeSent({ id, type, messageId }: NodeRun): boolean {
    return type === 'external' && messageId !== undefined && !this.fresh.has(id);
  }

  private call(node: NodeRun, known: string | undefined): AgentCall {
    const { graph, context, revision, state } = this.run;
    const definition = graph.node(node.id);
    const own = node.type !== 'external';
    const { parts, fault } = this.partsFor(node);
    const waiting =
      node.answer && node.taskId !== undefined ? { taskId: node.taskId, contextId: node.contextId } : undefined;
    const callerMessageId = node.answer?.messageId ?? state.begunBy;
    const run = { contextId: context.contextId, revision, ...(callerMessageId && { callerMessageId }) };
    const announcedAt = this.fresh.get(node.id);
    const limit = nodeTimeout(definition);
    return new AgentCall(this.services.directory, {
      identity: this.identity(node),
      signal: context.signal,
      request: nodeRequest(definition, run, node.messageId ?? '', parts, waiting),
      target: () => this.target(node, fault),
      by: {
        context,
        agent: `workflows/${graph.definition.name}`,
        ...(callsOthers(node) && { chain: { hops: this.run.hops, signer: this.services.hops } }),
        ...(announcedAt !== undefined && { announcedAt }),
        staysHere: this.isLocal(node),
      },
      own,
      ...(known !== undefined && { known }),
      ...(limit !== undefined && { limit }),
    });
  }

  /** Throws where the agent of a node must not be called. */
  private target(node: NodeRun, fault: ContentTooLarge | undefined): CallTarget {
    if (fault) throw fault;
    if (node.type === 'external') refuseUserinfo(this.run.graph.node(node.id));
    return { url: this.urlOf(node) ?? '' };
  }

  /** Tells what comes of a call, unless nobody waits for it any more. Never rejects. */
  private async hear(node: NodeRun, call: AgentCall): Promise<void> {
    const url = this.urlOf(node) ?? '';
    const tell = (news: Pick<ChildNews, 'step' | 'ending'>): Promise<void> => {
      const { taskId, contextId } = call.answer;
      return this.tell({ nodeId: node.id, url, taskId, contextId, ...news });
    };
    try {
      for await (const { seen, step } of call.run()) {
        if (seen?.first) await this.remember(node, seen.taskId, url);
        if (step && PASSED_STEPS.has(step.type) && isJsonObject(step.payload)) await tell({ step });
      }
      await tell({ ending: this.endingOf(node, url, call.outcome) });
    } catch (error) {
      if (!call.givenUp) this.logger.error({ err: error, node: node.id }, 'The answer of a node could not be told');
    }
  }

  private endingOf(node: NodeRun, url: string, outcome: CallOutcome): ChildEnding {
    if (outcome.kind === 'failed' && outcome.failure.kind === 'internal') {
      const { cause } = outcome.failure;
      this.logger.error({ err: cause, node: node.id, url: shownUrl(url) }, 'The call of a node failed');
    }
    return childEnding(this.run.graph.node(node.id), url, outcome);
  }

  /** What a node is sent; nothing, and why, where that would be too much. */
  private partsFor(node: NodeRun): { parts: Part[]; fault?: ContentTooLarge } {
    const { graph, state } = this.run;
    const { renderedText, task } = this.services.content;
    if (node.answer) return { parts: answerParts(node.answer, node.id) };
    const budget = new TextBudget(renderedText);
    try {
      const parts = nodeParts(graph.node(node.id), graph, state, budget);
      this.rendered += budget.spent;
      if (this.rendered > task)
        throw ContentTooLarge.of('what was rendered for the nodes of the run', task, 'TASK_LIMIT');
      return { parts };
    } catch (error) {
      if (error instanceof ContentTooLarge) return { parts: [], fault: error };
      throw error;
    }
  }

  /** By the definition and not by the log: an own node is called here, wherever it was called before. */
  private urlOf(node: NodeRun): string | undefined {
    const { definition } = this.run.graph;
    return nodeUrl(definition.name, this.run.graph.node(node.id), this.services.address.internalUrl);
  }

  private async known(node: NodeRun, signal: AbortSignal): Promise<string | undefined> {
    if (this.fresh.has(node.id)) return undefined;
    return node.answer ? node.taskId : this.children.find(node.id, node.attempts, signal);
  }

  /** A Task that could not be noted down costs a repeated Message after a crash, not the call. */
  private async remember(node: NodeRun, taskId: string, url: string): Promise<void> {
    if (this.isLocal(node)) return;
    try {
      await this.children.remember(node.id, node.attempts, taskId, url);
    } catch (error) {
      this.logger.warn({ err: error, taskId, url: shownUrl(url) }, 'The task of a child could not be remembered');
    }
  }

  /** Whether a node's agent is called in this process. */
  private isLocal(node: NodeRun): boolean {
    return node.type !== 'external' && this.services.localDispatch;
  }

  private identity(node: NodeRun): CallIdentity {
    const { context, graph, revision } = this.run;
    const { auth } = graph.node(node.id).config;
    return {
      scope: context.call.scope,
      parent: { taskId: context.taskId, reference: childReference(node.id, node.attempts) },
      ...(node.type !== 'external' && { revision }),
      ...(node.type === 'external' && typeof auth === 'string' && auth !== '' && { credential: auth }),
    };
  }
}
