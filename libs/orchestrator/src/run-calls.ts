import { Logger } from '@nestjs/common';
import { type AgentCall, type CallTarget, NodeProgress } from '#libs/agent-calls';
import type { Job } from '#libs/jobs';
import { throughOutage } from '#libs/postgres';
import { type CalledAgent, type PlannedCall, ProcessCalls, type ProcessStart } from '#libs/process';
import { isTerminalState, type Part, type RunEventNote, shownUrl } from '#libs/protocol';
import { callEnding } from './call-ending.js';
import { cancelJob } from './child-cancel.js';
import { type ChildEnding, childEnding } from './child-ending.js';
import { externalCall } from './external-call.js';
import { nodeUrl, refuseEndpoint, workflowPath } from './node-address.js';
import { nodeContext } from './node-context.js';
import { callsOthers, childReference, dispatchMessageId, nodeRequest, nodeTimeout } from './node-dispatch.js';
import { leftOutPayload, partsOf, unreadPayload } from './passed-content.js';
import { partsLeftOut } from './control-steps.js';
import { CallTimes } from './call-times.js';
import { type AskingChildren, lookAtAsking } from './asking-children.js';
import { timeOf } from './node-clock.js';
import type { AttemptFailure } from './node-outcomes.js';
import type { CanceledChild, NodeRun } from './node-run.js';
import { reportRecordable } from './recordable-ending.js';
import { questionId, remoteLookJob, remoteLookOver } from './remote-look-job.js';
import { RunContent } from './run-content.js';
import { isForwardedStep } from './run-event-type.js';
import type { RunEvaluation } from './run-evaluation.js';
import type { RunPace } from './run-pace.js';
import type { RunRoom } from './run-room.js';
import type { RunServices } from './run-services.js';
import type { RunState } from './run-state.js';
import type { SendingPayload } from './run-steps.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** Update of a node's call. */
export interface ChildNews {
  node: NodeRun;
  /** The attempt this update belongs to. */
  attempt: number;
  url: string;
  taskId: string | undefined;
  contextId: string | undefined;
  /** Step that the agent reported. */
  step?: RunEventNote;
  ending?: ChildEnding;
}

/** The run for which calls are made. */
interface CallingRun extends Omit<ProcessStart, 'log'> {
  graph: WorkflowGraph;
  state: RunState;
  evaluation: RunEvaluation;
  revision: string;
  room: Pick<RunRoom, 'receive'>;
  newPace(): RunPace;
}

/** The calls of one run to the agents of its nodes. */
export class RunCalls {
  readonly times: CallTimes;
  private readonly logger = new Logger(RunCalls.name);
  private readonly calls: ProcessCalls;
  /** Nodes whose current call is announced but not made in this execution. */
  private readonly announced: Set<NodeRun>;
  /** Nodes whose Tasks have moved on by themselves: they are followed without a new Message. */
  private readonly resumed = new WeakSet<NodeRun>();
  private readonly content: RunContent;

  constructor(
    private readonly services: RunServices,
    private readonly run: CallingRun,
    private readonly report: (news: ChildNews) => Promise<void>,
  ) {
    const { context, links, graph, state } = run;
    const agent = workflowPath(graph.definition.name);
    this.content = new RunContent(run, services.content);
    this.calls = new ProcessCalls(services, { context, links, agent, remembered: (signal) => this.remembered(signal) });
    const isAnnounced = ({ messageId, waitsFor }: NodeRun) => messageId !== undefined && waitsFor === undefined;
    this.announced = new Set(state.frontier.running.filter(isAnnounced));
    this.times = new CallTimes([...this.announced, ...state.frontier.unsent]);
  }

  /** Nodes with an announced call that is still to be made, in the order of the definition. */
  get unmade(): NodeRun[] {
    return this.run.graph.asDefined(this.announced);
  }

  /**
   * Returns the payload that announces a call; `undefined` for a node without a URL.
   * @param parts answer of the run itself to the node's question
   */
  announce(node: NodeRun, parts?: Part[]): SendingPayload | undefined {
    const { context, state } = this.run;
    const waiting = node.status === 'input-required' && node.taskId !== undefined;
    const url = this.urlOf(node);
    if (url === undefined) return undefined;
    this.calls.announce(referenceOf(node));
    this.resumed.delete(node);
    if (this.isLocal(node)) this.times.left(node);
    else this.times.hold(node);
    this.announced.add(node);
    // The id of the Message that led to the question identifies the question.
    const answer = parts ? `deadline/${node.messageId ?? ''}` : waiting ? state.received?.messageId : undefined;
    const messageId = dispatchMessageId(context.taskId, node.instance, node.attempts, answer);
    return { url, messageId, ...(waiting && { taskId: node.taskId }), ...(parts && { answeredBy: 'deadline', parts }) };
  }

