import {
  type ArtifactContent,
  type ArtifactOutput,
  isFailure,
  type Json,
  type JsonMembers,
  type Output,
  type ReceivedMessage,
  type Work,
  type WorkContext,
} from '#libs/agent-sdk';
import type { RequestContext } from '#libs/agents';
import {
  artifactUpdate,
  dataPart,
  firstData,
  isJsonObject,
  joinedText,
  type JsonValue,
  type Message,
  type Part,
  textPart,
} from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { partsProblem } from '../script/parse-script.js';
import type { Sealer, WorkLog } from './work-log.js';
import { RunFault, WorkEnd, WorkPoints } from './work-points.js';

/** Queue that hands items to one reader, one after the other. `putItem` resolves once the reader has taken the item. */
export class Outbox<T> implements AsyncIterable<T> {
  private readonly waiting: { item: T; onTaken(): void }[] = [];
  private ended: { error?: unknown } | undefined;
  private wakeReader: () => void = () => undefined;

  putItem(item: T): Promise<void> {
    return new Promise((taken) => {
      this.waiting.push({ item, onTaken: taken });
      this.wakeReader();
    });
  }

  /**
   * Ends the queue, after the items that were put before.
   * @param failure if it has `error`, the reader gets this error after the last item
   */
  endItems(failure: { error?: unknown } = {}): void {
    this.ended ??= failure;
    this.wakeReader();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const next = this.waiting.shift();
      if (next) {
        next.onTaken();
        yield next.item;
      } else if (this.ended) {
        if ('error' in this.ended) throw this.ended.error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.wakeReader = resolve));
      }
    }
  }
}

/** Item that running work passes to its executor: text of the answer, an event, or the end of the work. */
export type WorkItem =
  | { text: string }
  | { event: NodeEvent; onRecorded(): void }
  | { end: 'TASK_STATE_COMPLETED'; value?: Json }
  | { end: WorkEnd['state']; reason: string };

/** Function of an SDK agent or a plugin node. */
export interface DefinedWork {
  /** Name of the Artifact with the answer of the work: its text and its return value. */
  name: string;
  run(context: WorkContext): Work;
}

/** Services and state that one execution of a DefinedWork needs. */
export interface ExecutionServices {
  context: RequestContext;
  /** First Message of the Task. */
  opening: Message;
  log: WorkLog;
  sealer: Sealer;
  outbox: Outbox<WorkItem>;
  /** Signal that aborts when the executor no longer reads the outbox. */
  signal: AbortSignal;
}

/**
 * Single execution of a DefinedWork. Runs the function from its beginning, and passes its output and its end to the
 * outbox.
 */
export class WorkExecution {
  private readonly points: WorkPoints;
  /** Number of Artifacts that this execution has output under each name. */
  private readonly given = new Map<string, number>();
  private ended: WorkEnd | undefined;

  constructor(
    private readonly work: DefinedWork,
    private readonly services: ExecutionServices,
  ) {
    this.points = new WorkPoints({
      ...services,
      emitEvent: (event) => this.emitEvent(event),
      now: () => performance.now(),
    });
  }

  /** Runs the work. A failure is passed to the outbox and not thrown. */
  async runWork(): Promise<void> {
    const { outbox } = this.services;
    try {
      const value = await this.awaitResult(this.work.run(this.createContext()));
      await this.points.awaitOpenSteps();
      this.points.assertAllReached();
      if (this.ended) throw this.ended;
      await outbox.putItem({ end: 'TASK_STATE_COMPLETED', ...(value !== undefined && { value }) });
    } catch (error) {
      const end = this.endOf(error);
      if (end) await outbox.putItem(end);
      else outbox.endItems({ error });
    }
  }

  /**
   * Awaits the work, and passes its output to the outbox.
   * @returns the value of the work; `undefined` if the value is a text or an Artifact, which is output instead
   */
  private async awaitResult(work: Work): Promise<Json | undefined> {
    const returned = isIterable(work) ? await this.consumeOutput(work) : await work;
    if (returned === undefined || returned === null) return undefined;
    if (typeof returned !== 'string' && !isArtifact(returned)) return returned as Json;
    await this.emitOutput(returned);
    return undefined;
  }

