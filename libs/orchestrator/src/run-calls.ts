import type { CallOptions } from '#libs/a2a-client';
import type { Hop, RequestContext } from '#libs/executor';
import type { Job } from '#libs/jobs';
import { ContentTooLarge, type Part, TextBudget } from '#libs/protocol';
import { type ChildNews, ChildCall, cancelWaiting } from './child-call.js';
import { ClaimProof } from './claim-proof.js';
import { cancelJob } from './child-cancel.js';
import { nodeUrl, refuseUserinfo } from './node-address.js';
import { callsOthers, childReference, dispatchMessageId, nodeRequest, nodeTimeout } from './node-dispatch.js';
import { nodeParts } from './node-message.js';
import type { CanceledChild, NodeRun } from './node-run.js';
import { answerParts } from './run-answer.js';
import { RunChildren } from './run-children.js';
import type { RunServices } from './run-services.js';
import type { RunState } from './run-state.js';
import type { WorkflowNode } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** The run that calls are made for. */
export interface CallingRun {
  context: Pick<RequestContext, 'taskId' | 'contextId' | 'call' | 'prove'>;
  graph: WorkflowGraph;
  state: RunState;
  revision: string;
  hops: readonly Hop[];
}

/** The calls of one run to the agents of its nodes. */
export class RunCalls {
  private readonly open = new Map<string, ChildCall>();
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

  /** Whether a node's agent is called in this process. */
  staysHere(node: NodeRun): boolean {
    return node.type !== 'external' && this.services.localDispatch;
  }

  /** Makes the announced calls, or finds again those that an earlier process made. Does not wait for answers. */
  async launch(nodes: readonly NodeRun[]): Promise<void> {
    const known = await Promise.all(nodes.map((node) => this.known(node)));
    for (const [index, node] of nodes.entries()) {
      const call = this.call(node, known[index]);
      this.announced.delete(node);
      this.open.set(node.id, call);
      void call.run();
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
    const { credential } = this.options(node);
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
    const call = this.open.get(node.id);
    const outcome = await call?.cancel();
    const taskId = call?.taskId ?? node.taskId ?? (await this.known(node));
    const unseen = this.mayBeSent(node) ? 'unknown' : 'not-started';
    this.close(node.id);
    if (taskId === undefined) return { node: node.id, agentUrl, outcome: outcome ?? unseen };
    const { directory } = this.services;
    return {
      node: node.id,
      agentUrl,
      taskId,
      outcome:
        outcome !== undefined && call?.taskId !== undefined
          ? outcome
          : await cancelWaiting(directory, agentUrl, taskId, this.options(node)),
    };
  }

  /** Whether an earlier process, which announced the call, may have made it. A Task of our own would be known. */
  private mayBeSent({ id, type, messageId }: NodeRun): boolean {
    return type === 'external' && messageId !== undefined && !this.fresh.has(id);
  }

  private call(node: NodeRun, known: string | undefined): ChildCall {
    const { graph, context, revision, state } = this.run;
    const definition = graph.node(node.id);
    const url = this.urlOf(node) ?? '';
    const { parts, fault } = this.partsFor(node);
    const waiting =
      node.answer && node.taskId !== undefined ? { taskId: node.taskId, contextId: node.contextId } : undefined;
    const hops = callsOthers(node) ? this.hopsTo(url) : [];
    const callerMessageId = node.answer?.messageId ?? state.begunBy;
    const run = { contextId: context.contextId, revision, hops, ...(callerMessageId && { callerMessageId }) };
    const timeout = nodeTimeout(definition);
    return new ChildCall(this.services.directory, {
      node: definition,
      url,
      request: nodeRequest(definition, run, node.messageId ?? '', parts, waiting),
      options: { ...this.options(node), ...this.fence(node) },
      ...(timeout !== undefined && { timeout }),
      ...(known !== undefined && { known }),
      refuse: () => {
        if (fault) throw fault;
        if (node.type === 'external') this.refuse(definition, url);
      },
      onTask: (taskId) => this.remember(node, taskId, url),
      tell: this.tell,
    });
  }

  /** Throws where the external agent of a node must not be called. */
  private refuse(node: WorkflowNode, url: string): void {
    refuseUserinfo(node);
    this.services.hops.refuseCall(url, this.run.hops);
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

  /** The calls that led to the run, and the one of this agent. */
  private hopsTo(url: string): Hop[] {
    const { context, graph, hops } = this.run;
    const caller = `workflows/${graph.definition.name}`;
    return this.services.hops.extended(hops, { task: context.taskId, caller, callee: url });
  }

  /** By the definition and not by the log: an own node is called here, wherever it was called before. */
  private urlOf(node: NodeRun): string | undefined {
    const { definition } = this.run.graph;
    return nodeUrl(definition.name, this.run.graph.node(node.id), this.services.address.internalUrl);
  }

  private async known(node: NodeRun): Promise<string | undefined> {
    if (this.fresh.has(node.id)) return undefined;
    return node.answer ? node.taskId : this.children.find(node.id, node.attempts);
  }

  private async remember(node: NodeRun, taskId: string, url: string): Promise<void> {
    if (!this.isLocal(node)) await this.children.remember(node.id, node.attempts, taskId, url);
  }

  /** An own agent makes one Task of a call, however often it comes; a foreign one may not. */
  private fence({ id, type }: NodeRun): Pick<CallOptions, 'fence'> {
    if (type !== 'external') return {};
    const proof = new ClaimProof(this.fresh.get(id) ?? -Infinity, () => this.run.context.prove());
    return { fence: proof.renew };
  }

  private isLocal(node: NodeRun): boolean {
    return node.type !== 'external' && this.services.localDispatch;
  }

  private options(node: NodeRun): CallOptions {
    const { context, graph, revision } = this.run;
    const { auth } = graph.node(node.id).config;
    return {
      scope: context.call.scope,
      parent: { taskId: context.taskId, reference: childReference(node.id, node.attempts) },
      ...(node.type !== 'external' && { revision }),
      // An own agent makes one Task of it, in whichever replica it comes to.
      ...(node.type !== 'external' && node.messageId !== undefined && { idempotencyKey: node.messageId }),
      ...(node.type === 'external' && typeof auth === 'string' && auth !== '' && { credential: auth }),
    };
  }
}
