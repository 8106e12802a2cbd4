import { type CallChains, endChildrenJob, type RequestContext, TaskCanceled } from '#libs/agents';
import { AsyncQueue, DurableExecution, type ProcessStart, type Steps } from '#libs/durable';
import { parseDuration } from '#libs/expressions';
import { briefText, ContentTooLarge, dataPart, type RunEventNote, type TaskReference, textPart } from '#libs/protocol';
import { type Fact, InFlight } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import type { BudgetConfig, WorkflowGraph, WorkflowRevision } from '#libs/workflow-definition';
import { expressionRun, RunEvaluation } from '../messages/run-evaluation.js';
import { createReusedResults, type ReusedResults } from '../rerun/reused-results.js';
import { type Decision, isOwn, type Plan, type RunOutcome, type Skips } from '../state/frontier.js';
import type { CanceledChild, NodeInstance } from '../state/node-instance.js';
import { budgetOfRun, readTaskRerun } from '../state/run-metadata.js';
import { isBeingCanceled, planNext, type RunState } from '../state/run-state.js';
import {
  a2aReceived,
  a2aSending,
  createNearlyFullNote,
  nodeCanceled,
  nodeResumed,
  nodeSkipped,
  nodeStarted,
  runDeadline,
  runEnding,
} from '../state/run-steps.js';
import { RunAlarm, type Timer } from '../state/timers.js';
import type { WorkPlace } from '../work/node-room.js';
import { EvaluationTurn, EventLoopYield, type RunWork } from '../work/work-budget.js';
import { QuestionPoller } from './asking-children.js';
import type { ChildEnding, ChildUpdate } from './child-ending.js';
import { templateWarnings } from './node-dispatch.js';
import { type AttemptFailure, CANNOT_ASK, NodeOutcomes, roundedToolResult } from './node-outcomes.js';
import { openBudget } from './run-budget.js';
import { RunCalls } from './run-calls.js';
import { RunDecisions } from './run-decisions.js';
import {
  canceledChildren,
  canceledEvents,
  completedEvents,
  earliestTime,
  failedEvents,
  isAdmitted,
  parkedEvent,
  shortenEvent,
  stepEvent,
  waitingEvents,
  withFirstJob,
  withJob,
  withRecheckJob,
} from './run-ending.js';
import { type RerunOrigin, RunRoom, type RunServices, type RunStart } from './run-services.js';
import { needsSlot, takeSlots } from './run-slot.js';

/**
 * Returns the context for the calls of `onExit` nodes while a run is canceled. Its signal does not abort because of the
 * cancel, only when another replica has taken over the run.
 */
function createExitContext(context: RequestContext): RequestContext {
  const assertClaimIgnoringCancel = async (): Promise<void> => {
    try {
      await context.assertClaimHeld();
    } catch (error) {
      if (!(error instanceof TaskCanceled)) throw error;
    }
  };
  return { ...context, signal: new AbortController().signal, assertClaimHeld: assertClaimIgnoringCancel };
}

/**
 * Adds the fact `run.failed` to the last event of a failed run, with the failed node and the cause. A fact is a
 * notification to listeners in this replica, including handlers of plugins, after the event is committed.
 */
export function withFailureFact(
  end: TaskEvent,
  { taskId, call, trace }: RequestContext,
  { definition, error }: RunState,
  fault = error?.message ?? '',
): TaskEvent {
  const payload = {
    runId: taskId,
    workflow: definition.name,
    tenant: call.scope.tenant,
    ...(error?.node !== undefined && { node: error.node }),
    ...(error?.kind !== undefined && { kind: error.kind }),
    cause: briefText(fault),
    ...(trace && { traceId: trace.traceId }),
  };
  const facts: Fact[] = [{ name: 'run.failed', payload }];
  return 'statusUpdate' in end ? { ...end, facts } : end;
}

/** Returns the events that end a failed run. The last event carries the fact `run.failed` (see `withFailureFact`). */
function reportedFailure(context: RequestContext, state: RunState, fault?: string): TaskEvent[] {
  const events = failedEvents(context, state, fault);
  return events.map((event) => (event === events.at(-1) ? withFailureFact(event, context, state, fault) : event));
}

