import type { RunWork } from '#libs/executor';
import { durationOf } from '#libs/expressions';
import { Inbox, Process, type Steps } from '#libs/process';
import { ContentTooLarge, dataPart, type RunEventNote, textPart } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { nearlyFullNote, nodeResumed, nodeSkipped, runDeadline, runEnding } from './control-steps.js';
import { childSteps } from './child-steps.js';
import { exitContext } from './exit-context.js';
import { type AttemptFailure, CANNOT_ASK, NodeOutcomes } from './node-outcomes.js';
import { lookingAgain, withFirstJob, withJob } from './look-again-job.js';
import type { CanceledChild, NodeRun } from './node-run.js';
import { isOwn } from './node-sets.js';
import type { Decision, Plan, RunOutcome, Skips } from './plan.js';
import { isBeingCanceled, planNext } from './plan-next.js';
import { QuestionWatch } from './question-watch.js';
import { RunAlarm } from './run-alarm.js';
import { type ChildNews, RunCalls } from './run-calls.js';
import { RunDecisions } from './run-decisions.js';
import {
  canceledChildren,
  canceledEvents,
  completedEvents,
  earliest,
  isAdmitted,
  parkedEvent,
  shortened,
  stepEvent,
  waitingEvents,
} from './run-ending.js';
import { RunEvaluation } from './run-evaluation.js';
import type { RunStart } from './run-folds.js';
import { endOverLimit, reportedFailure } from './run-failure.js';
import { EvaluationTurn, RunPace } from './run-pace.js';
import { placeOf, RunRoom } from './run-room.js';
import { knownRun } from './run-known.js';
import type { ReusedResults } from './rerun/reused-results.js';
import { reusedResults } from './rerun/rerun-origin.js';
import type { RerunOrigin } from './rerun/rerun-origins.js';
import { rerunOf } from './rerun/rerun-request.js';
import type { RunServices } from './run-services.js';
import type { RunState } from './run-state.js';
import { a2aSending, nodeCanceled, nodeStarted } from './run-steps.js';
import { templateWarnings } from './template-warnings.js';
import type { Timer } from './timers.js';
import type { WorkflowRevision } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** Event for which a run waits: an update of a call, a due time, or room for nodes. */
type News = ChildNews | 'time' | 'room';

/** Executes a turn of a run, or the rest of one. Instances with a result in `reused` are not executed. */
export class WorkflowRun extends Process<RunState> {
  protected override calls: RunCalls;
  private readonly inbox = new Inbox<News>();
  private readonly questions = new QuestionWatch();
  private readonly alarm: RunAlarm;
  private readonly graph: WorkflowGraph;
  private readonly evaluation: RunEvaluation;
  private readonly work: RunWork;
  private readonly room: RunRoom;
  private readonly outcomes: NodeOutcomes;
  private readonly decisions: RunDecisions;
  private readonly reused: ReusedResults | undefined;
  /** Reason why the run cannot continue, such as a rerun whose origin is gone. */
  private readonly fault: string | undefined;
  private signal: AbortSignal;
  private answerTaken = false;

  constructor(
    private readonly services: RunServices,
    private readonly begun: RunStart,
    private readonly workflow: WorkflowRevision,
    origin?: RerunOrigin,
  ) {
    const { context, fold } = begun;
    const { state } = fold;
    super(context, state);
    const { clock, content } = services;
    this.graph = state.graph;
    this.alarm = new RunAlarm(clock, () => void this.inbox.put('time'));
    this.signal = context.signal;
    this.work = services.work.join(placeOf(services.chains, begun), () => void this.inbox.put('room'));
    this.room = new RunRoom(this.work, state.frontier.sets);
    this.evaluation = new RunEvaluation(state, knownRun(context.taskId, workflow, fold.first), this.work.steps);
    const run = { reference: context, state, evaluation: this.evaluation, clock, content };
    this.outcomes = new NodeOutcomes(run);
    this.decisions = new RunDecisions({ ...run, outcomes: this.outcomes });
    this.calls = this.newCalls();
    const rerun = rerunOf(fold.first);
    this.reused = rerun && origin && reusedResults(rerun, origin, { state, evaluation: this.evaluation });
    if (rerun && !rerun.all && origin === undefined) this.fault = `the run ${rerun.origin} is not kept any more`;
  }

  override async *events(): AsyncGenerator<TaskEvent, void, undefined> {
    try {
      yield* super.events();
    } finally {
      this.alarm.forget();
      this.work.leave();
      if (this.state.status === 'input-required') void this.services.folds.keep(this.context, this.begun.fold);
    }
  }

