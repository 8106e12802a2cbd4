import { Logger } from '@nestjs/common';
import { registeredAgentPath } from '#libs/agents';
import {
  type AgentCall,
  type CalledAgent,
  type CallTarget,
  LAST_LOOK_MS,
  NodeProgress,
  type PlannedCall,
  ProcessCalls,
  type ProcessStart,
} from '#libs/durable';
import type { Job } from '#libs/jobs';
import { retryWhileDatabaseDown, retryWhileUnreachable } from '#libs/postgres';
import { isTerminalState, type Part, redactedUrl } from '#libs/protocol';
import type { ExceededBudget } from '#libs/tasks';
import type { BudgetConfig, WorkflowGraph, WorkflowNode } from '#libs/workflow-definition';
import { leftOutPayload, messageParts, unreadPayload } from '../messages/node-message.js';
import type { RunEvaluation } from '../messages/run-evaluation.js';
import { type CanceledChild, isRemoteNode, type NodeInstance } from '../state/node-instance.js';
import { isForwardedStep } from '../state/run-metadata.js';
import type { RunState } from '../state/run-state.js';
import { partsLeftOut, type SendingPayload } from '../state/run-steps.js';
import { parseTimestamp, type RunClock, type Timer } from '../state/timers.js';
import type { EventLoopYield } from '../work/work-budget.js';
import {
  type AskingChildren,
  pollWaitingChildren,
  questionId,
  remoteLookJob,
  remoteLookOver,
} from './asking-children.js';
import { createCancelJob } from './child-cancel.js';
import {
  type ChildEnding,
  type ChildUpdate,
  judgeCallEnding,
  readChildEnding,
  reportRecordable,
} from './child-ending.js';
import {
  callersOf,
  callsOthers,
  childReference,
  dispatchMessageId,
  externalCall,
  nodeContext,
  nodeRequest,
  nodeTimeout,
  nodeUrl,
  refuseEndpoint,
  registeredContext,
  RunContent,
  workflowPath,
} from './node-dispatch.js';
import type { AttemptFailure } from './node-outcomes.js';
import { createBudgetEnding, findBudgets } from './run-budget.js';
import type { RunRoom, RunServices } from './run-services.js';

type CallLimit = Required<Pick<PlannedCall, 'limit' | 'onPause' | 'onRestart'>>;

/**
 * Delay in milliseconds from which a call counts as late, for example because the database was unavailable. The timeout
 * of a late call restarts when the call is sent.
 */
const LATE_MS = 1_000;

/**
 * Suspends and delays the timeouts of nodes' attempts in this execution. `NodeClock` derives the timeouts from the log;
 * this class adds what the log does not contain:
 * - While the answer to a call of an earlier execution is looked up, the timeout does not count.
 * - For a call that was sent late (LATE_MS), or whose answer waited for free memory, the timeout stays suspended. The
 *   time limit of the call itself (`createCallLimit`) applies instead.
 */
export class CallTimes {
  /** Start of each node's timeout, in milliseconds of the epoch; `Infinity` while the timeout is suspended. */
  private readonly countsFrom = new Map<NodeInstance, number>();

  /**
   * @param pickedUp nodes whose calls an earlier execution has made or recorded in the log; their timeouts are
   *   suspended at first
   */
  constructor(pickedUp: Iterable<NodeInstance>) {
    for (const node of pickedUp) this.holdTimeout(node);
  }

  /** Suspends the timeout of a node: its call has not been sent yet, or the answer waits for free memory. */
  holdTimeout(node: NodeInstance): void {
    this.countsFrom.set(node, Infinity);
  }

  /**
   * Ends the suspension of a node's timeout. The timeout then counts as `NodeClock` derives it from the log. Does
   * nothing for a call that was sent late (LATE_MS), because the time limit of the call itself applies then.
   * @param after delay of the call in milliseconds
   */
  releaseTimeout(node: NodeInstance, after = 0): void {
    if (after < LATE_MS) this.countsFrom.delete(node);
  }

  /**
   * Returns the time limit of a call, with two callbacks: `onPause` suspends the node's timeout when the limit pauses
   * for lack of memory; `onRestart` restarts the timeout when the limit restarts, because no earlier execution has sent
   * the Message.
   * @param limit in milliseconds
   */
  createCallLimit(node: NodeInstance, limit: number, clock: Pick<RunClock, 'now'>): CallLimit {
    return {
      limit,
      onPause: () => this.holdTimeout(node),
      onRestart: () => void this.countsFrom.set(node, clock.now() + limit),
    };
  }