/**
 * Ends a run that has exceeded a limit: cancels all of its children and returns the last event.
 * @param limit the limit as a sentence
 */
async function endOverLimit(
  context: RequestContext,
  state: RunState,
  calls: RunCalls,
  limit: string,
): Promise<TaskEvent> {
  const children = await calls.cancelCalls(state.frontier.active);
  const again = children.flatMap((child) => calls.retryCancelJob(child) ?? []);
  const end = failedEvents(context, state, limit).at(-1);
  if (end === undefined) throw new Error('A run ends with an event');
  const reported = withFailureFact(shortenEvent(end), context, state, limit);
  return { ...reported, jobs: [...again, endChildrenJob(context.taskId)] };
}

/** Yields the events for an update of a node's call. Record each event before you request the next one. */
function* createChildEvents(reference: TaskReference, outcomes: NodeOutcomes, news: ChildUpdate): Generator<TaskEvent> {
  const { node, step, ending } = news;
  const { id, type, instance } = node;
  if (step) {
    const named = { node_id: id, node_type: type, ...(instance !== id && { instance }) };
    yield stepEvent(reference, { type: step.type, ...named, payload: step.payload });
    if (step.type === 'tool.result')
      for (const note of roundedToolResult(node, step.payload['result'])) yield stepEvent(reference, note);
  }
  if (ending === undefined) return;
  if (ending.status !== undefined) yield createReceivedEvent(reference, news, ending);
  if (ending.kind === 'completed') yield* outcomes.completeNode(node, ending.status, ending.artifacts);
  if (ending.kind === 'failed') {
    const { failure: kind, error, retryAfter } = ending;
    yield* outcomes.failAttempt(node, { kind, error, ...(retryAfter !== undefined && { retryAfter }) });
  }
}

function createReceivedEvent(
  reference: TaskReference,
  { node, url, taskId, contextId }: ChildUpdate,
  ending: ChildEnding,
): TaskEvent {
  const count = ending.kind === 'completed' ? ending.artifacts.length : 0;
  const status = ending.status ?? '';
  const note = a2aReceived.createNote(node, {
    url,
    status,
    message: ending.kind === 'completed' ? `${status} (${count} artifact${count === 1 ? '' : 's'})` : status,
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    ...(ending.kind === 'waiting' && {
      question: ending.question,
      ...(ending.asks && { asks: ending.asks }),
      ...(ending.refused && { refused: ending.refused }),
    }),
  });
  return stepEvent(reference, note);
}

/** Event that wakes a run: an update of a call, a due time, or permission to start further nodes (`room`). */
type WakeUp = ChildUpdate | 'time' | 'room';

/**
 * Executes one turn of a run. A turn begins with the start of the run, a Message or a timer. It ends when the run waits
 * for an answer, parks (waits only for a time) or ends. After a crash, the rest of the turn is executed. Instances with
 * a result in `reused` are not executed.
 */
export class WorkflowRun extends DurableExecution<RunState> {
  protected override calls: RunCalls;
  private readonly inbox = new AsyncQueue<WakeUp>();
  private readonly questions = new QuestionPoller();
  private readonly alarm: RunAlarm;
  private readonly graph: WorkflowGraph;
  private readonly budget: BudgetConfig | undefined;
  private readonly evaluation: RunEvaluation;
  private readonly work: RunWork;
  private readonly room: RunRoom;
  private readonly outcomes: NodeOutcomes;
  private madeDecisions: RunDecisions | undefined;
  private readonly reused: ReusedResults | undefined;
  /** Reason why the run cannot continue, if any: the original run of a rerun no longer exists. */
  private readonly fault: string | undefined;
  private signal: AbortSignal;
  private answerTaken = false;
  /** True until the run has a slot, if its workflow limits its runs (`concurrency`). */
  private mustTakeSlots: boolean;
  /** Budget of the run until it is stored; `undefined` if the run has none. */
  private unopenedBudget: BudgetConfig | undefined;