  /** Makes announced calls, or reconnects to those of an earlier execution. Does not wait for answers. */
  async launch(nodes: readonly NodeRun[]): Promise<void> {
    const planned: { node: NodeRun; call: PlannedCall }[] = [];
    const pace = this.run.newPace();
    for (const node of nodes) {
      planned.push({ node, call: this.planned(node) });
      if (pace.isDue) await pace.rest();
    }
    const open = async ({ node, call }: (typeof planned)[0]) => ({ node, call: await this.calls.open(call) });
    for (const { node, call } of await Promise.all(planned.map(open))) {
      this.announced.delete(node);
      void this.time(node);
      void this.follow(node, call);
    }
  }

  /** Prepares to follow a Task that has resumed without an answer of the run. */
  resume(node: NodeRun): void {
    this.close(node);
    this.announced.add(node);
    this.resumed.add(node);
  }

  /** Polls the Tasks of waiting nodes for progress without an answer of the run. */
  lookAtAsking(waiting: readonly NodeRun[]): Promise<AskingChildren> {
    const { signal, taskId: runId } = this.run.context;
    return throughOutage(() => lookAtAsking(this.services, runId, waiting), signal);
  }

  /**
   * Returns the job that polls the waiting Task of an external agent. `undefined` for other updates, and for an agent
   * whose protocol is known to support no such poll.
   */
  lookLater({ node, ending, url, taskId = node.taskId }: ChildNews): Job | undefined {
    if (ending?.kind !== 'waiting' || node.type !== 'external' || taskId === undefined) return undefined;
    const { context } = this.run;
    const { credential, protocol } = this.externalCall(node);
    if (protocol !== undefined) return undefined;
    const { instance, attempts: attempt, resumes: looks = 0 } = node;
    const place = { runId: context.taskId, node: instance, asked: questionId(node), looks, attempt };
    const { scope } = context.call;
    const look = { ...place, taskId, agentUrl: url, scope, ...(credential !== undefined && { credential }) };
    return remoteLookJob(look, ending);
  }

  /** Returns the job that ends the polls of a waiting node. Get it before the node stops asking. */
  lookNoMore({ type, status, instance }: NodeRun): Job | undefined {
    if (type !== 'external' || status !== 'input-required') return undefined;
    return remoteLookOver({ runId: this.run.context.taskId, node: instance });
  }

  /** Returns the failure of a call that has not reached its agent yet, while the agent refuses connections. */
  refusal(node: NodeRun): AttemptFailure | undefined {
    const outcome = this.calls.refusalOf(referenceOf(node));
    if (outcome === undefined) return undefined;
    const ending = childEnding(this.run.graph.node(node.id), this.urlOf(node) ?? '', outcome);
    return ending.kind === 'failed' ? { kind: ending.failure, error: ending.error } : undefined;
  }

  /** Closes a call that has reported its end. */
  close(node: NodeRun): void {
    this.calls.close(referenceOf(node));
  }

  /** Closes the connections of nodes and cancels their agents' Tasks concurrently. Never throws. */
  async cancel(nodes: readonly NodeRun[]): Promise<CanceledChild[]> {
    return Promise.all(nodes.map((node) => this.cancelOne(node)));
  }

  /**
   * Gives up a call and cancels its Task, while the run continues. Never throws.
   * @returns the job that repeats the cancel if it fails, or if this process ends first; commit it with the event that
   * gives the call up
   */
  async giveUp(node: NodeRun): Promise<Job | undefined> {
    const seen = node.taskId !== undefined && { seen: node.taskId };
    return this.cancelGivenUp(node, await this.calls.find({ ...this.called(node), ...seen }));
  }

  /** Gives up a call that is open in this execution, which knows its Task. */
  giveUpOpen(node: NodeRun): Job | undefined {
    return this.cancelGivenUp(node, this.calls.taskIdOf(referenceOf(node)) ?? node.taskId);
  }

