import { addMilliseconds } from '#libs/expressions';
import {
  type Artifact,
  ContentTooLarge,
  firstData,
  type JsonValue,
  type Part,
  type RunEventNote,
  type TaskReference,
  TextBudget,
  textStart,
} from '#libs/protocol';
import type { ContentLimits } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import {
  type FailureKind,
  isRetried,
  isTooLong,
  type RetryConfig,
  retryPause,
  type WorkflowFailure,
} from '#libs/workflow-definition';
import { nodeFilling } from '../messages/node-message.js';
import type { RunEvaluation } from '../messages/run-evaluation.js';
import { FailedExpression } from '../messages/run-expressions.js';
import type { NodeInstance } from '../state/node-instance.js';
import type { RunState } from '../state/run-state.js';
import { edgeError, nodeError, nodeRetrying, NodeStep } from '../state/run-steps.js';
import type { RunClock } from '../state/timers.js';
import { InvalidOutput } from './child-ending.js';
import { completedEvent, reusedEvent, type ReusedResult, stepEvent } from './run-ending.js';

/** Maximum number of rounded numbers that are reported for one value. */
const MOST_REPORTED = 10;
/** Maximum number of characters of a path in a `number.rounded` step. */
const LONGEST_PATH = 200;
/** Largest number below which a double represents every integer exactly. */
const LARGEST_EXACT = 2 ** 53;
/** Minimum number of significant decimal digits of an integer that may have been rounded. */
const DIGITS_OF_DOUBLE = 16;

const numberRounded = new NodeStep<{ path: string; value: number; message: string }>('number.rounded', () => undefined);

/** Returns `number.rounded` steps for integers in a node's result that may differ from the numbers that were sent. */
export function roundedResult(node: NodeInstance, artifacts: readonly Artifact[]): RunEventNote[] {
  const data = artifacts[0] && firstData(artifacts[0].parts);
  return data === undefined ? [] : roundedNumbers(node, node.type === 'input' ? `inputs.${node.id}` : 'output', data);
}

/** Returns `number.rounded` steps for integers in a tool result that may differ from the numbers that were sent. */
export function roundedToolResult(node: NodeInstance, result: JsonValue | undefined): RunEventNote[] {
  return result === undefined ? [] : roundedNumbers(node, 'result', result);
}

/**
 * Returns `number.rounded` steps for the integers in a value that may have been rounded. JSON numbers are doubles, as
 * in A2A (`google.protobuf.Value`), so a parser rounds an integer beyond 2^53.
 */
function roundedNumbers(node: NodeInstance, name: string, value: JsonValue): RunEventNote[] {
  const found: RunEventNote[] = [];
  const rest: [path: string, value: JsonValue][] = [[name, value]];
  for (let next = rest.pop(); next !== undefined && found.length < MOST_REPORTED; next = rest.pop()) {
    const [path, at] = next;
    if (typeof at === 'number') {
      if (!mayBeRounded(at)) continue;
      const shown = textStart(path, LONGEST_PATH);
      const message = `${shown} may have been rounded: give integers beyond 2^53 as texts`;
      found.push(numberRounded.createNote(node, { path: shown, value: at, message }));
    } else if (Array.isArray(at)) {
      for (let index = at.length - 1; index >= 0; index -= 1) rest.push([`${path}[${index}]`, at[index] ?? null]);
    } else if (typeof at === 'object' && at !== null) {
      for (const [member, it] of Object.entries(at).reverse()) rest.push([`${path}.${member}`, it]);
    }
  }
  return found;
}

/**
 * True for an integer beyond 2^53 whose shortest decimal form needs all digits of a double. A number such as `1e20`
 * counts as exact.
 */
function mayBeRounded(value: number): boolean {
  if (!Number.isInteger(value) || Math.abs(value) <= LARGEST_EXACT) return false;
  const [mantissa = ''] = value.toExponential().split('e');
  return mantissa.replace('-', '').replace('.', '').length >= DIGITS_OF_DOUBLE;
}

/** Failure of a node's attempt, before it is recorded. */
export interface AttemptFailure {
  kind: FailureKind;
  error: string;
  /** Message for the run; absent: the name of the instance, followed by `error`. */
  message?: string;
  /** Name of the instance that failed, if it is not the node's own instance: for a list, the failed entry. */
  instance?: string;
  /** Milliseconds that the agent asks to wait before the next call; absent if it asks for none. */
  retryAfter?: number;
}

