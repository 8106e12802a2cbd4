import { Logger } from '@nestjs/common';
import { Inbox, Process, type ProcessStart, type Steps } from '#libs/process';
import { briefText, ContentTooLarge, type RunEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { ChildEnding } from './child-ending.js';
import type { CanceledChild, NodeRun } from './node-run.js';
import type { RunOutcome } from './plan.js';
import { isBeingCanceled, planNext } from './plan-next.js';
import { type ChildNews, RunCalls } from './run-calls.js';
import {
  canceledEvents,
  completedEvent,
  completedEvents,
  failedEvents,
  shortened,
  stepEvent,
  waitingEvents,
} from './run-ending.js';
import type { RunServices } from './run-services.js';
import { RunState } from './run-state.js';
import { a2aReceived, a2aSending, nodeCanceled, nodeError, nodeStarted } from './run-steps.js';
import { templateWarnings } from './template-warnings.js';
import type { WorkflowRevision } from './workflow.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** One turn of a run, or the rest of one. */
export class WorkflowRun extends Process<RunState> {
  protected override readonly calls: RunCalls;
  private readonly logger = new Logger('Runs');
  private readonly inbox = new Inbox<ChildNews>();
  private readonly graph: WorkflowGraph;
  private answerTaken = false;

  constructor(
    private readonly services: RunServices,
    { context, log, links }: ProcessStart,
    { definition, revision }: WorkflowRevision,
  ) {
    const state = RunState.of(definition, log);
    super(context, state);
    this.graph = state.graph;
    this.calls = new RunCalls(services, { context, state, graph: state.graph, revision, links }, (news) =>
      this.inbox.put(news),
    );
  }

  protected override next(): Steps {
    const { graph, state } = this;
    if (graph.fault) return this.end('failed', graph.fault.message);
    if (isBeingCanceled(state)) return this.cancel();
    const { stop, start, answer, outcome } = planNext(state, Date.now());
    const { unsent } = state.frontier;
    const { unmade } = this.calls;
    if (stop.length > 0) return this.stop(stop);
    if (state.undelivered && !this.answerTaken) return this.answer(answer);
    if (start.length > 0) return this.start(start);
    if (unsent.length > 0) return this.announce(unsent);
    return unmade.length > 0 || outcome === undefined ? this.listen(unmade) : this.end(outcome);
  }

  protected override async *cancel(): AsyncGenerator<TaskEvent> {
    const { state } = this;
    const earlier = isBeingCanceled(state) ? canceledChildren(state.nodes.values()) : [];
    const children = await this.calls.cancel(state.frontier.active);
    for (const child of children) yield this.canceled(child);
    yield* this.lastStatusText(canceledEvents(this.context, state, [...earlier, ...children]));
  }

  private *start(nodes: readonly NodeRun[]): Generator<TaskEvent> {
    for (const node of nodes) {
      // One that failed at once may have ended the run for those after it.
      if (node.status !== 'pending') continue;
      yield this.note(nodeStarted.note(node, { attempt: node.attempts + 1 }));
      for (const warning of templateWarnings(this.graph.node(node.id), this.state)) yield this.note(warning);
      yield* this.announce([node]);
    }
  }

  private *announce(nodes: readonly NodeRun[]): Generator<TaskEvent> {
    for (const node of nodes) {
      const call = this.calls.announce(node);
      if (call) yield this.note(a2aSending.note(node, call));
      else yield this.failed(node, `no URL for node "${node.id}"`, `no URL for node "${node.id}"`);
    }
  }

  private *answer(answered: readonly NodeRun[]): Generator<TaskEvent> {
    this.answerTaken = true;
    yield* this.announce(answered);
  }

  /** Makes the calls that are announced, and waits for what comes of any. */
  private async *listen(unmade: readonly NodeRun[]): AsyncGenerator<TaskEvent> {
    if (unmade.length > 0) await this.calls.launch(unmade);
    yield* this.applyAll(await this.inbox.take(this.context.signal));
  }

  /** What came in together is heard before it is planned again; not beyond a failure, which may stop the others. */
  private *applyAll(first: ChildNews): Generator<TaskEvent> {
    for (let news: ChildNews | undefined = first; news !== undefined; news = this.inbox.poll()) {
      yield* this.apply(news);
      if (this.state.node(news.nodeId).status === 'failed') return;
    }
  }

  private *apply(news: ChildNews): Generator<TaskEvent> {
    try {
      yield* this.take(news);
    } catch (error) {
      if (!(error instanceof ContentTooLarge)) throw error;
      const node = this.state.node(news.nodeId);
      if (news.ending === undefined) void this.calls.cancel([node]);
      yield this.failed(node, error.message, `node "${node.id}": ${error.message}`);
    }
  }

  private *take(news: ChildNews): Generator<TaskEvent> {
    const node = this.state.node(news.nodeId);
    const { step, ending } = news;
    if (step) yield this.note({ type: step.type, node_id: node.id, node_type: node.type, payload: step.payload });
    if (ending === undefined) return;
    this.calls.close(node);
    if (ending.status !== undefined) yield this.received(node, news, ending);
    if (ending.kind === 'completed') {
      yield this.record(completedEvent(this.context, this.graph, node, ending.status, ending.artifacts));
    }
    if (ending.kind === 'failed') yield this.failed(node, ending.error, `node "${node.id}": ${ending.error}`);
  }

  private received(node: NodeRun, { url, taskId, contextId }: ChildNews, ending: ChildEnding): TaskEvent {
    const count = ending.kind === 'completed' ? ending.artifacts.length : 0;
    const status = ending.status ?? '';
    return this.note(
      a2aReceived.note(node, {
        url,
        status,
        message: ending.kind === 'completed' ? `${status} (${count} artifact${count === 1 ? '' : 's'})` : status,
        ...(taskId !== undefined && { taskId }),
        ...(contextId !== undefined && { contextId }),
        ...(ending.kind === 'waiting' && { question: ending.question }),
      }),
    );
  }

  private failed(node: NodeRun, error: string, message: string): TaskEvent {
    return this.note(nodeError.note(node, { error, message }));
  }

  private async *stop(nodes: readonly NodeRun[]): AsyncGenerator<TaskEvent> {
    const stopped = await this.calls.cancel(nodes);
    for (const child of stopped) yield this.canceled(child);
  }

  /** With what is to be tried again: it commits with the outcome that wants it. */
  private canceled(child: CanceledChild): TaskEvent {
    const { node, agentUrl, taskId, outcome } = child;
    const payload = { url: agentUrl, outcome, ...(taskId !== undefined && { taskId }) };
    const event = stepEvent(this.context, nodeCanceled.note(this.state.node(node), payload));
    const again = this.calls.cancelAgain(child);
    return this.record(again ? { ...event, jobs: [again] } : event);
  }

  /** One line for whoever operates the service: which run failed, at which node, and why, in the words of the run. */
  private logFailure(fault = this.state.error?.message ?? ''): void {
    const { definition, error } = this.state;
    const node = error?.node;
    const line = { workflow: definition.name, ...(node !== undefined && { node }), cause: briefText(fault) };
    this.logger.warn({ runId: this.context.taskId, ...line }, 'A run failed');
  }

  /** @param fault why the run cannot go on, where it is no node's failure */
  private *end(outcome: RunOutcome, fault?: string): Generator<TaskEvent> {
    const { context, state, graph } = this;
    if (outcome === 'failed') this.logFailure(fault);
    const events = {
      completed: () => completedEvents(context, graph, state),
      failed: () => failedEvents(context, state, fault),
      canceled: () => canceledEvents(context, state, []),
      'input-required': () => waitingEvents(context, state),
      parked: () => waitingEvents(context, state),
    }[outcome]();
    yield* this.lastStatusText(events);
  }

  /** What the log says already is left out of an end that would be too large. */
  private *lastStatusText(events: readonly TaskEvent[]): Generator<TaskEvent> {
    const fits = this.state.size <= this.services.content.artifact;
    for (const event of events) yield this.record(fits && this.isAdmitted(event) ? event : shortened(event));
  }

  private isAdmitted(event: TaskEvent): boolean {
    try {
      this.context.admit(event);
      return true;
    } catch (error) {
      if (error instanceof ContentTooLarge) return false;
      throw error;
    }
  }

  private note(note: RunEventNote): TaskEvent {
    return this.record(stepEvent(this.context, note));
  }

  /** What a node says may be too large for the run, which is the node's failure then. */
  protected override record(event: TaskEvent): TaskEvent {
    this.context.admit(event);
    return super.record(event);
  }
}

function canceledChildren(nodes: Iterable<NodeRun>): CanceledChild[] {
  return [...nodes].flatMap(({ id, agentUrl = '', taskId, cancelOutcome: outcome }) =>
    outcome === undefined ? [] : [{ node: id, agentUrl, ...(taskId !== undefined && { taskId }), outcome }],
  );
}
