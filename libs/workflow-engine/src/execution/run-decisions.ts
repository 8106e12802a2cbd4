import { addMilliseconds, LONGEST_DURATION, parseDuration } from '#libs/expressions';
import {
  dataPart,
  firstData,
  isFilePart,
  isJsonObject,
  joinedText,
  type JsonValue,
  type Part,
  type TaskReference,
  TextBudget,
  textPart,
} from '#libs/protocol';
import type { ContentLimits } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import type { EachConfig } from '#libs/workflow-definition';
import {
  ECHOES_IN_A_TASK,
  fittedInto,
  leftOutPayload,
  messageParts,
  type NodeContent,
  nodeContent,
  nodeFilling,
  saidContent,
} from '../messages/node-message.js';
import type { RunEvaluation } from '../messages/run-evaluation.js';
import { FailedExpression, type NodeFilling } from '../messages/run-expressions.js';
import type { Decision } from '../state/frontier.js';
import type { EachRun, LoopReason, LoopRun, NodeInstance } from '../state/node-instance.js';
import type { RunState } from '../state/run-state.js';
import { eachStarted, loopEnded, loopNext, nodeWaiting, partsLeftOut, runEnding } from '../state/run-steps.js';
import type { RunClock } from '../state/timers.js';
import { OutputRules } from './child-ending.js';
import { type AttemptFailure, attemptFailure, edgeErrors, loggedFailure, type NodeOutcomes } from './node-outcomes.js';
import { emptiedResultEvent, stepEvent } from './run-ending.js';

/** Members of a run that RunDecisions needs to make the run's decisions. */
interface DecidingRun {
  reference: TaskReference;
  state: RunState;
  evaluation: RunEvaluation;
  outcomes: NodeOutcomes;
  clock: RunClock;
  content: Pick<ContentLimits, 'artifact' | 'jsonMembers' | 'renderedText' | 'task'>;
}

/** Default of `each.maxItems`, the maximum number of entries of a list. */
const MAX_ITEMS = 1_000;
/** Maximum value of `each.maxItems`. */
const MOST_ITEMS = 10_000;

/**
 * Makes the decisions that a run needs to continue, and yields them as events. Record each event before you request the
 * next one.
 */
export class RunDecisions {
  constructor(private readonly run: DecidingRun) {}

  makeDecision(decision: Decision): Generator<TaskEvent> {
    switch (decision.kind) {
      case 'items':
        return this.attemptSteps(decision.node, () => this.startItems(decision.node));
      case 'list':
        return this.endList(decision.node);
      case 'own':
        return this.attemptSteps(decision.node, () => this.executeOwn(decision.node));
      case 'loop':
        return this.decideLoop(decision.loop, decision.failed);
      case 'ending':
        return this.reportEnding(decision);
    }
  }

  /** Yields the events that end a `wait` node whose time has come. */
  endWait(node: NodeInstance): Generator<TaskEvent> {
    return this.attemptSteps(node, () => {
      const { state, evaluation, content: limits } = this.run;
      const budget = new TextBudget(limits.renderedText);
      const content = nodeContent(state.graph.node(node.id), state.graph, evaluation.messageSource(node), budget);
      return this.completeWithMessage(node, content);
    });
  }

  /**
   * Yields the events of `steps`. If `steps` throws the error of an expression or of a result, the events of the failed
   * attempt follow.
   */
  private *attemptSteps(node: NodeInstance, steps: () => Generator<TaskEvent>): Generator<TaskEvent> {
    try {
      yield* steps();
    } catch (error) {
      yield* this.run.outcomes.failAttempt(node, attemptFailure(error));
    }
  }

  private *startItems(node: NodeInstance): Generator<TaskEvent> {
    const { state, evaluation, reference } = this.run;
    const items = evaluation.evaluateItems(node);
    const most = Math.min(state.graph.node(node.id).each?.maxItems ?? MAX_ITEMS, MOST_ITEMS);
    if (items.length > most) throw new FailedExpression(`each.items gives ${items.length} items; ${most} is the most`);
    yield stepEvent(reference, eachStarted.createNote(node, { items }));
  }