  protected override next(): Steps {
    const { graph, state, evaluation } = this;
    const fault = graph.fault?.message ?? evaluation.fault ?? this.fault;
    if (fault !== undefined) return this.end('failed', { fault });
    if (isBeingCanceled(state)) return this.cancel();
    const full = state.isNearlyFull ? undefined : this.context.places?.nearlyFull();
    if (full) return [this.note(nearlyFullNote(full))];
    if (evaluation.isNeeded && this.work.steps.isOwing) return new EvaluationTurn(this.work.steps, this.signal);
    return this.steps(planNext(state, this.services.clock.now()));
  }

  /** Executes the first pending part of a plan. Unneeded nodes stop after new work has begun, unless the run fails. */
  private steps({ stop, report, decide, answer, fire, start: ready, outcome, wakeAt }: Plan): Steps {
    const { state, calls } = this;
    const start = this.room.admit(ready);
    const { isStruck, unsent } = state.frontier;
    if (stop.length > 0 && isStruck) return this.stop(stop);
    if (report.length > 0) return this.report(report);
    if (decide.length > 0) return this.decide(decide);
    if (state.undelivered && !this.answerTaken) return this.answer(answer);
    const due = calls.times.due(fire, this.services.clock.now());
    if (due.length > 0) return this.fire(due);
    if (start.length > 0) return this.start(start);
    if (unsent.length > 0) return this.announce(unsent);
    const unmade = calls.unmade.filter((node) => !stop.includes(node));
    if (stop.length > 0) return this.stop(stop, unmade);
    if (unmade.length > 0 || outcome === undefined) return this.listen(unmade, wakeAt);
    return outcome === 'input-required' ? this.rest(wakeAt) : this.end(outcome, { wakeAt });
  }

  protected override async *cancel(): AsyncGenerator<TaskEvent> {
    const { state } = this;
    const isEnding = (): boolean => state.frontier.ending === 'canceled';
    if (isEnding()) return yield* this.exits();
    const earlier = isBeingCanceled(state) ? canceledChildren(state.instances.values()) : [];
    const children = await this.calls.cancel(state.frontier.active);
    for (const child of children) yield this.canceled(child);
    if (this.graph.exits.size > 0 && state.frontier.ending === undefined)
      yield this.note(runEnding.note({ outcome: 'canceled' }));
    if (isEnding()) yield* this.exits();
    else yield* this.lastStatusText(canceledEvents(this.context, state, [...earlier, ...children]));
  }

  /** Runs the `onExit` nodes of a canceled run. Their calls are not canceled with the run. */
  private async *exits(): AsyncGenerator<TaskEvent> {
    const context = exitContext(this.context);
    this.signal = context.signal;
    this.calls.abort();
    this.calls = this.newCalls(context);
    while (this.state.status !== 'canceled') yield* this.steps(planNext(this.state, this.services.clock.now()));
  }

  private *report(skips: readonly Skips[]): Generator<TaskEvent> {
    for (const { because, instances } of skips) yield this.note(nodeSkipped.note({ because, instances }));
  }

  private async *decide(decisions: readonly Decision[]): AsyncGenerator<TaskEvent> {
    const pace = this.newPace();
    for (const decision of decisions) {
      const events = this.decisions.decide(decision);
      yield* 'node' in decision ? this.settling(decision.node, events) : this.recorded(events);
      // A failure has skipped the other nodes: a list must not start now.
      if (this.state.frontier.isStruck) return;
      if (pace.isDue) await pace.rest();
    }
  }

  private async *start(nodes: readonly NodeRun[]): AsyncGenerator<TaskEvent> {
    const pace = this.newPace();
    for (const node of nodes) {
      if (pace.isDue) await pace.rest();
      const { status, waitsFor, attempts, list, each } = node;
      // A node that failed at once may have ended the run for the nodes after it.
      if (status !== 'pending' && waitsFor === undefined) continue;
      const reused = attempts === 0 ? this.reused?.of(node) : undefined;
      if (reused) {
        yield* this.settling(node, this.outcomes.reused(node, reused));
        continue;
      }
      yield this.note(nodeStarted.note(node, { attempt: attempts + 1 }));
      if (attempts === 0 && list === undefined) yield* this.warn(node);
      if (each === undefined && !isOwn(node)) yield* this.announce([node]);
    }
  }

  private *warn(node: NodeRun): Generator<TaskEvent> {
    const warnings = templateWarnings(this.graph.node(node.id), this.evaluation.source(node));
    for (const warning of warnings) yield this.note(warning);
  }