  private cancelGivenUp(node: NodeRun, taskId: string | undefined): Job | undefined {
    const { instance, attempts: attempt } = node;
    const keep = async ({ outcome }: CanceledChild): Promise<void> => {
      if (outcome === 'acknowledged' || outcome === 'refused')
        await this.services.cancels.keep({ runId: this.run.context.taskId, node: instance, attempt, outcome });
    };
    // If the outcome is not stored, the job repeats the cancel.
    void this.cancelOne(node)
      .then(keep, () => undefined)
      .catch(() => undefined);
    return taskId === undefined ? undefined : this.cancelLater(node, this.urlOf(node) ?? '', taskId);
  }

  /** Returns the job that repeats a failed cancel; `undefined` if the agent was reached or there is no Task. */
  cancelAgain({ node: id, instance = id, agentUrl, taskId, outcome }: CanceledChild): Job | undefined {
    if (outcome !== 'unreachable' || taskId === undefined) return undefined;
    return this.cancelLater(this.run.state.instance(instance), agentUrl, taskId);
  }

  private cancelLater(node: NodeRun, agentUrl: string, taskId: string): Job {
    const { context, graph, revision } = this.run;
    return cancelJob({
      runId: context.taskId,
      node: node.instance,
      attempt: node.attempts,
      taskId,
      agentUrl,
      ...(node.type !== 'external' && { workflow: graph.definition.name, revision }),
      scope: context.call.scope,
      ...this.externalCall(node),
    });
  }

  /** Closes all connections; the agents continue their work. */
  abort(): void {
    this.calls.abort();
  }

  private async cancelOne(node: NodeRun): Promise<CanceledChild> {
    const { id, instance, messageId, taskId: seen, waitsFor } = node;
    const child = { node: id, ...(instance !== id && { instance }), agentUrl: this.urlOf(node) ?? '' };
    this.announced.delete(node);
    if (messageId === undefined || waitsFor !== undefined) return { ...child, outcome: 'not-started' };
    const canceled = await this.calls.cancel({ ...this.called(node), ...(seen !== undefined && { seen }) });
    return { ...child, ...canceled };
  }

  private called(node: NodeRun): CalledAgent {
    const own = node.type !== 'external';
    return {
      reference: referenceOf(node),
      own,
      target: () => ({ url: this.urlOf(node) ?? '' }),
      identity: { ...(own && { revision: this.run.revision }), ...this.externalCall(node) },
    };
  }

  private planned(node: NodeRun): PlannedCall {
    const { graph, context, revision, state } = this.run;
    const definition = graph.node(node.id);
    const { content, fault } = this.content.contentOf(node, this.isLocal(node));
    const waiting =
      node.answer && node.taskId !== undefined ? { taskId: node.taskId, contextId: node.contextId } : undefined;
    const callerMessageId = node.answer?.messageId ?? state.begunBy;
    const run = { contextId: context.contextId, revision, ...(callerMessageId && { callerMessageId }) };
    const limit = nodeTimeout(definition);
    const isRerun = state.origin !== undefined;
    const url = this.urlOf(node) ?? '';
    const kept = nodeContext(this.services.contexts, { context, definition: graph.definition, isRerun }, node, url);
    // Each attempt is a Message of its own, and the run decides about retries.
    const resends = definition.retry && 0;
    return {
      ...this.called(node),
      ...(this.resumed.has(node) && node.taskId !== undefined && { seen: node.taskId }),
      request: nodeRequest(definition, run, node.messageId ?? '', partsOf(content), waiting),
      ...(node.answer === undefined && {
        adapt: (unread) => this.reportLeftOut(node, [...content.leftOut, ...unread]),
      }),
      ...(kept && { context: kept }),
      target: () => this.target(node, fault),
      callsNobody: !callsOthers(definition),
      staysHere: this.isLocal(node),
      ...(limit !== undefined && this.times.limitOf(node, limit, this.services.clock)),
      ...(node.sentAt !== undefined && { since: timeOf(node.sentAt) }),
      ...(resends !== undefined && { resends }),
    };
  }