  /**
   * Delays the timeout of a node by the time that is needed to look up the answer to a call of an earlier execution.
   * @param now in milliseconds of the epoch
   */
  delayTimeout(node: NodeInstance, now: number): void {
    this.countsFrom.set(node, now + LAST_LOOK_MS);
  }

  /** Returns `timers` without the timeouts that are suspended or delayed at `now` (milliseconds of the epoch). */
  selectDueTimers(timers: readonly Timer[], now: number): Timer[] {
    return timers.filter(({ kind, node }) => kind !== 'timeout' || !node || (this.countsFrom.get(node) ?? 0) <= now);
  }

  /**
   * Returns the time at which the next delayed timeout counts, in milliseconds of the epoch; `undefined` if there is
   * none.
   */
  findNextTime(now: number): number | undefined {
    const next = Math.min(...[...this.countsFrom.values()].filter((from) => from > now));
    return Number.isFinite(next) ? next : undefined;
  }
}

/** Members of a run that RunCalls needs to make the run's calls. */
interface CallingRun extends Omit<ProcessStart, 'log'> {
  graph: WorkflowGraph;
  state: RunState;
  evaluation: RunEvaluation;
  revision: string;
  /** Budget of the run itself; absent: it has none. */
  budget: BudgetConfig | undefined;
  room: Pick<RunRoom, 'receiveReport'>;
  newPace(): EventLoopYield;
}

/**
 * Makes, follows and cancels the calls of one run to the agents of its nodes. To end a call early:
 * - `cancelCalls` cancels the Task and waits for the outcome (canceled run, nodes not needed).
 * - `giveUpCall` and `giveUpOpenCall` cancel the Task in the background; the run continues.
 * - `closeCall` only drops a call that has reported its end.
 * - `abort` closes the connections and leaves the Tasks.
 */
export class RunCalls {
  readonly times: CallTimes;
  private readonly logger = new Logger(RunCalls.name);
  private readonly calls: ProcessCalls;
  /** Nodes whose call is recorded in the log (`a2a.sending`), but not made yet in this execution. */
  private readonly announced: Set<NodeInstance>;
  /** Nodes whose Tasks resumed without an answer of the run. Their Tasks are followed without a new Message. */
  private readonly resumed = new WeakSet<NodeInstance>();
  private readonly content: RunContent;
  /** Runs whose budgets limit the calls; `undefined` if there are none. */
  private readonly budgets: readonly string[] | undefined;

  constructor(
    private readonly services: RunServices,
    private readonly run: CallingRun,
    private readonly report: (news: ChildUpdate) => Promise<void>,
  ) {
    const { context, links, graph, state } = run;
    const agent = workflowPath(graph.definition.name);
    this.content = new RunContent(run, services.content);
    if (run.budget || links.some(({ budget }) => budget !== undefined))
      this.budgets = findBudgets(run, services.chains);
    this.calls = new ProcessCalls(services, {
      context,
      links,
      agent,
      remembered: (signal) => this.listRemembered(signal),
      ...(run.budget && { hasBudget: true }),
    });
    const isAnnounced = ({ messageId, waitsFor }: NodeInstance) => messageId !== undefined && waitsFor === undefined;
    this.announced = new Set(state.frontier.running.filter(isAnnounced));
    this.times = new CallTimes([...this.announced, ...state.frontier.undispatchedNodes]);
  }

  /**
   * Nodes whose call is recorded in the log (`a2a.sending`) and not made yet in this execution, in the order of the
   * definition.
   */
  get unmade(): NodeInstance[] {
    return this.run.graph.asDefined(this.announced);
  }