  constructor(
    private readonly services: RunServices,
    private readonly begun: RunStart,
    private readonly workflow: WorkflowRevision,
    origin?: RerunOrigin,
  ) {
    const { context, fold } = begun;
    super(context, fold.state);
    const [{ state }, { clock, content }] = [fold, services];
    this.graph = state.graph;
    this.alarm = new RunAlarm(clock, () => void this.inbox.putItem('time'));
    this.signal = context.signal;
    this.work = services.work.joinRun(runWorkPlace(services.chains, begun), () => void this.inbox.putItem('room'));
    this.room = new RunRoom(this.work, state.frontier.sets);
    this.evaluation = new RunEvaluation(state, expressionRun(context.taskId, workflow, fold.first), this.work.steps);
    this.outcomes = new NodeOutcomes({ reference: context, state, evaluation: this.evaluation, clock, content });
    this.budget = budgetOfRun(state.definition, fold.first);
    this.calls = this.newCalls();
    this.mustTakeSlots = needsSlot(state, clock.now());
    this.unopenedBudget = this.budget;
    const rerun = readTaskRerun(fold.first);
    this.reused = rerun && origin && createReusedResults(rerun, origin, { state, evaluation: this.evaluation });
    if (rerun && !rerun.all && origin === undefined) this.fault = `the run ${rerun.origin} no longer exists`;
  }

  override async *runToEnd(): AsyncGenerator<TaskEvent, void, undefined> {
    try {
      yield* super.runToEnd();
    } finally {
      this.alarm.cancelAlarm();
      this.work.leave();
      if (this.state.status === 'input-required') void this.services.folds.keepFold(this.context, this.begun.fold);
    }
  }

  /** Returns the object that makes the decisions of the run. It is created at the first use. */
  private get decisions(): RunDecisions {
    const { context: reference, state, evaluation, outcomes } = this;
    const { clock, content } = this.services;
    return (this.madeDecisions ??= new RunDecisions({ reference, state, evaluation, outcomes, clock, content }));
  }

  protected override next(): Steps {
    const { graph, state, evaluation } = this;
    const fault = graph.fault?.message ?? evaluation.fault ?? this.fault;
    if (fault !== undefined) return this.endTurn('failed', { fault });
    if (isBeingCanceled(state)) return this.endCanceled();
    if (this.mustTakeSlots) return this.enterWithSlots();
    if (this.unopenedBudget) return this.enterWithBudget(this.unopenedBudget);
    const full = state.isNearlyFull ? undefined : this.context.places?.nearlyFull();
    if (full) return [this.recordStep(createNearlyFullNote(full))];
    if (evaluation.isNeeded && this.work.steps.isOwing) return new EvaluationTurn(this.work.steps, this.signal);
    return this.executePlan(planNext(state, this.services.clock.now()));
  }

  /** Takes the slots for the run, or ends the turn: the run waits for a slot, or must not begin. */
  private async *enterWithSlots(): AsyncGenerator<TaskEvent> {
    const { context, state, evaluation, services } = this;
    const refusal = await takeSlots({ context, state, evaluation, services }, this.signal);
    this.mustTakeSlots = false;
    if (refusal?.outcome === 'canceled') yield* this.lastStatusText(canceledEvents(context, state, [], refusal.reason));
    else if (refusal) yield* this.endTurn('failed', { fault: refusal.reason });
  }

  /** Stores the budget of the run, which limits everything that the run calls. */
  private async *enterWithBudget(budget: BudgetConfig): AsyncGenerator<TaskEvent> {
    this.unopenedBudget = undefined;
    yield* await openBudget(this.context, { workflow: this.state.definition.name, budget }, this.services);
  }