  private async consumeOutput(work: AsyncIterable<Output>): Promise<unknown> {
    const iterator = work[Symbol.asyncIterator]();
    // Ends the iterator, so that the `finally` blocks of work that waits at a `yield` run.
    const closeIterator = (): void => void iterator.return?.().catch(() => undefined);
    this.services.signal.addEventListener('abort', closeIterator, { once: true });
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) return value as unknown;
      await this.emitOutput(value);
    }
  }

  private async emitOutput(output: Output): Promise<void> {
    if (typeof output === 'string') return this.services.outbox.putItem({ text: output });
    if (!isArtifact(output)) throw new RunFault('a yielded value must be a text or ctx.artifact(…)');
    const { artifact: name, content } = output;
    if (name === this.work.name) throw new RunFault(`"${name}" is the name of the text Artifact: choose another name`);
    const count = this.given.get(name) ?? 0;
    this.given.set(name, count + 1);
    const parts = artifactParts(name, content);
    if (this.services.log.hasArtifact(name, count, parts)) return;
    const { description } = content;
    const artifact = { artifactId: name, name, parts, ...(description !== undefined && { description }) };
    await this.emitEvent(artifactUpdate(this.services.context, artifact, { lastChunk: true }));
  }

  private emitEvent(event: NodeEvent): Promise<void> {
    return new Promise((recorded) => void this.services.outbox.putItem({ event, onRecorded: recorded }));
  }

  private createContext(): WorkContext {
    const { context, opening, signal } = this.services;
    return {
      taskId: context.taskId,
      contextId: context.contextId,
      message: opening as ReceivedMessage,
      text: joinedText(opening.parts) ?? '',
      data: firstData(opening.parts),
      signal,
      step: (key, work) => markHandled(this.points.runStep(key, work)),
      ask: <T>(text: string, form?: JsonMembers) => markHandled(this.points.askQuestion(text, form) as Promise<T>),
      artifact: (artifact, content) => ({ artifact, content }),
      reject: (reason) => this.endWork('TASK_STATE_REJECTED', reason),
      fail: (reason) => this.endWork('TASK_STATE_FAILED', `Error: ${reason}`),
    };
  }

  /** Ends the work by throwing a WorkEnd. If the work catches the error and ends again, the first end counts. */
  private endWork(state: WorkEnd['state'], reason: string): never {
    this.ended ??= new WorkEnd(state, reason);
    throw this.ended;
  }

  /**
   * Returns the end of the Task that an error causes, with a reason that callers may see; `undefined` for an internal
   * error.
   */
  private endOf(error: unknown): Extract<WorkItem, { reason: string }> | undefined {
    const fault = this.points.fault ?? (error instanceof RunFault ? error : undefined);
    if (fault) return { end: 'TASK_STATE_FAILED', reason: `Error: ${fault.message}` };
    if (this.ended) return { end: this.ended.state, reason: this.ended.message };
    return isFailure(error) ? { end: 'TASK_STATE_FAILED', reason: `Error: ${error.message}` } : undefined;
  }
}

/** Returns a promise whose rejection counts as handled, even if the work does not await it. */
function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

function isIterable(work: unknown): work is AsyncIterable<Output> {
  return typeof work === 'object' && work !== null && Symbol.asyncIterator in work;
}

function isArtifact(value: unknown): value is ArtifactOutput {
  return isJsonObject(value) && typeof value['artifact'] === 'string' && isJsonObject(value['content']);
}

/**
 * Returns the Parts of an Artifact.
 * @throws RunFault for values of a wrong type, which authors in JavaScript may give
 */
function artifactParts(name: string, content: ArtifactContent): Part[] {
  const parts = contentParts(content);
  const problem = partsProblem(parts ?? null);
  if (problem !== undefined) throw new RunFault(`the Artifact "${name}": ${problem}`);
  return parts as Part[];
}

function contentParts(content: ArtifactContent): JsonValue | undefined {
  if ('text' in content) return [textPart(content.text)] as JsonValue;
  if ('data' in content) return [dataPart(content.data)] as JsonValue;
  return content.parts as JsonValue | undefined;
}