  private *announce(nodes: readonly NodeRun[]): Generator<TaskEvent> {
    for (const node of nodes) {
      const over = this.calls.lookNoMore(node);
      const call = this.calls.announce(node);
      const error = `no URL for node "${node.id}"`;
      if (call) yield withJob(this.note(a2aSending.note(node, call)), over);
      else yield* this.recorded(this.outcomes.failed(node, { kind: 'refused', error, message: error }));
    }
  }

  private *answer(answered: readonly NodeRun[]): Generator<TaskEvent> {
    this.answerTaken = true;
    yield* this.announce(answered);
  }

  private async *fire(timers: readonly Timer[]): AsyncGenerator<TaskEvent> {
    for (const { kind, at, node } of timers) {
      if (kind === 'deadline') yield this.deadline(at);
      else if (node && kind === 'wait') yield* this.settling(node, this.decisions.waited(node));
      else if (node && kind === 'timeout') yield* this.timedOut(node);
      else if (node && kind === 'question') yield* this.unanswered(node);
      if (this.state.frontier.isStruck) return;
    }
  }

  private deadline(at: number): TaskEvent {
    const message = `the run was not done within ${this.state.definition.deadline ?? ''}`;
    return this.note(runDeadline.note({ at: new Date(at).toISOString(), failure: { kind: 'deadline', message } }));
  }

  private async *timedOut(node: NodeRun): AsyncGenerator<TaskEvent> {
    const error = `timeout: not finished within ${(durationOf(this.graph.node(node.id).timeout) ?? 0) / 1_000} s`;
    yield* this.givenUp(node, this.calls.refusal(node) ?? { kind: 'timeout', error });
  }

  /** Gives up an attempt whose time, or whose question's time, is over. */
  private async *givenUp(node: NodeRun, attempt: AttemptFailure): AsyncGenerator<TaskEvent> {
    yield* withFirstJob(this.settling(node, this.outcomes.failed(node, attempt)), await this.calls.giveUp(node));
  }

  /**
   * Ends an overdue question: sends the default answer, else fails the node. At the end of a run the node always fails.
   */
  private async *unanswered(node: NodeRun): AsyncGenerator<TaskEvent> {
    if (this.state.frontier.ending) return yield* this.givenUp(node, CANNOT_ASK);
    const { deadline = '', default: answer } = this.graph.node(node.id).onWait ?? {};
    const parts = answer === undefined ? undefined : [typeof answer === 'string' ? textPart(answer) : dataPart(answer)];
    const over = this.calls.lookNoMore(node);
    const call = parts && this.calls.announce(node, parts);
    if (call) return yield withJob(this.note(a2aSending.note(node, call)), over);
    yield* this.givenUp(node, { kind: 'timeout', error: `nobody answered within ${deadline}` });
  }

  /** Makes announced calls, and waits for an update of any call or for a time. */
  private async *listen(unmade: readonly NodeRun[], wakeAt: number | undefined): AsyncGenerator<TaskEvent> {
    if (unmade.length > 0) await this.calls.launch(unmade);
    const { clock } = this.services;
    const lookAt = this.questions.next(this.state.frontier.has('input-required'), clock.now());
    this.alarm.setTo(earliest(wakeAt, lookAt, this.calls.times.next(clock.now())));
    const news = await this.inbox.take(this.signal);
    if (this.questions.isDue(clock.now())) yield* this.resume((await this.lookAtAsking()).movedOn);
    yield* this.applyAll(news);
  }

  /** Applies all updates that have arrived. Stops after a failure, which may stop the other nodes. */
  private async *applyAll(first: News): AsyncGenerator<TaskEvent> {
    const pace = this.newPace();
    for (let news: News | undefined = first; news !== undefined; news = this.inbox.poll()) {
      if (typeof news === 'string') continue;
      const { node, attempt } = news;
      // The call was given up meanwhile.
      if (node.status !== 'running' || node.waitsFor !== undefined || node.attempts !== attempt) continue;
      yield* this.apply(news);
      if (this.state.instance(node.instance).status === 'failed') return;
      if (pace.isDue) await pace.rest();
    }
  }

  private *apply(news: ChildNews): Generator<TaskEvent> {
    const { node, ending } = news;
    if (ending?.kind === 'moved-on') return yield* this.resume([node]);
    const steps = childSteps(this.context, this.outcomes, news);
    if (ending?.kind === 'failed' && ending.isLeft)
      return yield* withFirstJob(this.settling(node, steps), this.calls.giveUpOpen(node));
    const isOpen = ending === undefined || ending.kind === 'waiting';
    if (!isOpen) this.calls.close(node);
    const look = this.calls.lookLater(news);
    for (const event of this.settling(node, steps, isOpen))
      yield node.status === 'input-required' ? withJob(event, look) : event;
    if (ending) this.calls.close(node);
  }

