import { later } from '#libs/expressions';
import {
  type Artifact,
  ContentTooLarge,
  type JsonValue,
  type Part,
  type TaskReference,
  TextBudget,
} from '#libs/protocol';
import type { ContentLimits } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import { edgeError, nodeRetrying } from './control-steps.js';
import { FailedExpression } from './expressions/failed-expression.js';
import type { Failure, FailureKind } from './failure.js';
import { nodeFilling } from './node-message.js';
import type { NodeRun } from './node-run.js';
import { InvalidOutput } from './output-rules.js';
import { isRetried, isTooLong, retryPause } from './retry-policy.js';
import type { RunClock } from './run-clock.js';
import { roundedResult } from './rounded-numbers.js';
import type { ReusedResult } from './rerun/reused-results.js';
import { completedEvent, reusedEvent, stepEvent } from './run-ending.js';
import type { RunEvaluation } from './run-evaluation.js';
import type { RunState } from './run-state.js';
import type { RetryConfig } from './workflow.js';
import { nodeError } from './run-steps.js';

/** Why an attempt of a node gave nothing. */
export interface AttemptFailure {
  kind: FailureKind;
  error: string;
  /** What the run says of it; absent: the error, with the node's name. */
  message?: string;
  /** The instance that it is about, where that is another one. */
  instance?: string;
  /** How many milliseconds the agent asks to wait before it is called again. */
  retryAfter?: number;
}

/** Of a node that asks when nobody is heard any more. */
export const CANNOT_ASK: AttemptFailure = { kind: 'refused', error: 'it cannot ask: the run has its outcome' };

/** The run whose nodes end. */
interface EndingRun {
  reference: TaskReference;
  state: RunState;
  evaluation: RunEvaluation;
  clock: RunClock;
  content: Pick<ContentLimits, 'renderedText'>;
}

/**
 * What the end of an attempt means for a node and for the edges from it, as events of the run; each is to be recorded before
 * the next one is asked for. A failure is tried again, else made good by the fallback, else the node's.
 */
export class NodeOutcomes {
  constructor(private readonly run: EndingRun) {}

  /** The node has a result. */
  *completed(node: NodeRun, status: string, artifacts: Artifact[], fallback = false): Generator<TaskEvent> {
    const { reference, state } = this.run;
    const completion = { status, artifacts, ...(fallback && { fallback: true as const }) };
    // Entries of a list have been looked at one by one.
    const rounded = node.each === undefined ? roundedResult(node, artifacts) : [];
    for (const note of rounded) yield stepEvent(reference, note);
    yield* this.succeeded(node, artifacts, (taken) =>
      completedEvent(reference, state.graph, node, { ...completion, ...taken }),
    );
  }

  /** The node has the result that it had in another run. */
  reused(node: NodeRun, result: ReusedResult): Generator<TaskEvent> {
    const { reference, state } = this.run;
    return this.succeeded(node, result.artifacts, (taken) =>
      reusedEvent(reference, state.graph, node, { ...result, ...taken }),
    );
  }

  /** An attempt has failed. */
  *failed(node: NodeRun, attempt: AttemptFailure): Generator<TaskEvent> {
    const { graph } = this.run.state;
    const { retry, fallback } = graph.node(node.id);
    // A list as a whole is not tried again: its entries were.
    if (node.each !== undefined) return yield* this.ended(node, attempt);
    let failure = attempt;
    try {
      const isLong = retry !== undefined && asksForTooLong(node, attempt, retry);
      if (isLong) failure = { ...attempt, kind: 'rate-limited', error: `${attempt.error}; ${longPause(attempt)}` };
      const retryAt = isLong ? undefined : retry && this.retryAt(node, failure);
      if (retryAt !== undefined) return yield this.retrying(node, failure, retryAt);
      const artifacts = fallback && this.fallback(node, failure, fallback.parts);
      if (artifacts !== undefined) return yield* this.completed(node, 'completed', artifacts, true);
    } catch (error) {
      failure = attemptFailure(error);
    }
    yield* this.ended(node, failure);
  }

  /** The node has failed, whatever it says of other attempts. */
  *ended(node: NodeRun, attempt: AttemptFailure): Generator<TaskEvent> {
    const { reference, state, evaluation } = this.run;
    const { error, message = `node "${node.instance}": ${error}` } = attempt;
    const failure = failureOf(node, attempt);
    const choices = choicesOf(state, node, 'failed');
    const choice = choices && evaluation.edges({ ...node, status: 'failed', error, failure }, choices);
    if (choice) yield* edgeErrors(reference, node, choice.errors);
    const payload = { error, message, failure, ...(choice && { taken: choice.taken }) };
    yield stepEvent(reference, nodeError.note(node, payload));
  }