  /** Determines when the timeout of a call starts. Never rejects. */
  private async time(node: NodeRun): Promise<void> {
    const { clock } = this.services;
    const { attempts, messageId } = node;
    if (!this.calls.isNew(referenceOf(node))) return this.times.look(node, clock.now());
    const began = clock.now();
    if (!this.isLocal(node)) await this.run.context.flush().catch(() => undefined);
    if (node.attempts === attempts && node.messageId === messageId) this.times.left(node, clock.now() - began);
  }

  /** Returns the URL of a node's agent. @throws if the agent must not be called */
  private target(node: NodeRun, fault: Error | undefined): CallTarget {
    if (fault) throw fault;
    if (node.type === 'external') refuseEndpoint(this.run.graph.node(node.id));
    return { url: this.urlOf(node) ?? '' };
  }

  /** Reports the updates of a call until it ends or is given up. Never rejects. */
  private async follow(node: NodeRun, call: AgentCall): Promise<void> {
    const url = this.urlOf(node) ?? '';
    const attempt = node.attempts;
    const report = (news: Pick<ChildNews, 'step' | 'ending'>): Promise<void> => {
      const { taskId, contextId } = call.answer;
      return this.report({ node, attempt, url, taskId, contextId, ...news });
    };
    using progress = new NodeProgress((step) => void report({ step }));
    try {
      for await (const { seen, step, response } of call.run()) {
        progress.take(response);
        this.run.room.receive(node, response);
        if (seen?.first) await this.remember(node, seen.taskId, url);
        if (step && isForwardedStep(step)) await report({ step });
      }
      const unread = unreadPayload(call.answer);
      if (unread) await report({ step: partsLeftOut.note(node, unread) });
      const judging = { graph: this.run.graph, jsonMembers: this.services.content.jsonMembers };
      const ending = callEnding(node, url, call.outcome, judging);
      await reportRecordable(ending, this.run, (recordable) => report({ ending: recordable }));
    } catch (error) {
      if (call.givenUp) return;
      this.logger.error({ err: error, node: node.instance }, 'The answer of a node could not be reported');
      // Otherwise the run would wait for the node forever.
      await report({ ending: unreadEnding(call) }).catch(() => undefined);
    }
  }

  private reportLeftOut(node: NodeRun, parts: readonly Part[]): void {
    const payload = leftOutPayload(parts);
    if (payload === undefined) return;
    const { attempts: attempt, taskId, contextId } = node;
    const step = partsLeftOut.note(node, { ...payload });
    void this.report({ node, attempt, url: this.urlOf(node) ?? '', taskId, contextId, step });
  }

  /**
   * Returns the URL from the definition, not from the log: a local node is called here, even if it was called elsewhere
   * before.
   */
  private urlOf(node: NodeRun): string | undefined {
    const { definition } = this.run.graph;
    return nodeUrl(definition.name, this.run.graph.node(node.id), this.services.address.internalUrl);
  }

  /** Returns the stored children of earlier executions at other services. */
  private async remembered(signal: AbortSignal): Promise<[string, string][]> {
    const children = await throughOutage(() => this.services.children.of(this.run.context.taskId), signal);
    return children.map(({ nodeId, attempt, taskId }) => [childReference(nodeId, attempt), taskId]);
  }

  /** Stores the Task of a child. A failure does not fail the call; after a crash the Message may be repeated. */
  private async remember(node: NodeRun, taskId: string, url: string): Promise<void> {
    if (this.isLocal(node)) return;
    try {
      const { instance: nodeId, attempts: attempt } = node;
      await this.services.children.remember({ runId: this.run.context.taskId, nodeId, attempt, taskId, agentUrl: url });
    } catch (error) {
      this.logger.warn({ err: error, taskId, url: shownUrl(url) }, 'The task of a child could not be remembered');
    }
  }

  /** True if a node's agent is called in this process. */
  private isLocal(node: NodeRun): boolean {
    return node.type !== 'external' && this.services.localDispatch;
  }

  private externalCall({ id }: NodeRun): ReturnType<typeof externalCall> {
    return externalCall(this.run.graph.node(id));
  }
}

/** Returns the ending of a call whose answer could not be processed. */
function unreadEnding({ answer: { taskId, state } }: AgentCall): ChildEnding {
  const isLeft = taskId !== undefined && !(state && isTerminalState(state));
  return { kind: 'failed', error: 'internal error', failure: 'internal', ...(isLeft && { isLeft }) };
}

function referenceOf({ instance, attempts }: NodeRun): string {
  return childReference(instance, attempts);
}