  /** Ends the turn, unless a pending question has been withdrawn meanwhile. */
  private async *rest(wakeAt: number | undefined): AsyncGenerator<TaskEvent> {
    const { movedOn, sequences: children } = await this.lookAtAsking();
    if (movedOn.length > 0) return yield* this.resume(movedOn);
    const { taskId: runId } = this.context;
    for (const event of this.end('input-required', { wakeAt })) yield lookingAgain(event, { runId, children });
  }

  /** Polls the children that ask. Flushes first, because a local agent's question arrives before it is durable. */
  private async lookAtAsking(): ReturnType<RunCalls['lookAtAsking']> {
    const { waiting } = this.state.frontier;
    if (waiting.length > 0) await this.context.flush();
    return this.calls.lookAtAsking(waiting);
  }

  private *resume(nodes: readonly NodeRun[]): Generator<TaskEvent> {
    for (const node of nodes) {
      const over = this.calls.lookNoMore(node);
      const resumed = this.note(nodeResumed.note(node, { ...(node.taskId !== undefined && { taskId: node.taskId }) }));
      yield withJob(resumed, over);
      this.calls.resume(node);
    }
  }

  /** @param unmade calls to make first */
  private async *stop(nodes: readonly NodeRun[], unmade: readonly NodeRun[] = []): AsyncGenerator<TaskEvent> {
    if (unmade.length > 0) await this.calls.launch(unmade);
    // A replica that recovers the run must not find a canceled Task that the run still needs.
    await this.context.flush();
    const stopped = await this.calls.cancel(nodes);
    for (const child of stopped) yield this.canceled(child);
  }

  /** Records a canceled child. The job that repeats a failed cancel commits with this event. */
  private canceled(child: CanceledChild): TaskEvent {
    const { node, instance = node, agentUrl, taskId, outcome } = child;
    const payload = { url: agentUrl, outcome, ...(taskId !== undefined && { taskId }) };
    const event = stepEvent(this.context, nodeCanceled.note(this.state.instance(instance), payload));
    const again = this.calls.cancelAgain(child);
    return this.record(again ? { ...event, jobs: [again] } : event);
  }

  /**
   * Ends the turn.
   * @param because `fault`: reason other than a node's failure; `wakeAt`: time of the next work
   */
  private *end(outcome: RunOutcome, { fault, wakeAt }: { fault?: string; wakeAt?: number }): Generator<TaskEvent> {
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

  /** Ends a run that has exceeded a limit, and cancels its children. */
  protected override async *fail(error: unknown): AsyncGenerator<TaskEvent> {
    if (!(error instanceof ContentTooLarge)) throw error;
    yield super.record(await endOverLimit(this.context, this.state, this.calls, error.message));
  }

  /** Records last events. An end that is too large is shortened, because the log already has its content. */
  private *lastStatusText(events: readonly TaskEvent[]): Generator<TaskEvent> {
    const fits = this.state.size <= this.services.content.artifact;
    for (const event of events) yield this.record(fits && isAdmitted(this.context, event) ? event : shortened(event));
  }

  /**
   * Records the events of a node. An event that is too large for the run fails the node.
   * @param isCalled true if its agent is still working, or asks a question
   */
  private *settling(node: NodeRun, events: Generator<TaskEvent>, isCalled = false): Generator<TaskEvent> {
    try {
      yield* this.recorded(events);
    } catch (error) {
      if (!(error instanceof ContentTooLarge)) throw error;
      const failed = this.outcomes.failed(node, { kind: 'refused', error: error.message });
      yield* withFirstJob(this.recorded(failed), isCalled ? this.calls.giveUpOpen(node) : undefined);
    }
  }

  private *recorded(events: Generator<TaskEvent>): Generator<TaskEvent> {
    this.evaluation.begin();
    for (const event of events) yield this.record(event);
  }

  private note(note: RunEventNote): TaskEvent {
    return this.record(stepEvent(this.context, note));
  }

  /** Records an event. @throws ContentTooLarge if it is too large for the run */
  protected override record(event: TaskEvent): TaskEvent {
    this.context.admit(event);
    const recorded = super.record(event);
    this.services.metrics?.recorded(event, this.state);
    return recorded;
  }

  private readonly newPace = (): RunPace => new RunPace(this.work, this.evaluation.isNeeded, this.signal);

  private newCalls(context = this.context): RunCalls {
    const { services, state, graph, evaluation, workflow } = this;
    const run = { context, links: this.begun.links, state, graph, evaluation, revision: workflow.revision };
    const whole = { ...run, room: this.room, newPace: this.newPace };
    return new RunCalls(services, whole, (news) => this.inbox.put(news));
  }
}
