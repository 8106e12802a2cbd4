import { type RunEventNote, statusUpdate, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowFailure } from '#libs/workflow-definition';
import { stepEvent } from '../execution/run-ending.js';
import type { Decision, Plan } from '../state/frontier.js';
import type { LoopRun, NodeInstance } from '../state/node-instance.js';
import { RunState, planNext } from '../state/run-state.js';
import {
  a2aReceived,
  a2aSending,
  eachStarted,
  loopEnded,
  loopNext,
  nodeCanceled,
  nodeCompleted,
  nodeError,
  nodeRetrying,
  nodeSkipped,
  nodeStarted,
  nodeWaiting,
  runDeadline,
  runEnding,
} from '../state/run-steps.js';
import type { Timer } from '../state/timers.js';
import type { Fate } from './fate.js';

const REFERENCE = { taskId: 'run', contextId: 'context' };
const URL = 'http://127.0.0.1';

/** Executes the plans of a run without making calls. What agents, expressions and the clock do is chosen by `fate`. */
export class PlayedRun {
  readonly state: RunState;
  readonly log: TaskEvent[] = [];
  /** The started instances, each as often as it was started. */
  readonly started: NodeInstance[] = [];
  now = Date.parse('2026-01-01T00:00:00Z');
  outcome?: Plan['outcome'];
  private turn = 0;

  /**
   * @param order decides the order in which things happen
   * @param watcher called for each instance that is about to start, and after each event
   */
  constructor(
    readonly definition: WorkflowDefinition,
    private readonly fate: Fate,
    private readonly order: Fate,
    private readonly watcher: {
      beforeStart?: (node: NodeInstance, run: PlayedRun) => void;
      applied?: (run: PlayedRun) => void;
    } = {},
  ) {
    this.state = new RunState(definition);
    const status = { state: 'TASK_STATE_SUBMITTED' as const, timestamp: this.time };
    this.apply({ task: { id: 'run', contextId: 'context', status, history: [userMessage('hello')] } });
  }

  /** Executes at most `most` steps. @returns true if the run has ended */
  play(most = 5_000): boolean {
    for (let step = 0; step < most && this.outcome === undefined; step++) this.step();
    return this.outcome !== undefined;
  }

  step(): void {
    this.turn += 1;
    this.now += 10;
    const plan = planNext(this.state, this.now);
    const [stopped] = plan.stop;
    const [skips] = plan.report;
    const [decision] = plan.decide;
    const [timer] = plan.fire;
    if (stopped) this.emit(nodeCanceled.createNote(stopped, { outcome: 'acknowledged' }));
    else if (skips) this.emit(nodeSkipped.createNote(skips));
    else if (decision) this.decide(decision);
    else if (plan.answer.length > 0) for (const node of plan.answer) this.send(node, true);
    else if (timer) this.fire(timer);
    else if (plan.start.length > 0) this.start(plan.start);
    else if (this.state.frontier.undispatchedNodes[0]) this.send(this.state.frontier.undispatchedNodes[0]);
    else if (plan.outcome === 'input-required') this.apply(this.answer());
    else if (plan.outcome !== undefined && plan.outcome !== 'parked') this.outcome = plan.outcome;
    else if (this.receive()) return;
    else if (plan.wakeAt !== undefined) this.now = plan.wakeAt;
    else throw new Error(`Nothing is left to do, and no outcome: ${JSON.stringify(plan)}`);
  }

  private get time(): string {
    return new Date(this.now).toISOString();
  }

  private emit(note: RunEventNote): void {
    const event = stepEvent(REFERENCE, note);
    if ('statusUpdate' in event) event.statusUpdate.status.timestamp = this.time;
    this.apply(event);
  }

  private apply(event: TaskEvent): void {
    this.log.push(JSON.parse(JSON.stringify(event)) as TaskEvent);
    this.state.apply(event);
    this.watcher.applied?.(this);
  }