  /**
   * Prepares a call to a node's agent, and returns the payload of the `a2a.sending` event that announces it;
   * `undefined` for a node without a URL.
   * @param parts answer that the run itself gives to the node's question
   */
  announceCall(node: NodeInstance, parts?: Part[]): SendingPayload | undefined {
    const { context, state } = this.run;
    const waiting = node.status === 'input-required' && node.taskId !== undefined;
    const url = this.urlOf(node);
    if (url === undefined) return undefined;
    this.calls.announceCall(referenceOf(node));
    this.resumed.delete(node);
    if (this.isLocal(node)) this.times.releaseTimeout(node);
    else this.times.holdTimeout(node);
    this.announced.add(node);
    // The id of the Message after which the agent asked identifies the question.
    const answer = parts ? `deadline/${node.messageId ?? ''}` : waiting ? state.received?.messageId : undefined;
    const messageId = dispatchMessageId(context.taskId, node.instance, node.attempts, answer);
    return { url, messageId, ...(waiting && { taskId: node.taskId }), ...(parts && { answeredBy: 'deadline', parts }) };
  }

  /**
   * Makes the calls that are recorded in the log (`a2a.sending`): sends their Messages, or follows the Tasks that an
   * earlier execution has called already. Does not wait for answers.
   */
  async launchCalls(unmade: readonly NodeInstance[]): Promise<void> {
    const nodes = this.budgets ? await this.refuseBeyondBudget(unmade, this.budgets) : unmade;
    const planned: { node: NodeInstance; call: PlannedCall }[] = [];
    const pace = this.run.newPace();
    for (const node of nodes) {
      planned.push({ node, call: this.planCall(node) });
      if (pace.isDue) await pace.yieldTurn();
    }
    const openCall = async ({ node, call }: (typeof planned)[0]) => ({ node, call: await this.calls.openCall(call) });
    for (const { node, call } of await Promise.all(planned.map(openCall))) {
      this.announced.delete(node);
      void this.trackCallTime(node);
      void this.followCall(node, call);
    }
  }

  /**
   * Fails nodes whose agents are elsewhere if a budget is used up, and returns the other nodes. Agents of this service
   * check the budgets before they call a model.
   */
  private async refuseBeyondBudget(
    nodes: readonly NodeInstance[],
    budgets: readonly string[],
  ): Promise<NodeInstance[]> {
    const { context } = this.run;
    const { signal, call } = context;
    const isRefusable = (node: NodeInstance): boolean => this.isRemote(node) && this.calls.isNew(referenceOf(node));
    if (!nodes.some(isRefusable)) return [...nodes];
    const read = (): Promise<ExceededBudget | undefined> => this.services.budgets.findExceeded(budgets, call.scope);
    // The end of a local agent reaches the run before the costs of its calls are in the store.
    await context.flush();
    const exceeded = await retryWhileUnreachable(read, signal);
    if (exceeded === undefined) return [...nodes];
    const ending = createBudgetEnding(exceeded);
    for (const node of nodes.filter(isRefusable)) {
      this.announced.delete(node);
      const { attempts: attempt, taskId, contextId } = node;
      void this.report({ node, attempt, url: this.urlOf(node) ?? '', taskId, contextId, ending });
    }
    return nodes.filter((node) => !isRefusable(node));
  }

  /** Prepares to follow the Task of a waiting node again: the Task continues although this run sent it no answer. */
  followResumed(node: NodeInstance): void {
    this.closeCall(node);
    this.announced.add(node);
    this.resumed.add(node);
  }

  /** Finds waiting nodes whose Tasks have continued or ended although this run sent them no answer. */
  pollWaitingChildren(waiting: readonly NodeInstance[]): Promise<AskingChildren> {
    const { signal, taskId: runId } = this.run.context;
    const asking = {
      own: waiting.filter((node) => !this.isRemote(node)),
      elsewhere: waiting.filter((node) => this.isRemote(node)),
    };
    return retryWhileDatabaseDown(() => pollWaitingChildren(this.services, runId, asking), signal);
  }

  /**
   * Returns the job that polls the waiting Task of an external agent; `undefined` for any other update, and for an
   * agent whose protocol is known not to support such a poll.
   */
  nextLookJob({ node, ending, url, taskId = node.taskId }: ChildUpdate): Job | undefined {
    const isRemoteQuestion = ending?.kind === 'waiting' && this.isRemote(node);
    if (!isRemoteQuestion || taskId === undefined) return undefined;
    const { context } = this.run;
    const { credential, protocol } = this.externalCall(node);
    if (protocol !== undefined) return undefined;
    const { instance, attempts: attempt, resumes: looks = 0 } = node;
    const place = { runId: context.taskId, node: instance, asked: questionId(node), looks, attempt };
    const { scope } = context.call;
    const look = { ...place, taskId, agentUrl: url, scope, ...(credential !== undefined && { credential }) };
    return remoteLookJob(look, ending);
  }