  /**
   * Executes the first member of a plan that is not empty. Nodes that are no longer needed are canceled last, after new
   * calls have been made; if the run fails, they are canceled first.
   */
  private executePlan({ stop, report, decide, answer, fire, start: ready, outcome, wakeAt }: Plan): Steps {
    const { state, calls } = this;
    const start = this.room.admitNodes(ready);
    const { isFailingFast: isStruck, undispatchedNodes: unsent } = state.frontier;
    if (stop.length > 0 && isStruck) return this.cancelNodes(stop);
    if (report.length > 0) return this.reportSkips(report);
    if (decide.length > 0) return this.makeDecisions(decide);
    if (state.undelivered && !this.answerTaken) return this.passOnAnswers(answer);
    const due = calls.times.selectDueTimers(fire, this.services.clock.now());
    if (due.length > 0) return this.handleTimers(due);
    if (start.length > 0) return this.startNodes(start);
    if (unsent.length > 0) return this.announceCalls(unsent);
    const unmade = calls.unmade.filter((node) => !stop.includes(node));
    if (stop.length > 0) return this.cancelNodes(stop, unmade);
    if (unmade.length > 0 || outcome === undefined) return this.dispatchAndWait(unmade, wakeAt);
    return outcome === 'input-required' ? this.endTurnWaiting(wakeAt) : this.endTurn(outcome, { wakeAt });
  }

  protected override async *endCanceled(): AsyncGenerator<TaskEvent> {
    const { state } = this;
    const isEnding = (): boolean => state.frontier.ending === 'canceled';
    if (isEnding()) return yield* this.runExitNodes();
    const earlier = isBeingCanceled(state) ? canceledChildren(state.instances.values()) : [];
    const children = await this.calls.cancelCalls(state.frontier.active);
    for (const child of children) yield this.recordCanceled(child);
    if (this.graph.exits.size > 0 && state.frontier.ending === undefined)
      yield this.recordStep(runEnding.createNote({ outcome: 'canceled' }));
    if (isEnding()) yield* this.runExitNodes();
    else yield* this.lastStatusText(canceledEvents(this.context, state, [...earlier, ...children]));
  }

  /** Runs the `onExit` nodes of a canceled run. The cancel of the run does not abort their calls. */
  private async *runExitNodes(): AsyncGenerator<TaskEvent> {
    const context = createExitContext(this.context);
    this.signal = context.signal;
    this.calls.abort();
    this.calls = this.newCalls(context);
    while (this.state.status !== 'canceled') yield* this.executePlan(planNext(this.state, this.services.clock.now()));
  }

  private *reportSkips(skips: readonly Skips[]): Generator<TaskEvent> {
    for (const { because, instances } of skips) yield this.recordStep(nodeSkipped.createNote({ because, instances }));
  }

  private async *makeDecisions(decisions: readonly Decision[]): AsyncGenerator<TaskEvent> {
    const pace = this.newPace();
    for (const decision of decisions) {
      const events = this.decisions.makeDecision(decision);
      yield* 'node' in decision ? this.recordForNode(decision.node, events) : this.recordAll(events);
      // After a failure the other nodes are skipped: a list must not start now.
      if (this.state.frontier.isFailingFast) return;
      if (pace.isDue) await pace.yieldTurn();
    }
  }

  private async *startNodes(nodes: readonly NodeInstance[]): AsyncGenerator<TaskEvent> {
    const pace = this.newPace();
    for (const node of nodes) {
      if (pace.isDue) await pace.yieldTurn();
      const { status, waitsFor, attempts, list, each } = node;
      // A node that failed at once may have ended the run before the following nodes start.
      if (status !== 'pending' && waitsFor === undefined) continue;
      const reused = attempts === 0 ? this.reused?.findReusableResult(node) : undefined;
      if (reused) {
        yield* this.recordForNode(node, this.outcomes.reuseResult(node, reused));
        continue;
      }
      yield this.recordStep(nodeStarted.createNote(node, { attempt: attempts + 1 }));
      if (attempts === 0 && list === undefined) yield* this.recordWarnings(node);
      if (each === undefined && !isOwn(node)) yield* this.announceCalls([node]);
    }
  }

  private *recordWarnings(node: NodeInstance): Generator<TaskEvent> {
    const warnings = templateWarnings(this.graph.node(node.id), this.evaluation.messageSource(node));
    for (const warning of warnings) yield this.recordStep(warning);
  }