  private *endList(node: NodeInstance): Generator<TaskEvent> {
    const { state, outcomes } = this.run;
    const { each } = node;
    const config = state.graph.node(node.id).each;
    if (each === undefined || config === undefined) return;
    const { firstFailed } = each;
    if (firstFailed && each.completed < neededSuccesses(each, config)) {
      const kind = firstFailed.failure?.kind ?? 'failed';
      const { instance, error = '' } = firstFailed;
      yield* outcomes.failAttempt(node, { kind, error, instance, message: `node "${instance}": ${error}` });
      return;
    }
    const entries = Array.from({ length: each.total }, (_, index) => each.runs[index]);
    const unsaid = entries.flatMap((entry) => (entry?.status === 'completed' ? unsaidByElement(entry) : []));
    const own = [dataPart(entries.map(entryElement))];
    const passed = unsaid.filter(isFilePart);
    const fitted = fittedInto(this.room, { own, passed, leftOut: unsaid.filter((part) => !isFilePart(part)) });
    yield* this.leftOut(node, fitted.leftOut);
    // A line that replaces a file would become the text of the list.
    const parts = [...own, ...fitted.passed.filter(isFilePart)];
    yield* outcomes.completeNode(node, 'completed', [{ artifactId: node.id, name: node.id, parts }]);
  }

  private *executeOwn(node: NodeInstance): Generator<TaskEvent> {
    const { state, reference } = this.run;
    const definition = state.graph.node(node.id);
    if (definition.type === 'wait') {
      yield stepEvent(reference, nodeWaiting.createNote(node, { until: this.resolveWaitEnd(node).toISOString() }));
      return;
    }
    const values = this.createFilling(node).fillValue('config.values', definition.config['values'] ?? {});
    if (!isJsonObject(values)) throw new FailedExpression('config.values must give an object');
    yield* this.completeWithResult(node, [dataPart(values)]);
  }

  /**
   * Completes a `wait` node. Its result is `content`: the text and Parts that an agent node in the same place would be
   * sent.
   */
  private *completeWithMessage(node: NodeInstance, content: NodeContent): Generator<TaskEvent> {
    const fitted = fittedInto(this.room, content);
    yield* this.leftOut(node, fitted.leftOut);
    yield* this.completeWithResult(node, messageParts(fitted));
  }

  private *leftOut(node: NodeInstance, parts: readonly Part[]): Generator<TaskEvent> {
    const payload = leftOutPayload(parts);
    if (payload) yield stepEvent(this.run.reference, partsLeftOut.createNote(node, payload));
  }

  /** Maximum number of characters of a result that the engine builds from results of other nodes. */
  private get room(): number {
    const { artifact, task } = this.run.content;
    return Math.min(artifact, task / ECHOES_IN_A_TASK);
  }

  /**
   * Completes a node that the engine executes itself (`set` or `wait`). The output rules of the node are applied first.
   * @throws InvalidOutput
   */
  private completeWithResult(node: NodeInstance, parts: Part[]): Generator<TaskEvent> {
    const { state, outcomes, content } = this.run;
    const artifact = { artifactId: node.id, name: node.id, parts };
    const rules = OutputRules.forNode(state.graph.node(node.id));
    return outcomes.completeNode(node, 'completed', rules.applyRules([artifact], content.jsonMembers));
  }

  private createFilling(node: NodeInstance): NodeFilling {
    const { state, evaluation, content } = this.run;
    return nodeFilling(state.graph.node(node.id), evaluation.messageSource(node), new TextBudget(content.renderedText));
  }

  /** Returns the time at which a `wait` node ends. @throws FailedExpression */
  private resolveWaitEnd(node: NodeInstance): Date {
    const { state, evaluation, clock } = this.run;
    const now = new Date(clock.now());
    const definition = state.graph.node(node.id);
    const until = evaluation.evaluateWaitEnd(node, now) ?? addMilliseconds(now, this.resolvePause(node));
    if (until.getTime() - now.getTime() <= LONGEST_DURATION) return until;
    throw new FailedExpression(
      `config.${definition.config['until'] === undefined ? 'for' : 'until'} is more than a year away`,
    );
  }

  private resolvePause(node: NodeInstance): number {
    const { config } = this.run.state.graph.node(node.id);
    const pause = parseDuration(this.createFilling(node).fillValue('config.for', config['for'] ?? ''));
    if (pause === undefined) throw new FailedExpression('config.for must give a duration');
    return pause;
  }

  private *decideLoop(loop: LoopRun, failed: boolean): Generator<TaskEvent> {
    const { clock, state, evaluation, reference } = this.run;
    const { config, index: edge } = loop.loop;
    const last = state.lastOf(loop);
    if (failed) return yield* this.loopEnded(loop, 'failure');
    try {
      if (evaluation.isLoopLeft(loop, last)) return yield* this.loopEnded(loop, 'exit_when');
    } catch (error) {
      return yield* this.loopEnded(loop, 'failure', attemptFailure(error));
    }
    if (loop.iteration >= config.max_iterations) return yield* this.loopEnded(loop, 'max', this.tooMany(loop));
    const pause = parseDuration(config.delay);
    const at = pause !== undefined && addMilliseconds(new Date(clock.now()), pause).toISOString();
    const payload = { edge, ...loopPath(loop), iteration: loop.iteration + 1, ...(at !== false && { at }) };
    yield stepEvent(reference, loopNext.createNote(last, payload));
  }

