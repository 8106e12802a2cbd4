import { AsyncLocalStorage } from 'node:async_hooks';
import { Failure, isFailure, type Json, type JsonMembers, type Step, StepError } from '#libs/agent-sdk';
import type { RequestContext } from '#libs/agents';
import { InputSchema, InvalidInputSchema, readAnswer } from '#libs/expressions';
import { derivedId, type FieldViolation, textPart } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { type LoggedPoint, questionAsked, type Sealer, stepDone, type WorkLog } from './work-log.js';

/**
 * Error of work that cannot continue because of a fault in its code, for example because its steps differ from the
 * recorded ones. The message becomes the failure of the Task.
 */
export class RunFault extends Error {
  override readonly name = 'RunFault';
}

/** Error that `ctx.reject` and `ctx.fail` throw to end the Task. */
export class WorkEnd extends Error {
  override readonly name = 'WorkEnd';

  constructor(
    readonly state: 'TASK_STATE_REJECTED' | 'TASK_STATE_FAILED',
    reason: string,
  ) {
    super(reason);
  }
}

/** Outcome of a step: a result or an error. */
interface StepOutcome {
  /** Result as JSON; absent for `undefined`. */
  result?: Json;
  error?: { message: string; isPublic?: true };
}

/** Services for the steps and questions of one execution of a DefinedWork. */
export interface PointServices {
  context: Pick<RequestContext, 'taskId' | 'contextId' | 'flush' | 'assertClaimHeld'>;
  log: WorkLog;
  sealer: Sealer;
  /** Signal that aborts when the execution ends. */
  signal: AbortSignal;
  /** Reports an event. Resolves once the event is recorded in the log. */
  emitEvent(event: NodeEvent): Promise<void>;
  /** Monotonic clock in milliseconds. */
  now(): number;
}

/**
 * Milliseconds until the claim on the Task (this execution's right to write it) must be confirmed again before a
 * step runs.
 */
const CLAIM_HELD_MS = 1_000;

/**
 * Key of the step whose function makes the current call, also after an `await`; `undefined` outside of a step.
 * WorkPoints reads it to reject a step or question that begins inside of a step.
 */
const inStep = new AsyncLocalStorage<string>();

/**
 * Runs the steps and asks the questions of one execution of a DefinedWork. Each step or question has a position. If the
 * log has it at that position, the recorded outcome is used and nothing is repeated.
 */
export class WorkPoints {
  private next = 0;
  /** Fault that prevents further steps and questions. It fails the Task even if the work catches the error. */
  fault: RunFault | undefined;
  private readonly open = new Set<Promise<unknown>>();
  /**
   * Time (by `PointServices.now`) when the database last confirmed that this execution holds the claim on the Task: the
   * right to write it.
   */
  private confirmedAt: number;

  constructor(private readonly services: PointServices) {
    this.confirmedAt = services.now();
  }

  /**
   * Runs a step, or returns its recorded result.
   * @throws StepError or Failure if the step fails, RunFault for a fault in the code of the work, and the reason of the
   * signal
   */
  async runStep<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T> {
    const { at, known } = this.reachPoint(key);
    if (known?.outcome !== undefined) return resultOrThrow(key, this.openOutcome(at, key, known.outcome)) as T;
    const done = this.performStep(at, key, work);
    this.open.add(done);
    const removeDone = (): void => void this.open.delete(done);
    done.then(removeDone, removeDone);
    return (await done) as T;
  }

  /**
   * Asks a question, or returns its recorded answer. Without a recorded answer the promise never resolves: the
   * execution ends with the question.
   * @throws RunFault for a fault in the code of the work, such as a question inside of a step
   */
  async askQuestion(text: string, form?: JsonMembers): Promise<Json> {
    if (typeof text !== 'string') throw this.recordFault('the question must be a text');
    const { at, known } = this.reachPoint();
    const schema = form && this.schemaOf(form);
    let violations: FieldViolation[] | undefined;
    for (const { parts } of known?.answers ?? []) {
      const read = readAnswer(schema, parts);
      if ('answer' in read) return schema ? read.answer.data! : (read.answer.text ?? JSON.stringify(read.answer.data));
      violations = read.violations;
    }
    await this.awaitOpenSteps();
    const question = { ...(form && { form }), ...(violations && { violations }) };
    await this.services.emitEvent(questionAsked(this.services.context, at, [textPart(text)], question));
    return new Promise(() => undefined);
  }

  /** Resolves once no step is running. */
  async awaitOpenSteps(): Promise<void> {
    while (this.open.size > 0) await Promise.allSettled(this.open);
  }