  private *announceCalls(nodes: readonly NodeInstance[]): Generator<TaskEvent> {
    for (const node of nodes) {
      const over = this.calls.endLooksJob(node);
      const call = this.calls.announceCall(node);
      const error = `no URL for node "${node.id}"`;
      if (call) yield withJob(this.recordStep(a2aSending.createNote(node, call)), over);
      else yield* this.recordAll(this.outcomes.failAttempt(node, { kind: 'refused', error, message: error }));
    }
  }

  private *passOnAnswers(answered: readonly NodeInstance[]): Generator<TaskEvent> {
    this.answerTaken = true;
    yield* this.announceCalls(answered);
  }

  private async *handleTimers(timers: readonly Timer[]): AsyncGenerator<TaskEvent> {
    for (const { kind, at, node } of timers) {
      if (kind === 'deadline') yield this.recordDeadline(at);
      else if (node && kind === 'wait') yield* this.recordForNode(node, this.decisions.endWait(node));
      else if (node && kind === 'timeout') yield* this.timedOut(node);
      else if (node && kind === 'question') yield* this.endUnanswered(node);
      if (this.state.frontier.isFailingFast) return;
    }
  }

  private recordDeadline(at: number): TaskEvent {
    const message = `the run did not finish within ${this.state.definition.deadline ?? ''}`;
    return this.recordStep(
      runDeadline.createNote({ at: new Date(at).toISOString(), failure: { kind: 'deadline', message } }),
    );
  }

  private async *timedOut(node: NodeInstance): AsyncGenerator<TaskEvent> {
    const error = `timeout: not finished within ${(parseDuration(this.graph.node(node.id).timeout) ?? 0) / 1_000} s`;
    yield* this.givenUp(node, this.calls.findRefusal(node) ?? { kind: 'timeout', error });
  }

  /** Gives up an attempt of a node whose timeout, or whose question's deadline, has passed, and yields the events. */
  private async *givenUp(node: NodeInstance, attempt: AttemptFailure): AsyncGenerator<TaskEvent> {
    yield* withFirstJob(
      this.recordForNode(node, this.outcomes.failAttempt(node, attempt)),
      await this.calls.giveUpCall(node),
    );
  }

  /**
   * Ends a question whose deadline has passed: sends the default answer, or fails the node without one. An `onExit`
   * node always fails.
   */
  private async *endUnanswered(node: NodeInstance): AsyncGenerator<TaskEvent> {
    if (this.state.frontier.ending) return yield* this.givenUp(node, CANNOT_ASK);
    const { deadline = '', default: answer } = this.graph.node(node.id).onWait ?? {};
    const parts = answer === undefined ? undefined : [typeof answer === 'string' ? textPart(answer) : dataPart(answer)];
    const over = this.calls.endLooksJob(node);
    const call = parts && this.calls.announceCall(node, parts);
    if (call) return yield withJob(this.recordStep(a2aSending.createNote(node, call)), over);
    yield* this.givenUp(node, { kind: 'timeout', error: `no answer within ${deadline}` });
  }

  /**
   * Makes the calls of `unmade` nodes. Then waits for an update of any call, the time `wakeAt` (milliseconds of the
   * epoch), or permission to start further nodes.
   */
  private async *dispatchAndWait(
    unmade: readonly NodeInstance[],
    wakeAt: number | undefined,
  ): AsyncGenerator<TaskEvent> {
    if (unmade.length > 0) await this.calls.launchCalls(unmade);
    const { clock } = this.services;
    const lookAt = this.questions.nextPollAt(this.state.frontier.hasNodeWithStatus('input-required'), clock.now());
    this.alarm.setTo(earliestTime(wakeAt, lookAt, this.calls.times.findNextTime(clock.now())));
    const news = await this.inbox.takeItem(this.signal);
    if (this.questions.isDue(clock.now())) yield* this.resumeNodes((await this.pollWaitingChildren()).movedOn);
    yield* this.applyUpdates(news);
  }