  /**
   * Yields the events that end a loop. If the condition of an edge out of the loop cannot be evaluated, the loop fails.
   */
  private *loopEnded(loop: LoopRun, reason: LoopReason, attempt?: AttemptFailure): Generator<TaskEvent> {
    const { state, evaluation, reference } = this.run;
    const last = state.lastOf(loop);
    const failure = attempt && loggedFailure(last, attempt);
    const budget = evaluation.sharedBudget();
    const choices = state.choosableExits(loop, failure !== undefined).map(({ node, outcome, edges, taken }) => {
      if (taken) return { node, taken, errors: [] };
      const error = outcome === 'failed' ? (failure ?? node.failure) : undefined;
      const ended = { ...node, status: outcome, ...(error && { failure: error }) };
      return { node, ...evaluation.decideEdges(ended, edges, budget) };
    });
    for (const { node, errors } of choices) yield* edgeErrors(reference, node, errors);
    const [wrong] = choices.flatMap(({ errors }) => errors);
    const hasFailed = failure !== undefined || reason === 'failure';
    if (wrong && !hasFailed)
      return yield* this.loopEnded(loop, 'failure', { kind: 'expression', error: wrong.message });
    yield* this.emptiedResults(loop);
    const taken = choices.length > 0 && { taken: choices.flatMap((choice) => [...choice.taken]) };
    const payload = { edge: loop.loop.index, ...loopPath(loop), reason, iterations: loop.iteration };
    yield stepEvent(reference, loopEnded.createNote(last, { ...payload, ...taken, ...(failure && { failure }) }));
  }

  /**
   * Yields an event for each result of the run whose node was skipped or canceled in the last iteration of an outermost
   * loop. The event replaces that result by an empty text.
   */
  private *emptiedResults({ loop, path }: LoopRun): Generator<TaskEvent> {
    if (path.length > 0) return;
    const { state, reference } = this.run;
    const results = state.results.filter(({ artifactId }) => loop.body.has(artifactId));
    for (const node of results.map(({ artifactId }) => state.resolveInstance(artifactId)))
      if (state.isLeftOut(node)) yield emptiedResultEvent(reference, node);
  }

  /** Returns the failure of a loop that has reached `max_iterations`; `undefined` unless `on_max` is `fail`. */
  private tooMany({ loop: { from, config } }: LoopRun): AttemptFailure | undefined {
    if (config.on_max !== 'fail') return undefined;
    return {
      kind: 'max-iterations',
      error: `the loop from "${from}" ran ${config.max_iterations} times without an end`,
    };
  }

  private *reportEnding({ outcome }: Extract<Decision, { kind: 'ending' }>): Generator<TaskEvent> {
    yield stepEvent(this.run.reference, runEnding.createNote({ outcome }));
  }
}

function loopPath({ path }: LoopRun): { path?: number[] } {
  return path.length > 0 ? { path: [...path] } : {};
}

/** Returns the number of entries of a list that must succeed for the node to complete. */
function neededSuccesses({ total }: EachRun, { onFailure, minSuccess = 0 }: EachConfig): number {
  if (onFailure !== 'collect') return total;
  if (typeof minSuccess === 'number') return minSuccess;
  return Math.ceil((total * Number.parseFloat(minSuccess)) / 100 - 1e-9);
}

/**
 * Returns the Parts of an entry's result that are missing in the element by which the entry appears in the resulting
 * list (`entryElement`).
 */
function unsaidByElement({ instance, artifacts }: NodeInstance): Part[] {
  const [first] = artifacts;
  const data = firstData(first?.parts ?? []);
  const { text, rest } = saidContent(instance, artifacts, false);
  const unsaid = data === undefined ? rest : rest.filter((part) => part.data !== data);
  return data === undefined || text === '' ? unsaid : [textPart(text), ...unsaid];
}

/** Returns the element of the resulting list for an entry: its data, else its text, else null. */
function entryElement(entry: NodeInstance | undefined): JsonValue {
  if (entry?.status !== 'completed') return null;
  const parts = entry.artifacts[0]?.parts ?? [];
  return firstData(parts) ?? joinedText(parts) ?? null;
}