  /**
   * Checks at the end of the work that it has reached all steps and questions in the log.
   * @throws RunFault if it has not, or if the work has caught an earlier RunFault
   */
  assertAllReached(): void {
    if (this.fault) throw this.fault;
    const missed = [...this.services.log.points.values()].find(({ at }) => at >= this.next);
    if (missed)
      throw this.recordFault(`${NON_DETERMINISTIC}: ${describePoint(missed.key)} was recorded, and is not reached now`);
  }

  private reachPoint(key?: string): { at: number; known?: LoggedPoint } {
    if (this.fault) throw this.fault;
    const outer = inStep.getStore();
    if (outer !== undefined) {
      throw this.recordFault(`${describePoint(key)} is made in the function of the step "${outer}": steps do not nest`);
    }
    const at = this.next;
    this.next += 1;
    const known = this.services.log.points.get(at);
    if (known === undefined) return { at };
    if (known.key === key) return { at, known };
    const place = `${describePoint(known.key)} was recorded as number ${at + 1}`;
    throw this.recordFault(`${NON_DETERMINISTIC}: ${place}, where ${describePoint(key)} is now`);
  }

  private async performStep(at: number, key: string, work: (step: Step) => unknown): Promise<Json | undefined> {
    const { context, signal, sealer } = this.services;
    await this.confirmClaim();
    const idempotencyKey = derivedId('step', context.taskId, at, key);
    let outcome: StepOutcome;
    let cause: unknown;
    try {
      const result = await inStep.run(key, async () => work({ idempotencyKey, signal }));
      outcome = this.toStepOutcome(key, result);
    } catch (error) {
      if (signal.aborted || error instanceof RunFault || error instanceof WorkEnd) throw error;
      cause = error;
      const message = error instanceof Error ? error.message : String(error);
      outcome = { error: { message, ...(isFailure(error) && { isPublic: true }) } };
    }
    await this.services.emitEvent(
      stepDone(context, at, key, sealer.seal(JSON.stringify(outcome), this.sealingPlace(at))),
    );
    await context.flush();
    this.confirmedAt = this.services.now();
    return resultOrThrow(key, outcome, cause);
  }

  /**
   * Confirms the claim on the Task (the right to write it) before a step, because another replica may have adopted the
   * Task while this process was suspended.
   */
  private async confirmClaim(): Promise<void> {
    const { context } = this.services;
    if (this.services.now() - this.confirmedAt < CLAIM_HELD_MS) return;
    await context.assertClaimHeld();
    this.confirmedAt = this.services.now();
  }

  /**
   * Converts the result of a step to JSON and back. So the work gets the same value as a later execution, which reads
   * the result from the log.
   */
  private toStepOutcome(key: string, result: unknown): StepOutcome {
    try {
      const json = JSON.stringify(result) as string | undefined;
      return json === undefined ? {} : { result: JSON.parse(json) as Json };
    } catch (error) {
      throw this.recordFault(`the result of the step "${key}" cannot be recorded as JSON`, error);
    }
  }

  private openOutcome(at: number, key: string, outcome: string): StepOutcome {
    try {
      return JSON.parse(this.services.sealer.open(outcome, this.sealingPlace(at))) as StepOutcome;
    } catch (error) {
      throw this.recordFault(
        `the recorded result of the step "${key}" cannot be decrypted with the keys of this service`,
        error,
      );
    }
  }

  private schemaOf(form: JsonMembers): InputSchema {
    try {
      return InputSchema.fromJson(form);
    } catch (error) {
      if (!(error instanceof InvalidInputSchema)) throw error;
      throw this.recordFault(`the form of a question ${error.message}`, error);
    }
  }

  private sealingPlace(at: number): string[] {
    return ['task', this.services.context.taskId, 'step', `${at}`];
  }

  private recordFault(sentence: string, cause?: unknown): RunFault {
    this.fault = new RunFault(sentence, { cause });
    return this.fault;
  }
}

const NON_DETERMINISTIC = 'the work is non-deterministic';

function describePoint(key: string | undefined): string {
  return key === undefined ? 'a question' : `the step "${key}"`;
}

/** Returns the result of a step. @throws StepError or Failure if the step failed */
function resultOrThrow(key: string, { result, error }: StepOutcome, cause?: unknown): Json | undefined {
  if (error === undefined) return result;
  const options = cause === undefined ? undefined : { cause };
  throw error.isPublic ? new Failure(error.message, options) : new StepError(key, error.message, options);
}