/** Failure of an `onExit` node that asks a question: the outcome of the run is already decided. */
export const CANNOT_ASK: AttemptFailure = {
  kind: 'refused',
  error: 'it cannot ask: the outcome of the run is already decided',
};

/** Members of a run that NodeOutcomes needs to end the run's nodes. */
interface EndingRun {
  reference: TaskReference;
  state: RunState;
  evaluation: RunEvaluation;
  clock: RunClock;
  content: Pick<ContentLimits, 'renderedText'>;
}

/**
 * Creates the events at the end of a node's attempt, including the decision on its outgoing edges. Record each event
 * before you request the next one. A failed attempt has one of these effects, in this order of precedence:
 * - The node is retried.
 * - The node completes with its `fallback` as the result.
 * - The node fails.
 */
export class NodeOutcomes {
  constructor(private readonly run: EndingRun) {}

  /**
   * Yields the events that complete a node with a result. `fallback` is true if the result is the node's `fallback`.
   */
  *completeNode(node: NodeInstance, status: string, artifacts: Artifact[], fallback = false): Generator<TaskEvent> {
    const { reference, state } = this.run;
    const completion = { status, artifacts, ...(fallback && { fallback: true as const }) };
    // The results of list entries have been checked one by one.
    const rounded = node.each === undefined ? roundedResult(node, artifacts) : [];
    for (const note of rounded) yield stepEvent(reference, note);
    yield* this.endWithResult(node, artifacts, (taken) =>
      completedEvent(reference, state.graph, node, { ...completion, ...taken }),
    );
  }

  /** Yields the events that complete a node with its result from the original run. */
  reuseResult(node: NodeInstance, result: ReusedResult): Generator<TaskEvent> {
    const { reference, state } = this.run;
    return this.endWithResult(node, result.artifacts, (taken) =>
      reusedEvent(reference, state.graph, node, { ...result, ...taken }),
    );
  }

  /** Yields the events of a failed attempt: retry, fallback, or failure of the node. */
  *failAttempt(node: NodeInstance, attempt: AttemptFailure): Generator<TaskEvent> {
    const { graph } = this.run.state;
    const { retry, fallback } = graph.node(node.id);
    // A node with a list is not retried as a whole, because its entries are.
    if (node.each !== undefined) return yield* this.failNode(node, attempt);
    let failure = attempt;
    try {
      const isLong = retry !== undefined && asksForTooLong(node, attempt, retry);
      if (isLong) failure = { ...attempt, kind: 'rate-limited', error: `${attempt.error}; ${longPause(attempt)}` };
      const retryAt = isLong ? undefined : retry && this.retryAt(node, failure);
      if (retryAt !== undefined) return yield this.retryingEvent(node, failure, retryAt);
      const artifacts = fallback && this.fillFallback(node, failure, fallback.parts);
      if (artifacts !== undefined) return yield* this.completeNode(node, 'completed', artifacts, true);
    } catch (error) {
      failure = attemptFailure(error);
    }
    yield* this.failNode(node, failure);
  }

  /** Yields the events that fail a node, without a retry or fallback. */
  *failNode(node: NodeInstance, attempt: AttemptFailure): Generator<TaskEvent> {
    const { reference, state, evaluation } = this.run;
    const { error, message = `node "${node.instance}": ${error}` } = attempt;
    const failure = loggedFailure(node, attempt);
    const choices = choicesOf(state, node, 'failed');
    const choice = choices && evaluation.decideEdges({ ...node, status: 'failed', error, failure }, choices);
    if (choice) yield* edgeErrors(reference, node, choice.errors);
    const payload = { error, message, failure, ...(choice && { taken: choice.taken }) };
    yield stepEvent(reference, nodeError.createNote(node, payload));
  }

  /** Yields the events that end a node with a result. If the condition of an outgoing edge fails, the node fails. */
  private *endWithResult(
    node: NodeInstance,
    artifacts: Artifact[],
    event: (taken: { taken?: number[] }) => TaskEvent,
  ): Generator<TaskEvent> {
    const { reference, state, evaluation } = this.run;
    const choices = choicesOf(state, node, 'completed');
    const choice = choices && evaluation.decideEdges({ ...node, status: 'completed', artifacts }, choices);
    const [first] = choice?.errors ?? [];
    if (first === undefined) return yield event(choice ? { taken: choice.taken } : {});
    yield* edgeErrors(reference, node, choice?.errors ?? []);
    yield* this.failNode(node, { kind: 'expression', error: first.message });
  }