  private answer(): TaskEvent {
    return { ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'), received: userMessage('this') };
  }

  private start(nodes: readonly NodeInstance[]): void {
    for (const node of nodes.slice(0, 1 + this.order(`start ${this.turn}`, nodes.length))) {
      this.watcher.beforeStart?.(node, this);
      this.started.push(node);
      this.emit(nodeStarted.createNote(node, { attempt: node.attempts + 1 }));
    }
  }

  private send(node: NodeInstance, isAnswer = false): void {
    const messageId = `${node.instance}-${node.attempts}-${this.turn}`;
    this.emit(a2aSending.createNote(node, { url: URL, messageId, ...(isAnswer && { taskId: node.instance }) }));
  }

  private decide(decision: Decision): void {
    if (decision.kind === 'ending') return this.emit(runEnding.createNote({ outcome: decision.outcome }));
    if (decision.kind === 'loop') return this.decideLoop(decision.loop, decision.failed);
    const { node, kind } = decision;
    if (kind === 'own' && node.type === 'wait') {
      const until = new Date(this.now + 10_000).toISOString();
      return this.emit(nodeWaiting.createNote(node, { until }));
    }
    if (kind === 'own') return this.complete(node);
    if (kind === 'list') return this.endList(node);
    if (this.fate(`items of ${node.instance} fail`, 8) === 0) return this.fail(node);
    const length = this.fate(`items of ${node.instance}`, 6);
    return this.emit(eachStarted.createNote(node, { items: Array.from({ length }, (_, index) => index) }));
  }

  private endList(node: NodeInstance): void {
    const tolerates = this.state.graph.node(node.id).each?.onFailure === 'collect';
    if (node.each?.firstFailed && !tolerates) this.fail(node);
    else this.complete(node);
  }

  private decideLoop(run: LoopRun, failed: boolean): void {
    const { loop, path, iteration } = run;
    const node = this.state.getNode(loop.from);
    const place = { edge: loop.index, path: [...path] };
    const key = `loop ${loop.index}@${path.join('@')}@${iteration}`;
    const { delay, max_iterations } = loop.config;
    if (failed) return this.endLoop(run, 'failure');
    if (this.fate(`${key} errs`, 10) === 0) return this.endLoop(run, 'failure', this.failure(node));
    if (this.fate(`${key} exits`, 3) === 0) return this.endLoop(run, 'exit_when');
    if (iteration >= max_iterations)
      return this.endLoop(run, 'max', this.fate(`${key} fails`, 4) === 0 ? this.failure(node) : undefined);
    const at = delay === undefined ? undefined : new Date(this.now + 60_000).toISOString();
    return this.emit(loopNext.createNote(node, { ...place, iteration: iteration + 1, ...(at && { at }) }));
  }

  private endLoop(run: LoopRun, reason: 'exit_when' | 'max' | 'failure', failure?: WorkflowFailure): void {
    const { loop, path, iteration } = run;
    const taken = this.state
      .choosableExits(run, failure !== undefined)
      .flatMap((choice) => (choice.taken ? choice.taken : this.choose(choice.node, choice.edges)));
    const place = { edge: loop.index, path: [...path] };
    const node = this.state.getNode(loop.from);
    this.emit(
      loopEnded.createNote(node, { ...place, reason, iterations: iteration, taken, ...(failure && { failure }) }),
    );
  }

  /**
   * Returns the taken edges. An edge with a condition is taken if `fate` says so. An edge without a condition is always
   * taken; with `branch: first`, only if no other edge is.
   */
  private choose(
    { id, instance }: NodeInstance,
    edges: readonly { index: number; edge: { when?: string } }[],
  ): number[] {
    const holds = edges.filter(
      ({ index, edge }) => edge.when === undefined || this.fate(`${instance} ${index}`, 2) === 0,
    );
    if (this.state.graph.node(id).branch !== 'first') return holds.map(({ index }) => index);
    const first = holds.find(({ edge }) => edge.when !== undefined) ?? holds[0];
    return first ? [first.index] : [];
  }

  private fire({ kind, node }: Timer): void {
    if (kind === 'deadline') {
      const failure = { kind: 'deadline' as const, message: 'too late' };
      return this.emit(runDeadline.createNote({ at: this.time, failure }));
    }
    if (node === undefined) return undefined;
    return kind === 'wait' ? this.complete(node) : this.fail(node);
  }

  /** Gives one open call a result. @returns false if no call is open */
  private receive(): boolean {
    const busy = this.state.frontier.running.filter((node) => node.waitsFor === undefined && node.each === undefined);
    const node = busy[this.order(`receive ${this.turn}`, busy.length)];
    if (node === undefined) return false;
    const { instance, attempts } = node;
    const how = this.fate(`end of ${instance}#${attempts}`, 8);
    if (how === 0) this.fail(node);
    else if (how === 1 && this.order(`ask ${this.turn}`, 3) === 0)
      this.emit(
        a2aReceived.createNote(node, { url: URL, status: 'input-required', message: '', question: [], taskId: 't' }),
      );
    else this.complete(node);
    return true;
  }

  private complete(node: NodeInstance): void {
    const edges = this.state.choosableEdges(node, 'completed');
    const taken = edges && this.choose(node, edges);
    this.emit(nodeCompleted.createNote(node, { status: 'completed', artifacts: [], ...(taken && { taken }) }));
  }

  private fail(node: NodeInstance): void {
    const { attempts, each } = node;
    const failure = this.failure(node);
    const most = this.state.graph.node(node.id).retry?.attempts ?? 1;
    if (attempts < most && each === undefined) {
      const retryAt = new Date(this.now + 5_000).toISOString();
      return this.emit(nodeRetrying.createNote(node, { attempt: attempts, failure, retryAt }));
    }
    const edges = this.state.choosableEdges(node, 'failed');
    const taken = edges && this.choose(node, edges);
    return this.emit(nodeError.createNote(node, { error: 'boom', message: 'boom', failure, ...(taken && { taken }) }));
  }

  private failure({ id, instance }: NodeInstance): WorkflowFailure {
    return { kind: 'failed', message: 'boom', node: id, instance };
  }
}