  /** Where it cannot be decided what follows, the node fails. */
  private *succeeded(
    node: NodeRun,
    artifacts: Artifact[],
    event: (taken: { taken?: number[] }) => TaskEvent,
  ): Generator<TaskEvent> {
    const { reference, state, evaluation } = this.run;
    const choices = choicesOf(state, node, 'completed');
    const choice = choices && evaluation.edges({ ...node, status: 'completed', artifacts }, choices);
    const [first] = choice?.errors ?? [];
    if (first === undefined) return yield event(choice ? { taken: choice.taken } : {});
    yield* edgeErrors(reference, node, choice?.errors ?? []);
    yield* this.ended(node, { kind: 'expression', error: first.message });
  }

  /** When the node is tried again; `undefined` where it is not. @throws FailedExpression */
  private retryAt(node: NodeRun, attempt: AttemptFailure): Date | undefined {
    const { reference, state, evaluation, clock } = this.run;
    const { retry } = state.graph.node(node.id);
    const failure = failureOf(node, attempt);
    if (retry === undefined || !isRetried(retry, node.attempts, failure)) return undefined;
    if (!evaluation.retriedWhen(failing(node, failure), { error: failure })) return undefined;
    const { retryAfter } = attempt;
    const failed = {
      runId: reference.taskId,
      instance: node.instance,
      attempt: node.attempts,
      ...(retryAfter !== undefined && { retryAfter }),
    };
    return later(new Date(clock.now()), retryPause(retry, failed));
  }

  private retrying(node: NodeRun, attempt: AttemptFailure, retryAt: Date): TaskEvent {
    const payload = { attempt: node.attempts, failure: failureOf(node, attempt), retryAt: retryAt.toISOString() };
    return stepEvent(this.run.reference, nodeRetrying.note(node, payload));
  }

  /** @throws FailedExpression, ContentTooLarge */
  private fallback(node: NodeRun, attempt: AttemptFailure, parts: Part[]): Artifact[] {
    const { state, evaluation, content } = this.run;
    const error = failureOf(node, attempt);
    const source = evaluation.sourceAt(failing(node, error), { error });
    const filling = nodeFilling(state.graph.node(node.id), source, new TextBudget(content.renderedText));
    const filled = filling.value('fallback.parts', parts as unknown as JsonValue) as unknown as Part[];
    return [{ artifactId: node.id, name: node.id, parts: filled }];
  }
}

/** Conditions that could not be decided, of edges from a node. */
export function* edgeErrors(
  reference: TaskReference,
  node: NodeRun,
  errors: readonly { edge: number; message: string }[],
): Generator<TaskEvent> {
  for (const { edge, message } of errors) {
    const failure = failureOf(node, { kind: 'expression', error: message });
    yield stepEvent(reference, edgeError.note(node, { edge, failure }));
  }
}

/** What failed where no agent did: an expression, or what came out of it. @throws what is a fault of ours */
export function attemptFailure(error: unknown): AttemptFailure {
  if (error instanceof FailedExpression) return { kind: 'expression', error: error.message };
  if (error instanceof ContentTooLarge) return { kind: 'refused', error: error.message };
  if (error instanceof InvalidOutput) return { kind: 'invalid-output', error: error.message };
  throw error;
}

/** Entries of a list have no edges. */
function choicesOf(state: RunState, node: NodeRun, outcome: 'completed' | 'failed') {
  return node.list === undefined ? state.choices(node, outcome) : undefined;
}

/** True if another attempt is due, and the agent asks to wait for it longer than a node waits. */
function asksForTooLong(node: NodeRun, attempt: AttemptFailure, retry: RetryConfig): boolean {
  const { retryAfter } = attempt;
  const isDue = isRetried(retry, node.attempts, failureOf(node, attempt));
  return isDue && retryAfter !== undefined && isTooLong(retry, retryAfter);
}

function longPause({ retryAfter = 0 }: AttemptFailure): string {
  return `it asks to be called again in ${Math.round(retryAfter / 1_000)} s, later than a node waits`;
}

function failing(node: NodeRun, failure: Failure): NodeRun {
  return { ...node, status: 'failed', error: failure.message, failure };
}

/** An attempt's failure as the log has it. */
export function failureOf(node: NodeRun, { kind, error, instance = node.instance }: AttemptFailure): Failure {
  return { kind, message: error, node: node.id, ...(instance !== node.id && { instance }) };
}
