import { type JsonValue, type RunEventNote, statusUpdate, textPart, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowFailure } from '#libs/workflow-definition';
import { stepEvent } from '../execution/run-ending.js';
import type { EndingOutcome } from '../state/frontier.js';
import type { LoopReason, NodeInstance } from '../state/node-instance.js';
import { RunState, planNext } from '../state/run-state.js';
import {
  a2aReceived,
  a2aSending,
  eachStarted,
  inputRequired,
  loopEnded,
  loopNext,
  nodeCanceled,
  nodeCompleted,
  nodeError,
  nodeResumed,
  nodeRetrying,
  nodeReused,
  nodeSkipped,
  nodeStarted,
  nodeWaiting,
  runDeadline,
  runEnding,
} from '../state/run-steps.js';

const REFERENCE = { taskId: 'run', contextId: 'context' };

/** State of a run to which a test adds one event after another. */
export class SteppedRun {
  readonly state: RunState;
  readonly log: TaskEvent[] = [];
  /** Milliseconds since the run began. */
  time = 0;

  constructor(readonly definition: WorkflowDefinition) {
    this.state = new RunState(definition);
    const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: this.at() };
    this.apply({ task: { id: 'run', contextId: 'context', status, history: [userMessage('hello')] } });
  }

  /** The plan of the run without empty members. Instances are replaced by their names. */
  get plan(): object {
    const { start, stop, decide, fire, report, answer, outcome, wakeAt } = planNext(this.state, this.time);
    const lists = {
      start: names(start),
      stop: names(stop),
      decide: decide.map((it) => {
        if (it.kind === 'loop') return it.failed ? 'loop that failed' : 'loop';
        return 'node' in it ? `${it.kind} ${it.node.instance}` : it.kind;
      }),
      fire: fire.map(({ kind, node }) => (node ? `${kind} ${node.instance}` : kind)),
      report: report.map(({ because, instances }) => `${because}: ${instances.join(' ')}`),
      answer: names(answer),
    };
    const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
    return { ...Object.fromEntries(filled), ...(outcome && { outcome }), ...(wakeAt !== undefined && { wakeAt }) };
  }

  /** Returns the statuses of all instances, or of the named ones, such as `a completed, b pending`. */
  statuses(...only: string[]): string {
    const nodes = only.length === 0 ? [...this.state.instances.values()] : only.map((name) => this.node(name));
    return nodes.map(({ instance, status }) => `${instance} ${status}`).join(', ');
  }

  node(name: string): NodeInstance {
    return this.state.getInstance(name);
  }

  start(...instances: string[]): this {
    for (const name of instances)
      this.emit(nodeStarted.createNote(this.node(name), { attempt: this.node(name).attempts + 1 }));
    return this;
  }

  send(name: string): this {
    return this.emit(a2aSending.createNote(this.node(name), { url: 'http://own', messageId: 'm' }));
  }

  /** Completes an instance with the text as its result. Starts the instance first if it has not started. */
  complete(name: string, taken?: number[], text?: string): this {
    const artifacts = text === undefined ? [] : [{ artifactId: 'a', parts: [textPart(text)] }];
    return this.begun(name).emit(
      nodeCompleted.createNote(this.node(name), { status: 'completed', artifacts, ...(taken && { taken }) }),
    );
  }

  /** Fails an instance with the failure `boom`. Starts the instance first if it has not started. */
  fail(name: string, taken?: number[]): this {
    const failure: WorkflowFailure = { kind: 'failed', message: 'boom' };
    const said = { error: 'boom', message: `${name}: boom`, failure, ...(taken && { taken }) };
    return this.begun(name).emit(nodeError.createNote(this.node(name), said));
  }

  cancel(name: string): this {
    return this.emit(nodeCanceled.createNote(this.node(name), { outcome: 'acknowledged' }));
  }

  ask(name: string): this {
    const asked = { url: 'http://own', status: 'input-required', message: '', taskId: 't', question: [] };
    return this.begun(name).emit(a2aReceived.createNote(this.node(name), asked));
  }

  /** Records that the question of the instance was answered directly at its Task, and not by the run. */
  resumeNode(name: string): this {
    return this.emit(nodeResumed.createNote(this.node(name), { taskId: 't' }));
  }

  /** Records that the run asks the question of the node. */
  open(name: string): this {
    return this.emit(inputRequired.createNote(this.node(name), { question: '?' }));
  }

  receive(node?: string): this {
    const received = userMessage('this', { ...(node !== undefined && { metadata: { node } }) });
    return this.apply({ ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'), received });
  }

  retry(name: string, delay: number): this {
    const { attempts: attempt } = this.node(name);
    const failure: WorkflowFailure = { kind: 'failed', message: 'boom' };
    return this.emit(nodeRetrying.createNote(this.node(name), { attempt, failure, retryAt: this.at(delay) }));
  }

  wait(name: string, delay: number): this {
    return this.emit(nodeWaiting.createNote(this.node(name), { until: this.at(delay) }));
  }

  reuse(name: string): this {
    return this.emit(nodeReused.createNote(this.node(name), { origin: 'other', artifacts: [] }));
  }

  items(name: string, ...items: JsonValue[]): this {
    return this.begun(name).emit(eachStarted.createNote(this.node(name), { items }));
  }

  report(because: 'off', ...instances: string[]): this {
    return this.emit(nodeSkipped.createNote({ because, instances }));
  }

  /**
   * Starts the next iteration of a loop.
   * @param edge index of the back-edge in `edges`
   */
  next(edge: number, iteration: number, place: { path?: number[]; delay?: number } = {}): this {
    const { path, delay } = place;
    const said = { edge, iteration, ...(path && { path }), ...(delay !== undefined && { at: this.at(delay) }) };
    return this.emit(loopNext.createNote(this.lastOf(edge), said));
  }

  end(
    edge: number,
    reason: LoopReason,
    place: { path?: number[]; taken?: number[]; failure?: WorkflowFailure } = {},
  ): this {
    return this.emit(loopEnded.createNote(this.lastOf(edge), { edge, reason, iterations: 1, ...place }));
  }

  expire(): this {
    return this.emit(runDeadline.createNote({ at: this.at(), failure: { kind: 'deadline', message: 'too late' } }));
  }

  ending(outcome: EndingOutcome): this {
    return this.emit(runEnding.createNote({ outcome }));
  }

  private begun(name: string): this {
    return this.node(name).status === 'pending' ? this.start(name) : this;
  }

  private lastOf(edge: number): NodeInstance {
    return this.state.getNode(this.definition.edges[edge]?.from ?? '');
  }

  private emit(note: RunEventNote): this {
    const event = stepEvent(REFERENCE, note);
    if ('statusUpdate' in event) event.statusUpdate.status.timestamp = this.at();
    return this.apply(event);
  }

  private apply(event: TaskEvent): this {
    this.log.push(event);
    this.state.apply(event);
    return this;
  }

  private at(delay = 0): string {
    return new Date(this.time + delay).toISOString();
  }
}

function names(nodes: readonly NodeInstance[]): string[] {
  return nodes.map(({ instance }) => instance);
}
