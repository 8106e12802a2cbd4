import { AsyncLocalStorage } from 'node:async_hooks';
import { Failure, isFailure, type Json, type JsonMembers, type Step, StepError } from '#libs/authoring';
import type { RequestContext } from '#libs/executor';
import { InputSchema, InvalidInputSchema, readAnswer } from '#libs/expressions';
import { derivedId, type FieldViolation, textPart } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { RunFault, WorkEnd } from './run-fault.js';
import { questionAsked, type Sealer, stepDone } from './work-event.js';
import type { LoggedPoint, WorkLog } from './work-log.js';

/** Outcome of a step. */
interface Outcome {
  /** Result as JSON; absent for `undefined`. */
  result?: Json;
  error?: { message: string; isPublic?: true };
}

export interface PointServices {
  context: Pick<RequestContext, 'taskId' | 'contextId' | 'flush' | 'prove'>;
  log: WorkLog;
  sealer: Sealer;
  /** Signal of the execution. */
  signal: AbortSignal;
  /** Resolves once the event is in the log. */
  emit(event: NodeEvent): Promise<void>;
  /** Monotonic clock in milliseconds. */
  now(): number;
}

/** Milliseconds after which a claim must be confirmed again before a step is executed. */
const CLAIM_HELD_MS = 1_000;

/** Key of the step whose function is running. */
const inStep = new AsyncLocalStorage<string>();

/** Steps and questions of one execution of work. Each has a position; those in the log are not repeated. */
export class WorkPoints {
  private next = 0;
  /** Fault that prevents any further step. It counts even if the work catches it. */
  fault: RunFault | undefined;
  private readonly open = new Set<Promise<unknown>>();
  /** Time when the store last confirmed that this execution holds the claim on the Task. */
  private confirmedAt: number;

  constructor(private readonly services: PointServices) {
    this.confirmedAt = services.now();
  }

  /** Runs a step, or returns its recorded outcome. @throws StepError, Failure, RunFault, and the signal's reason */
  async step<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T> {
    const { at, known } = this.reach(key);
    if (known?.outcome !== undefined) return given(key, this.opened(at, key, known.outcome)) as T;
    const done = this.perform(at, key, work);
    this.open.add(done);
    const close = (): void => void this.open.delete(done);
    done.then(close, close);
    return (await done) as T;
  }

  /**
   * Asks a question, or returns its recorded answer. Without an answer it never resolves: the execution ends with the
   * question. @throws RunFault
   */
  async ask(text: string, form?: JsonMembers): Promise<Json> {
    if (typeof text !== 'string') throw this.faulty('what is asked must be a text');
    const { at, known } = this.reach();
    const schema = form && this.schemaOf(form);
    let violations: FieldViolation[] | undefined;
    for (const { parts } of known?.answers ?? []) {
      const read = readAnswer(schema, parts);
      if ('answer' in read) return schema ? read.answer.data! : (read.answer.text ?? JSON.stringify(read.answer.data));
      violations = read.violations;
    }
    await this.settled();
    const question = { ...(form && { form }), ...(violations && { violations }) };
    await this.services.emit(questionAsked(this.services.context, at, [textPart(text)], question));
    return new Promise(() => undefined);
  }

  /** Resolves when no step is running. */
  async settled(): Promise<void> {
    while (this.open.size > 0) await Promise.allSettled(this.open);
  }

  /**
   * Checks at the end of the work that it reached all recorded steps and questions. @throws RunFault, also for an
   * earlier fault that the work caught
   */
  finish(): void {
    if (this.fault) throw this.fault;
    const missed = [...this.services.log.points.values()].find(({ at }) => at >= this.next);
    if (missed) throw this.faulty(`${NON_DETERMINISTIC}: ${named(missed.key)} was recorded, and is not reached now`);
  }

  private reach(key?: string): { at: number; known?: LoggedPoint } {
    if (this.fault) throw this.fault;
    const outer = inStep.getStore();
    if (outer !== undefined) {
      throw this.faulty(`${named(key)} is made in the function of the step "${outer}": steps do not nest`);
    }
    const at = this.next;
    this.next += 1;
    const known = this.services.log.points.get(at);
    if (known === undefined) return { at };
    if (known.key === key) return { at, known };
    const place = `${named(known.key)} was recorded as number ${at + 1}`;
    throw this.faulty(`${NON_DETERMINISTIC}: ${place}, where ${named(key)} is now`);
  }

  private async perform(at: number, key: string, work: (step: Step) => unknown): Promise<Json | undefined> {
    const { context, signal, sealer } = this.services;
    await this.confirm();
    const idempotencyKey = derivedId('step', context.taskId, at, key);
    let outcome: Outcome;
    let cause: unknown;
    try {
      const result = await inStep.run(key, async () => work({ idempotencyKey, signal }));
      outcome = this.recorded(key, result);
    } catch (error) {
      if (signal.aborted || error instanceof RunFault || error instanceof WorkEnd) throw error;
      cause = error;
      const message = error instanceof Error ? error.message : String(error);
      outcome = { error: { message, ...(isFailure(error) && { isPublic: true }) } };
    }
    await this.services.emit(stepDone(context, at, key, sealer.seal(JSON.stringify(outcome), this.placeOf(at))));
    await context.flush();
    this.confirmedAt = this.services.now();
    return given(key, outcome, cause);
  }

  /**
   * Confirms the claim before a step, as another replica may have adopted the Task while this process was suspended.
   */
  private async confirm(): Promise<void> {
    const { context } = this.services;
    if (this.services.now() - this.confirmedAt < CLAIM_HELD_MS) return;
    await context.prove();
    this.confirmedAt = this.services.now();
  }

  /** Converts a result to JSON and back, so that it equals the result after a crash. */
  private recorded(key: string, result: unknown): Outcome {
    try {
      const json = JSON.stringify(result) as string | undefined;
      return json === undefined ? {} : { result: JSON.parse(json) as Json };
    } catch (error) {
      throw this.faulty(`the result of the step "${key}" cannot be recorded as JSON`, error);
    }
  }

  private opened(at: number, key: string, outcome: string): Outcome {
    try {
      return JSON.parse(this.services.sealer.open(outcome, this.placeOf(at))) as Outcome;
    } catch (error) {
      throw this.faulty(`what was recorded of the step "${key}" cannot be read with the keys of this service`, error);
    }
  }

  private schemaOf(form: JsonMembers): InputSchema {
    try {
      return InputSchema.of(form);
    } catch (error) {
      if (!(error instanceof InvalidInputSchema)) throw error;
      throw this.faulty(`the form of a question ${error.message}`, error);
    }
  }

  private placeOf(at: number): string[] {
    return ['task', this.services.context.taskId, 'step', `${at}`];
  }

  private faulty(sentence: string, cause?: unknown): RunFault {
    this.fault = new RunFault(sentence, { cause });
    return this.fault;
  }
}

const NON_DETERMINISTIC = 'the work is non-deterministic';

function named(key: string | undefined): string {
  return key === undefined ? 'a question' : `the step "${key}"`;
}

/** Returns a step's result. @throws StepError or Failure if the step failed */
function given(key: string, { result, error }: Outcome, cause?: unknown): Json | undefined {
  if (error === undefined) return result;
  const options = cause === undefined ? undefined : { cause };
  throw error.isPublic ? new Failure(error.message, options) : new StepError(key, error.message, options);
}