  /** Applies all updates of calls that have arrived. Stops after a failure, which may cancel the other nodes. */
  private async *applyUpdates(first: WakeUp): AsyncGenerator<TaskEvent> {
    const pace = this.newPace();
    for (let news: WakeUp | undefined = first; news !== undefined; news = this.inbox.pollItem()) {
      if (typeof news === 'string') continue;
      const { node, attempt } = news;
      if (!isCurrentAttempt(node, attempt)) continue;
      yield* this.applyUpdate(news);
      if (this.state.getInstance(node.instance).status === 'failed') return;
      if (pace.isDue) await pace.yieldTurn();
    }
  }

  private *applyUpdate(news: ChildUpdate): Generator<TaskEvent> {
    const { node, ending } = news;
    if (ending?.kind === 'moved-on') return yield* this.resumeNodes([node]);
    const steps = createChildEvents(this.context, this.outcomes, news);
    if (ending?.kind === 'failed' && ending.isLeft)
      return yield* withFirstJob(this.recordForNode(node, steps), this.calls.giveUpOpenCall(node));
    const isOpen = ending === undefined || ending.kind === 'waiting';
    if (!isOpen) this.calls.closeCall(node);
    const look = this.calls.nextLookJob(news);
    for (const event of this.recordForNode(node, steps, isOpen))
      yield node.status === 'input-required' ? withJob(event, look) : event;
    if (ending) this.calls.closeCall(node);
  }

  /**
   * Ends the turn, because nodes wait for answers. If the child Task of such a node has resumed meanwhile without an
   * answer, resumes the node instead, and the turn continues.
   * @param wakeAt time at which the run continues without an answer, in milliseconds of the epoch
   */
  private async *endTurnWaiting(wakeAt: number | undefined): AsyncGenerator<TaskEvent> {
    const { movedOn, sequences: children } = await this.pollWaitingChildren();
    if (movedOn.length > 0) return yield* this.resumeNodes(movedOn);
    const { taskId: runId } = this.context;
    for (const event of this.endTurn('input-required', { wakeAt })) yield withRecheckJob(event, { runId, children });
  }

  /**
   * Finds waiting nodes whose Tasks have resumed without an answer from the run. First waits until all recorded events
   * are durable: a local agent's question reaches the run before the question is in the store that is polled.
   */
  private async pollWaitingChildren(): ReturnType<RunCalls['pollWaitingChildren']> {
    const { waiting } = this.state.frontier;
    if (waiting.length > 0) await this.context.flush();
    return this.calls.pollWaitingChildren(waiting);
  }

  private *resumeNodes(nodes: readonly NodeInstance[]): Generator<TaskEvent> {
    for (const node of nodes) {
      const over = this.calls.endLooksJob(node);
      const resumed = this.recordStep(
        nodeResumed.createNote(node, { ...(node.taskId !== undefined && { taskId: node.taskId }) }),
      );
      yield withJob(resumed, over);
      this.calls.followResumed(node);
    }
  }

  /**
   * Cancels nodes.
   * @param unmade nodes whose calls are recorded in the log and are made first
   */
  private async *cancelNodes(
    nodes: readonly NodeInstance[],
    unmade: readonly NodeInstance[] = [],
  ): AsyncGenerator<TaskEvent> {
    if (unmade.length > 0) await this.calls.launchCalls(unmade);
    // The cancel must be durable first: a replica that recovers the run must not find a canceled Task that the run
    // still needs.
    await this.context.flush();
    const stopped = await this.calls.cancelCalls(nodes);
    for (const child of stopped) yield this.recordCanceled(child);
  }

  /** Records the cancel of a child. The job that repeats a failed cancel commits with this event. */
  private recordCanceled(child: CanceledChild): TaskEvent {
    const { node, instance = node, agentUrl, taskId, outcome } = child;
    const payload = { url: agentUrl, outcome, ...(taskId !== undefined && { taskId }) };
    const event = stepEvent(this.context, nodeCanceled.createNote(this.state.getInstance(instance), payload));
    const again = this.calls.retryCancelJob(child);
    return this.recordEvent(again ? { ...event, jobs: [again] } : event);
  }