  /**
   * Returns the job that ends the polls of a waiting node's Task; `undefined` for a node that is not polled. Call this
   * before the node stops asking.
   */
  endLooksJob(node: NodeInstance): Job | undefined {
    if (node.status !== 'input-required' || !this.isRemote(node)) return undefined;
    return remoteLookOver({ runId: this.run.context.taskId, node: node.instance });
  }

  /**
   * Returns the failure of a call that has not reached its agent, because the agent refuses connections; `undefined`
   * for any other call.
   */
  findRefusal(node: NodeInstance): AttemptFailure | undefined {
    const outcome = this.calls.refusalOf(referenceOf(node));
    if (outcome === undefined) return undefined;
    const ending = readChildEnding(this.run.graph.node(node.id), this.urlOf(node) ?? '', outcome);
    return ending.kind === 'failed' ? { kind: ending.failure, error: ending.error } : undefined;
  }

  /** Closes the call of a node after its end was reported. */
  closeCall(node: NodeInstance): void {
    this.calls.close(referenceOf(node));
  }

  /** Cancels the calls of nodes: closes their connections and cancels their Tasks, all concurrently. Never throws. */
  async cancelCalls(nodes: readonly NodeInstance[]): Promise<CanceledChild[]> {
    return Promise.all(nodes.map((node) => this.cancelOne(node)));
  }

  /**
   * Gives up the call of a node and cancels its Task in the background, while the run continues. Never throws.
   * @returns the job that repeats the cancel if it fails, or if this process ends first; `undefined` if no Task is
   *   known. Commit that job with the event that gives up the call
   */
  async giveUpCall(node: NodeInstance): Promise<Job | undefined> {
    const seen = node.taskId !== undefined && { seen: node.taskId };
    return this.cancelGivenUp(node, await this.calls.findTaskId({ ...this.agentOfNode(node), ...seen }));
  }

  /**
   * Gives up a call that this process has open, and returns the job as `giveUpCall` does. Needs no lookup, because the
   * Task id is already known if there is a Task.
   */
  giveUpOpenCall(node: NodeInstance): Job | undefined {
    return this.cancelGivenUp(node, this.calls.taskIdOf(referenceOf(node)) ?? node.taskId);
  }

  private cancelGivenUp(node: NodeInstance, taskId: string | undefined): Job | undefined {
    const { instance, attempts: attempt } = node;
    const keepOutcome = async ({ outcome }: CanceledChild): Promise<void> => {
      if (outcome === 'acknowledged' || outcome === 'refused')
        await this.services.cancels.recordOutcome({ runId: this.run.context.taskId, node: instance, attempt, outcome });
    };
    // If the outcome is not stored, the job repeats the cancel.
    void this.cancelOne(node)
      .then(keepOutcome, () => undefined)
      .catch(() => undefined);
    return taskId === undefined ? undefined : this.laterCancelJob(node, this.urlOf(node) ?? '', taskId);
  }

  /** Returns the job that repeats a failed cancel; `undefined` if the agent was reached or there is no Task. */
  retryCancelJob({ node: id, instance = id, agentUrl, taskId, outcome }: CanceledChild): Job | undefined {
    if (outcome !== 'unreachable' || taskId === undefined) return undefined;
    return this.laterCancelJob(this.run.state.getInstance(instance), agentUrl, taskId);
  }

  private laterCancelJob(node: NodeInstance, agentUrl: string, taskId: string): Job {
    const { context, graph, revision } = this.run;
    const path = registeredAgentPath(graph.node(node.id).config);
    return createCancelJob({
      runId: context.taskId,
      node: node.instance,
      attempt: node.attempts,
      taskId,
      agentUrl,
      ...(node.type !== 'external' && { workflow: graph.definition.name, revision }),
      ...(node.type === 'external' && path !== undefined && { registered: path }),
      scope: context.call.scope,
      ...this.externalCall(node),
    });
  }

  /** Closes all connections. The agents continue their Tasks. */
  abort(): void {
    this.calls.abort();
  }