  /** Returns the time of the retry; `undefined` if the attempt is not retried. @throws FailedExpression */
  private retryAt(node: NodeInstance, attempt: AttemptFailure): Date | undefined {
    const { reference, state, evaluation, clock } = this.run;
    const { retry } = state.graph.node(node.id);
    const failure = loggedFailure(node, attempt);
    if (retry === undefined || !isRetried(retry, node.attempts, failure)) return undefined;
    if (!evaluation.retriedWhen(failedInstance(node, failure), { error: failure })) return undefined;
    const { retryAfter } = attempt;
    const failed = {
      runId: reference.taskId,
      instance: node.instance,
      attempt: node.attempts,
      ...(retryAfter !== undefined && { retryAfter }),
    };
    return addMilliseconds(new Date(clock.now()), retryPause(retry, failed));
  }

  private retryingEvent(node: NodeInstance, attempt: AttemptFailure, retryAt: Date): TaskEvent {
    const payload = { attempt: node.attempts, failure: loggedFailure(node, attempt), retryAt: retryAt.toISOString() };
    return stepEvent(this.run.reference, nodeRetrying.createNote(node, payload));
  }

  /**
   * Fills the templates in the `fallback` of a node, and returns the filled Parts as the Artifact of the node.
   * @throws FailedExpression if an expression fails
   * @throws ContentTooLarge if the filled texts are too long
   */
  private fillFallback(node: NodeInstance, attempt: AttemptFailure, parts: Part[]): Artifact[] {
    const { state, evaluation, content } = this.run;
    const error = loggedFailure(node, attempt);
    const source = evaluation.sourceAt(failedInstance(node, error), { error });
    const filling = nodeFilling(state.graph.node(node.id), source, new TextBudget(content.renderedText));
    const filled = filling.fillValue('fallback.parts', parts as unknown as JsonValue) as unknown as Part[];
    return [{ artifactId: node.id, name: node.id, parts: filled }];
  }
}

/** Yields an `edge.error` event for each condition of an outgoing edge that could not be evaluated. */
export function* edgeErrors(
  reference: TaskReference,
  node: NodeInstance,
  errors: readonly { edge: number; message: string }[],
): Generator<TaskEvent> {
  for (const { edge, message } of errors) {
    const failure = loggedFailure(node, { kind: 'expression', error: message });
    yield stepEvent(reference, edgeError.createNote(node, { edge, failure }));
  }
}

/**
 * Converts the error of an expression, or of a result, to the failure of an attempt.
 * @throws any other error, which is a fault of the service
 */
export function attemptFailure(error: unknown): AttemptFailure {
  if (error instanceof FailedExpression) return { kind: 'expression', error: error.message };
  if (error instanceof ContentTooLarge) return { kind: 'refused', error: error.message };
  if (error instanceof InvalidOutput) return { kind: 'invalid-output', error: error.message };
  throw error;
}

/**
 * Returns the outgoing edges whose conditions must be evaluated now that the node ends with `outcome`; `undefined` if
 * no edge needs an evaluation, and for an entry of a list, which has no edges.
 */
function choicesOf(state: RunState, node: NodeInstance, outcome: 'completed' | 'failed') {
  return node.list === undefined ? state.choosableEdges(node, outcome) : undefined;
}

/** True if the attempt would be retried, but the agent asks for a longer pause than a node may wait. */
function asksForTooLong(node: NodeInstance, attempt: AttemptFailure, retry: RetryConfig): boolean {
  const { retryAfter } = attempt;
  const isDue = isRetried(retry, node.attempts, loggedFailure(node, attempt));
  return isDue && retryAfter !== undefined && isTooLong(retry, retryAfter);
}

function longPause({ retryAfter = 0 }: AttemptFailure): string {
  return `it asks to be called again in ${Math.round(retryAfter / 1_000)} s, longer than a node may wait`;
}

function failedInstance(node: NodeInstance, failure: WorkflowFailure): NodeInstance {
  return { ...node, status: 'failed', error: failure.message, failure };
}

/** Returns the failure of an attempt as the log records it. */
export function loggedFailure(
  node: NodeInstance,
  { kind, error, instance = node.instance }: AttemptFailure,
): WorkflowFailure {
  return { kind, message: error, node: node.id, ...(instance !== node.id && { instance }) };
}