  /**
   * Ends the turn.
   * @param because `fault`: reason of a failure that no node caused; `wakeAt`: time at which the run continues, in
   * milliseconds of the epoch
   */
  private *endTurn(outcome: RunOutcome, { fault, wakeAt }: { fault?: string; wakeAt?: number }): Generator<TaskEvent> {
    const { context, state, graph } = this;
    const events = {
      completed: () => completedEvents(context, graph, state),
      failed: () => reportedFailure(context, state, fault),
      canceled: () => canceledEvents(context, state, canceledChildren(state.instances.values())),
      'input-required': () => waitingEvents(context, state, this.begun.links.length === 0, wakeAt),
      parked: () => [parkedEvent(context, wakeAt)],
    }[outcome]();
    yield* this.lastStatusText(events);
  }

  /** Ends a run that has exceeded a size limit, and cancels its children. Rethrows any other error. */
  protected override async *endFailed(error: unknown): AsyncGenerator<TaskEvent> {
    if (!(error instanceof ContentTooLarge)) throw error;
    yield super.recordEvent(await endOverLimit(this.context, this.state, this.calls, error.message));
  }

  /** Yields the last events of a turn. Too large events are shortened, because the log already has their content. */
  private *lastStatusText(events: readonly TaskEvent[]): Generator<TaskEvent> {
    const fits = this.state.size <= this.services.content.artifact;
    for (const event of events)
      yield this.recordEvent(fits && isAdmitted(this.context, event) ? event : shortenEvent(event));
  }

  /**
   * Yields the events of a node. If an event is too large for the run, the node fails.
   * @param isCalled true if the node's agent is still working, or asks a question. If the node fails, its call is then
   *   given up
   */
  private *recordForNode(node: NodeInstance, events: Generator<TaskEvent>, isCalled = false): Generator<TaskEvent> {
    try {
      yield* this.recordAll(events);
    } catch (error) {
      if (!(error instanceof ContentTooLarge)) throw error;
      const failed = this.outcomes.failAttempt(node, { kind: 'refused', error: error.message });
      yield* withFirstJob(this.recordAll(failed), isCalled ? this.calls.giveUpOpenCall(node) : undefined);
    }
  }

  private *recordAll(events: Generator<TaskEvent>): Generator<TaskEvent> {
    this.evaluation.beginDecision();
    for (const event of events) yield this.recordEvent(event);
  }

  private recordStep(note: RunEventNote): TaskEvent {
    return this.recordEvent(stepEvent(this.context, note));
  }

  /** Records an event. @throws ContentTooLarge if the event is too large for the run */
  protected override recordEvent(event: TaskEvent): TaskEvent {
    this.context.assertRecordable(event);
    const recorded = super.recordEvent(event);
    this.services.metrics?.observeEvent(event, this.state);
    return recorded;
  }

  private readonly newPace = (): EventLoopYield => new EventLoopYield(this.work, this.evaluation.isNeeded, this.signal);

  private newCalls(context = this.context): RunCalls {
    const { services, state, graph, evaluation, workflow } = this;
    const { links } = this.begun;
    const run = { context, links, state, graph, evaluation, revision: workflow.revision, budget: this.budget };
    const whole = { ...run, room: this.room, newPace: this.newPace };
    return new RunCalls(services, whole, (news) => this.inbox.putItem(news));
  }
}

/**
 * Returns the caller account, the root run and the nesting depth to which a run's work is charged. They are read from
 * the run's call chain.
 */
function runWorkPlace(chains: CallChains, { context, links }: Pick<ProcessStart, 'context' | 'links'>): WorkPlace {
  const { root = context.taskId, depth: level } = chains.findPlace(links);
  return { account: InFlight.accountOf(context.call.scope), root, level };
}

/** True if an attempt of a node is the current one. The calls of earlier attempts were given up. */
function isCurrentAttempt({ status, waitsFor, attempts }: NodeInstance, attempt: number): boolean {
  return status === 'running' && waitsFor === undefined && attempts === attempt;
}