  private async cancelOne(node: NodeInstance): Promise<CanceledChild> {
    const { id, instance, messageId, taskId: seen, waitsFor } = node;
    const child = { node: id, ...(instance !== id && { instance }), agentUrl: this.urlOf(node) ?? '' };
    this.announced.delete(node);
    if (messageId === undefined || waitsFor !== undefined) return { ...child, outcome: 'not-started' };
    const canceled = await this.calls.cancelCall({ ...this.agentOfNode(node), ...(seen !== undefined && { seen }) });
    return { ...child, ...canceled };
  }

  private agentOfNode(node: NodeInstance): CalledAgent {
    const isOfWorkflow = node.type !== 'external';
    return {
      reference: referenceOf(node),
      own: !this.isRemote(node),
      findTarget: () => ({ url: this.urlOf(node) ?? '' }),
      identity: { ...(isOfWorkflow && { revision: this.run.revision }), ...this.externalCall(node) },
    };
  }

  private planCall(node: NodeInstance): PlannedCall {
    const { graph, context, revision, state } = this.run;
    const definition = graph.node(node.id);
    const { content, fault } = this.content.fittedContent(node, this.isLocal(node));
    const waiting =
      node.answer && node.taskId !== undefined ? { taskId: node.taskId, contextId: node.contextId } : undefined;
    const callerMessageId = node.answer?.messageId ?? state.begunBy;
    const limit = nodeTimeout(definition);
    const url = this.urlOf(node) ?? '';
    const contextRun = { context, definition: graph.definition, isRerun: state.origin !== undefined };
    const kept = nodeContext(this.services.contexts, contextRun, node, url);
    const run = {
      contextId: context.contextId,
      registeredContext: registeredContext(contextRun, node),
      revision,
      callers: callersOf(node, state),
      ...(callerMessageId && { callerMessageId }),
    };
    // With `retry`, each attempt sends a new Message, and the run decides about retries: the client must not resend.
    const resends = definition.retry && 0;
    return {
      ...this.agentOfNode(node),
      ...(this.resumed.has(node) && node.taskId !== undefined && { seen: node.taskId }),
      request: nodeRequest(definition, run, node.messageId ?? '', messageParts(content), waiting),
      ...(node.answer === undefined && {
        adapt: (unread) => this.reportLeftOut(node, [...content.leftOut, ...unread]),
      }),
      ...(kept && { context: kept }),
      ...(hasSteps(definition) && { missed: { isRecorded: isForwardedStep, count: () => node.forwarded ?? 0 } }),
      findTarget: () => this.resolveTarget(node, fault),
      callsNobody: !callsOthers(definition),
      staysHere: this.isLocal(node),
      ...(limit !== undefined && this.times.createCallLimit(node, limit, this.services.clock)),
      ...(node.sentAt !== undefined && { since: parseTimestamp(node.sentAt) }),
      ...(resends !== undefined && { resends }),
    };
  }

  /**
   * Ends or delays the suspension of a node's timeout. The timeout counts after the time for looking up the answer if
   * an earlier execution made the call. Otherwise it counts as soon as the call is sent, unless the call is sent late
   * (LATE_MS). Never rejects.
   */
  private async trackCallTime(node: NodeInstance): Promise<void> {
    const { clock } = this.services;
    const { attempts, messageId } = node;
    if (!this.calls.isNew(referenceOf(node))) return this.times.delayTimeout(node, clock.now());
    const began = clock.now();
    if (!this.isLocal(node)) await this.run.context.flush().catch(() => undefined);
    if (node.attempts === attempts && node.messageId === messageId)
      this.times.releaseTimeout(node, clock.now() - began);
  }

  /**
   * Returns the URL to call for a node.
   * @param fault error because of which the Message could not be built, if any; it is thrown
   * @throws AgentCallError if the agent must not be called
   */
  private resolveTarget(node: NodeInstance, fault: Error | undefined): CallTarget {
    if (fault) throw fault;
    refuseEndpoint(this.run.graph.node(node.id));
    return { url: this.urlOf(node) ?? '' };
  }

