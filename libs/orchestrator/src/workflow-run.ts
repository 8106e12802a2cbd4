import { type Hop, type RequestContext, TaskCanceled } from '#libs/executor';
import { ContentTooLarge, type RunEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { ChildEnding } from './child-ending.js';
import { Inbox } from '#libs/process';
import type { CanceledChild, NodeRun } from './node-run.js';
import { isBeingCanceled, planNext, type RunOutcome } from './plan-next.js';
import { answeredNodes } from './run-answer.js';
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
import { logFailure } from './run-failure-log.js';
import type { RunState } from './run-state.js';
import { a2aReceived, a2aSending, nodeCanceled, nodeError, nodeStarted } from './run-steps.js';
import { templateWarnings } from './template-warnings.js';
import type { WorkflowGraph } from './workflow-graph.js';

/** A run, or the rest of one, from where its log ends. */
export interface WorkflowRunStart {
  context: RequestContext;
  /** The log so far. */
  state: RunState;
  revision: string;
  /** The calls that led to this run. */
  hops: readonly Hop[];
}

/**
 * One turn of a run. What is to do next follows from the folded log alone, whether this process wrote it or another:
 * the loop does that one thing, yields what came of it, and looks again.
 */
export class WorkflowRun {
  private readonly inbox = new Inbox<ChildNews>();
  private readonly calls: RunCalls;
  private readonly context: RequestContext;
  private readonly graph: WorkflowGraph;
  private readonly state: RunState;
  private answerTaken = false;

  constructor(
    private readonly services: RunServices,
    start: WorkflowRunStart,
  ) {
    this.context = start.context;
    this.state = start.state;
    this.graph = start.state.graph;
    this.calls = new RunCalls(services, { ...start, graph: this.graph }, (news) => this.inbox.put(news));
  }

  async *events(): AsyncGenerator<TaskEvent> {
    try {
      if (isBeingCanceled(this.graph, this.state)) yield* this.cancel(canceledChildren(this.state.nodes.values()));
      else yield* this.advance();
    } catch (error) {
      if (!(this.context.signal.reason instanceof TaskCanceled)) throw error;
      yield* this.cancel();
    } finally {
      this.calls.abort();
    }
  }

  private async *advance(): AsyncGenerator<TaskEvent> {
    const { signal } = this.context;
    for (;;) {
      signal.throwIfAborted();
      const { stop, ready, outcome } = planNext(this.graph, this.state);
      const { unsent } = this.state.frontier;
      const { unmade } = this.calls;
      if (stop.length > 0) yield* this.stop(stop);
      else if (this.state.undelivered && !this.answerTaken) yield* this.answer();
      else if (ready.length > 0) yield* this.start(ready);
      else if (unsent.length > 0) yield* this.announce(unsent);
      else if (unmade.length > 0) await this.calls.launch(unmade);
      else if (outcome === undefined) yield* this.hearAll(await this.inbox.take(signal));
      else return yield* this.end(outcome);
    }
  }

  private *start(ids: readonly string[]): Generator<TaskEvent> {
    for (const id of ids) {
      const node = this.state.node(id);
      // One that failed at once may have ended the run for those after it.
      if (node.status !== 'pending') continue;
      yield this.step(nodeStarted.note(node, { attempt: node.attempts + 1 }));
      for (const warning of templateWarnings(this.graph.node(id), this.state)) yield this.step(warning);
      yield* this.announce([node]);
    }
  }

  private *announce(nodes: readonly NodeRun[]): Generator<TaskEvent> {
    for (const node of nodes) {
      const call = this.calls.announce(node);
      if (call) yield this.step(a2aSending.note(node, call));
      else yield this.fail(node, `no URL for node "${node.id}"`, `no URL for node "${node.id}"`);
    }
  }

  private *answer(): Generator<TaskEvent> {
    this.answerTaken = true;
    const { received, frontier } = this.state;
    if (received === undefined) return;
    const { waiting } = frontier;
    const ids = waiting.map(({ id }) => id);
    const answered = new Set(answeredNodes(received, ids));
    yield* this.announce(waiting.filter(({ id }) => answered.has(id)));
  }

  /** What came in together is heard before it is planned again; not beyond a failure, which may stop the others. */
  private *hearAll(first: ChildNews): Generator<TaskEvent> {
    for (let news: ChildNews | undefined = first; news !== undefined; news = this.inbox.poll()) {
      yield* this.hear(news);
      if (this.state.node(news.nodeId).status === 'failed') return;
    }
  }

  private *hear(news: ChildNews): Generator<TaskEvent> {
    try {
      yield* this.take(news);
    } catch (error) {
      if (!(error instanceof ContentTooLarge)) throw error;
      const node = this.state.node(news.nodeId);
      if (news.ending === undefined) this.calls.giveUp(node);
      yield this.fail(node, error.message, `node "${node.id}": ${error.message}`);
    }
  }

  private *take(news: ChildNews): Generator<TaskEvent> {
    const node = this.state.node(news.nodeId);
    const { step, ending } = news;
    if (step) yield this.step({ type: step.type, node_id: node.id, node_type: node.type, payload: step.payload });
    if (ending === undefined) return;
    this.calls.close(node.id);
    if (ending.status !== undefined) yield this.received(node, news, ending);
    if (ending.kind === 'completed') {
      yield this.record(completedEvent(this.context, this.graph, node, ending.status, ending.artifacts));
    }
    if (ending.kind === 'failed') yield this.fail(node, ending.error, `node "${node.id}": ${ending.error}`);
  }

  private received(node: NodeRun, { url, taskId, contextId }: ChildNews, ending: ChildEnding): TaskEvent {
    const count = ending.kind === 'completed' ? ending.artifacts.length : 0;
    const status = ending.status ?? '';
    return this.step(
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

  private fail(node: NodeRun, error: string, message: string): TaskEvent {
    return this.step(nodeError.note(node, { error, message }));
  }

  private async *stop(ids: readonly string[]): AsyncGenerator<TaskEvent> {
    const stopped = await this.calls.cancel(ids.map((id) => this.state.node(id)));
    for (const child of stopped) yield this.canceled(child);
  }

  /** @param earlier what an execution before this one canceled already */
  private async *cancel(earlier: readonly CanceledChild[] = []): AsyncGenerator<TaskEvent> {
    const children = await this.calls.cancel(this.state.frontier.active);
    for (const child of children) yield this.canceled(child);
    yield* this.lastWords(canceledEvents(this.context, this.state, [...earlier, ...children]));
  }

  /** With what is to be tried again: it commits with the outcome that wants it. */
  private canceled(child: CanceledChild): TaskEvent {
    const { node, agentUrl, taskId, outcome } = child;
    const payload = { url: agentUrl, outcome, ...(taskId !== undefined && { taskId }) };
    const event = stepEvent(this.context, nodeCanceled.note(this.state.node(node), payload));
    const again = this.calls.cancelAgain(child);
    return this.record(again ? { ...event, jobs: [again] } : event);
  }

  private *end(outcome: RunOutcome): Generator<TaskEvent> {
    const { context, state, graph } = this;
    if (outcome === 'failed') logFailure(context.taskId, state);
    const events = {
      completed: () => completedEvents(context, graph, state),
      failed: () => failedEvents(context, state),
      'input-required': () => waitingEvents(context, state),
    }[outcome]();
    yield* this.lastWords(events);
  }

  /** What the log says already is left out of an end that would be too large. */
  private *lastWords(events: readonly TaskEvent[]): Generator<TaskEvent> {
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

  private step(note: RunEventNote): TaskEvent {
    return this.record(stepEvent(this.context, note));
  }

  private record(event: TaskEvent): TaskEvent {
    this.context.admit(event);
    this.state.apply(event);
    return event;
  }
}

function canceledChildren(nodes: Iterable<NodeRun>): CanceledChild[] {
  return [...nodes].flatMap(({ id, agentUrl = '', taskId, cancelOutcome: outcome }) =>
    outcome === undefined ? [] : [{ node: id, agentUrl, ...(taskId !== undefined && { taskId }), outcome }],
  );
}