  /** Reports the updates of a call until the call ends or is given up. Never rejects. */
  private async followCall(node: NodeInstance, call: AgentCall): Promise<void> {
    const url = this.urlOf(node) ?? '';
    const attempt = node.attempts;
    const reportUpdate = (news: Pick<ChildUpdate, 'step' | 'ending'>): Promise<void> => {
      const { taskId, contextId } = call.answer;
      return this.report({ node, attempt, url, taskId, contextId, ...news });
    };
    using progress = new NodeProgress((step) => void reportUpdate({ step }));
    progress.followDelay(call);
    try {
      for await (const { seen, step, response } of call.runCall()) {
        progress.takeResponse(response);
        this.run.room.receiveReport(node, response);
        if (seen?.first) await this.rememberTask(node, seen.taskId, url);
        if (step && isForwardedStep(step)) await reportUpdate({ step });
      }
      const unread = unreadPayload(call.answer);
      if (unread) await reportUpdate({ step: partsLeftOut.createNote(node, unread) });
      const judging = { graph: this.run.graph, jsonMembers: this.services.content.jsonMembers };
      const ending = judgeCallEnding(node, url, call.outcome, judging);
      await reportRecordable(ending, this.run, (recordable) => reportUpdate({ ending: recordable }));
    } catch (error) {
      if (call.givenUp) return;
      this.logger.error({ err: error, node: node.instance }, 'The answer of a node could not be reported');
      // Otherwise the run would wait for the node forever.
      await reportUpdate({ ending: unreadEnding(call) }).catch(() => undefined);
    }
  }

  private reportLeftOut(node: NodeInstance, parts: readonly Part[]): void {
    const payload = leftOutPayload(parts);
    if (payload === undefined) return;
    const { attempts: attempt, taskId, contextId } = node;
    const step = partsLeftOut.createNote(node, { ...payload });
    void this.report({ node, attempt, url: this.urlOf(node) ?? '', taskId, contextId, step });
  }

  /**
   * Returns the URL of a node's agent from the definition, not from the log: a local node is called in this process,
   * even if another replica called it before. `undefined` for an `external` node without an endpoint.
   */
  private urlOf(node: NodeInstance): string | undefined {
    const { definition } = this.run.graph;
    return nodeUrl(definition.name, this.run.graph.node(node.id), this.services.address.internalUrl);
  }

  /** Returns the Tasks of remote children that earlier executions stored: `instance#attempt` and Task id. */
  private async listRemembered(signal: AbortSignal): Promise<[string, string][]> {
    const children = await retryWhileDatabaseDown(
      () => this.services.children.listChildren(this.run.context.taskId),
      signal,
    );
    return children.map(({ nodeId, attempt, taskId }) => [childReference(nodeId, attempt), taskId]);
  }

  /**
   * Stores the Task of a remote child. If that fails, the call continues; after a crash its Message may be repeated.
   */
  private async rememberTask(node: NodeInstance, taskId: string, url: string): Promise<void> {
    if (this.isLocal(node)) return;
    try {
      const { instance: nodeId, attempts: attempt } = node;
      await this.services.children.rememberChild({
        runId: this.run.context.taskId,
        nodeId,
        attempt,
        taskId,
        agentUrl: url,
      });
    } catch (error) {
      this.logger.warn({ err: error, taskId, url: redactedUrl(url) }, 'The task of a child could not be remembered');
    }
  }

  /** True if a node's agent is called in this process. */
  private isLocal(node: NodeInstance): boolean {
    return !this.isRemote(node) && this.services.localDispatch;
  }

  private isRemote({ id }: NodeInstance): boolean {
    return isRemoteNode(this.run.graph.node(id));
  }

  private externalCall({ id }: NodeInstance): ReturnType<typeof externalCall> {
    return externalCall(this.run.graph.node(id));
  }
}

/** Returns the failure of a call whose answer this process could not process because of an internal error. */
function unreadEnding({ answer: { taskId, state } }: AgentCall): ChildEnding {
  const isLeft = taskId !== undefined && !(state && isTerminalState(state));
  return { kind: 'failed', error: 'internal error', failure: 'internal', ...(isLeft && { isLeft }) };
}

function referenceOf({ instance, attempts }: NodeInstance): string {
  return childReference(instance, attempts);
}

/** Types of nodes whose Tasks have steps that a run forwards to its own log. */
const STEP_TYPES: ReadonlySet<string> = new Set(['agent', 'workflow']);

function hasSteps({ type }: Pick<WorkflowNode, 'type'>): boolean {
  return STEP_TYPES.has(type);
}
