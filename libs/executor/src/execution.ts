import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  REVISION_KEY,
  type CallContext,
  type HeldParts,
  type PartKeeper,
  type PartRestorer,
  type ServedAgent,
} from '#libs/agents';
import {
  A2AError,
  ContentTooLarge,
  dateOfTimestamp,
  type JsonObject,
  type Message,
  type Part,
  randomId,
  type SendMessageRequest,
  type Task,
  timestampNow,
} from '#libs/protocol';
import {
  begunTask,
  newTaskId,
  type RecordedEvent,
  type TaskEvent,
  type TaskHeader,
  type TaskRecording,
  type TaskScope,
  type TaskStore,
} from '#libs/tasks';
import { keptTrace } from './task-tracing.js';

/**
 * Execution of one turn of a Task that this process has accepted: from a Message until the Task ends, waits or is
 * parked.
 */
export interface Execution {
  readonly taskId: string;
  readonly contextId: string;
  /** True if the turn was started by an earlier request with the same `Idempotency-Key`, and not by this one. */
  readonly repeated?: true;
  /**
   * The accepted Task and its sequence; resolves when both are durable. For a caller outside this process, rejects
   * with status 503 if that takes longer than JOURNAL_STALL_LIMIT (see `acceptedInTime`).
   */
  readonly accepted: Promise<{ task: Task; sequence: number }>;
  /** The accepted Task and its sequence, known before they are durable. */
  readonly begunAs: { task: Task; sequence: number };
  /**
   * Events that are recorded after the acceptance, before they are durable, for one reader in this process (see
   * LiveEvents). `undefined` for calls without a `parent`. The stream ends with a terminal or waiting state, and when
   * this process stops working on the Task, also because the Task is parked.
   */
  readonly live: LiveEvents | undefined;
  /**
   * Resolves with the Task in its terminal or waiting state, when that state is durable. Rejects with
   * ExecutionInterrupted if this process stops working on the Task first, which includes parking it.
   */
  readonly settled: Promise<Task>;
}

/**
 * Stream of an execution's events as they are recorded, before they are durable. The reader must be in this process,
 * and must record its own events in the same journal. The journal keeps the order of events: an event that the reader
 * records as a reaction becomes durable only after the event that caused the reaction.
 */
export class LiveEvents implements AsyncIterable<RecordedEvent> {
  private events: RecordedEvent[] = [];
  private ended = false;
  private wake: () => void = () => undefined;

  push(event: RecordedEvent): void {
    if (this.ended) return;
    this.events.push(event);
    this.wake();
  }

  /** Ends the stream. Events that are pushed later are dropped. */
  endStream(): void {
    this.ended = true;
    this.wake();
  }

  /** Ends the stream when the signal aborts. */
  endOnAbort(signal: AbortSignal | undefined): this {
    signal?.addEventListener('abort', () => this.endStream(), { once: true });
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordedEvent, void, undefined> {
    try {
      for (;;) {
        const { events } = this;
        this.events = [];
        // Not `yield*`, which costs one more promise per event.
        for (const event of events) yield event;
        if (this.events.length > 0) continue;
        if (this.ended) return;
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    } finally {
      // The only reader has left, so nothing is kept.
      this.ended = true;
      this.events = [];
    }
  }
}

/** Limit on the time until a Message must be durable. */
export interface AcceptanceLimit {
  /** Maximum milliseconds that the journal, which writes all events, may write nothing (JOURNAL_STALL_LIMIT). */
  readonly limitMs: number;
  /** Returns the time in milliseconds since the journal last wrote, while events wait for it; 0 if no event waits. */
  standsStillMs(): number;
}

/** Multiple of `limitMs` after which a Message fails even if the journal still writes. */
const LIMITS_IN_ALL = 4;
const NOT_CONFIRMED = 'MESSAGE_NOT_CONFIRMED';

/**
 * Resolves when a Message is durable. After a timeout the journal, which writes all events, keeps the Message and may
 * still write it.
 * @throws A2AError INTERNAL with reason MESSAGE_NOT_CONFIRMED and status 503 if the journal writes nothing for
 *   `limitMs`, and in any case after four times `limitMs`
 */
export async function acceptedInTime(durable: Promise<void>, limit: AcceptanceLimit): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const begun = performance.now();
  const checkLimits = (): NodeJS.Timeout | undefined => {
    const left = Math.min(
      limit.limitMs - limit.standsStillMs(),
      limit.limitMs * LIMITS_IN_ALL - (performance.now() - begun),
    );
    if (left > 0) return scheduleCheck(left);
    reject(notConfirmed());
    return undefined;
  };
  const scheduleCheck = (ms: number): NodeJS.Timeout => setTimeout(() => (timer = checkLimits()), ms);
  let timer: NodeJS.Timeout | undefined = scheduleCheck(limit.limitMs);
  try {
    await Promise.race([durable, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the error for a Message that arrives while the journal can write nothing. No part of that Message is
 * stored.
 */
export function journalStalled(): A2AError {
  const message = 'The database is out of reach at the moment; try again later';
  return new A2AError('INTERNAL', { message, detailReason: 'DATABASE_UNAVAILABLE', status: 503 });
}

/** True if the error means that the Message was not confirmed in time; the journal may still write it. */
export function isNotConfirmed(error: unknown): boolean {
  return error instanceof A2AError && error.detailReason === NOT_CONFIRMED;
}

function notConfirmed(): A2AError {
  const message =
    'The message was not stored in time and may still be stored; try again later with the same Idempotency-Key, if any';
  return new A2AError('INTERNAL', { message, detailReason: NOT_CONFIRMED, status: 503 });
}

/** Creates the header of the new Task for a Message to an agent. */
export function newHeader(agent: ServedAgent, request: SendMessageRequest, call: CallContext): TaskHeader {
  const now = dateOfTimestamp(timestampNow());
  return {
    taskId: call.newTaskId?.() ?? agent.executor.newTaskId?.() ?? newTaskId(),
    contextId: request.message.contextId || randomId(),
    tenant: call.scope.tenant,
    owner: call.scope.owner,
    agent: agent.path,
    state: 'TASK_STATE_SUBMITTED',
    lastSequence: 0,
    ...(call.parent && { parentTaskId: call.parent.taskId, parentReference: call.parent.reference }),
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * Returns the metadata of a new Task, which callers see: the agent's revision, the trace and the members that the
 * executor adds. The metadata of a registered agent's Task have no revision.
 */
export function newTaskMetadata(agent: ServedAgent, request: SendMessageRequest, call: CallContext): JsonObject {
  return {
    ...agent.executor.taskMetadata?.(request, call),
    ...keptTrace(request, call),
    ...(agent.card === undefined && { [REVISION_KEY]: agent.version }),
  };
}

/** Returns the revision of the agent that accepted a Task; `undefined` if its log does not contain it. */
export async function acceptedRevision(
  tasks: Pick<TaskStore, 'readEvents'>,
  taskId: string,
): Promise<string | undefined> {
  const revision = (await begunTask(tasks, taskId))?.metadata?.[REVISION_KEY];
  return typeof revision === 'string' ? revision : undefined;
}

/**
 * Records the event with which a Message is accepted.
 * @throws A2AError INVALID_REQUEST with status 413 if it is too large
 */
export function recordAccepted(recording: TaskRecording, event: TaskEvent): void {
  try {
    recording.recordEvent(event);
  } catch (error) {
    if (!(error instanceof ContentTooLarge)) throw error;
    const options = { message: error.message, detailReason: 'MESSAGE_TOO_LARGE', status: 413, cause: error };
    throw new A2AError('INVALID_REQUEST', options);
  }
}

/**
 * HTTP header with a revision claim. With it, a replica that calls an agent for a run requests the revision with which
 * the run was started. (A revision claim is unrelated to TaskClaim, the right to write a Task.)
 */
export const REVISION_CLAIM = 'parley-revision';

/** Agent and caller of a revision claim. */
export interface ClaimedCall {
  agent: string;
  scope: TaskScope;
}

/** Time for which a revision claim is valid, in milliseconds. The clocks of replicas may differ by less than this. */
const CLAIM_MS = 60_000;
const CONTEXT = 'parley-revision-1';
const MAX_LENGTH = 1024;

/**
 * Signs and reads revision claims. In calls between replicas, such a claim requests a certain revision of an agent
 * (HMAC-SHA-256 with the secret that the replicas share). Only runs may call an agent in a revision other than its
 * newest. A revision claim is valid for one agent, one owner and one minute.
 */
export class RevisionClaims {
  constructor(private readonly secret: Buffer) {}

  signRevision(call: ClaimedCall, revision: string, now = Date.now()): string {
    const content = Buffer.from(JSON.stringify([revision, now + CLAIM_MS])).toString('base64url');
    return `${content}.${this.computeSignature(call, content).toString('base64url')}`;
  }

  /**
   * Returns the revision that a revision claim requests.
   * @param now time of the check, in milliseconds since 1970
   * @throws A2AError INVALID_REQUEST if no replica signed the claim for this call, or the claim has expired
   */
  readRevision(call: ClaimedCall, claim: string, now = Date.now()): string {
    const [content = '', signature = '', ...rest] = claim.length > MAX_LENGTH ? [] : claim.split('.');
    const [given, expected] = [Buffer.from(signature, 'base64url'), this.computeSignature(call, content)];
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) throw claimRefused();
    const [revision, ends] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, number];
    if (now >= ends) throw claimRefused();
    return revision;
  }

  private computeSignature({ agent, scope: { tenant, owner } }: ClaimedCall, content: string): Buffer {
    const signed = JSON.stringify([CONTEXT, tenant, owner, agent, content]);
    return createHmac('sha256', this.secret).update(signed).digest();
  }
}

function claimRefused(): A2AError {
  return new A2AError('INVALID_REQUEST', { message: `${REVISION_CLAIM}: is not signed for this call, or has expired` });
}

/** Stores the large Parts of incoming Messages as files. */
export class MessageFiles {
  constructor(
    readonly keeper: PartKeeper | undefined,
    /** Signal that ends waiting for an unreachable database. */
    private readonly leaving: AbortSignal,
  ) {}

  /** True if the Message has Parts that `keepFiles` may store as files. */
  concernsRequest({ message }: SendMessageRequest): boolean {
    return this.keeper?.concernsParts(message.parts) ?? false;
  }

  /**
   * Returns the request with the large Parts of its Message stored as files. If the database is unreachable, in-process
   * calls wait for it; other calls fail.
   */
  async keepFiles(request: SendMessageRequest, { scope, parent }: CallContext): Promise<SendMessageRequest> {
    const { message } = request;
    if (!this.keeper?.concernsParts(message.parts)) return request;
    const parts = await this.keeper.keepParts(message.parts, scope, parent && this.leaving);
    return { ...request, message: { ...message, parts } };
  }
}

/** Stores the large Parts of the events of one execution as files. A Part that is in several events is stored once. */
export class KeptEvents {
  private readonly kept = new WeakMap<Part, { raw: string | undefined; url: string | undefined; part: Part }>();
  private readonly restorers = new Set<PartRestorer>();
  private isOver = false;

  constructor(
    private readonly keeper: PartKeeper,
    private readonly owner: TaskScope,
    private readonly signal: AbortSignal,
  ) {}

  /** True if the event has Parts that `keepEvent` may store as files. */
  concernsEvent(event: TaskEvent): boolean {
    return this.keeper.concernsParts(saidParts(event));
  }

  /** Returns the event with the large Parts of its Artifact or of its status Message stored as files. */
  async keepEvent(event: TaskEvent): Promise<TaskEvent> {
    const parts = await this.keepParts(saidParts(event));
    if ('artifactUpdate' in event) {
      const { artifactUpdate } = event;
      return { ...event, artifactUpdate: { ...artifactUpdate, artifact: { ...artifactUpdate.artifact, parts } } };
    }
    if (!('statusUpdate' in event) || !event.statusUpdate.status.message) return event;
    const { statusUpdate } = event;
    const message: Message = { ...statusUpdate.status.message!, parts };
    return { ...event, statusUpdate: { ...statusUpdate, status: { ...statusUpdate.status, message } } };
  }

  /** Returns Parts with large bytes stored as files. */
  async keepParts(parts: readonly Part[]): Promise<Part[]> {
    const fresh = parts.filter((part) => this.findKept(part) === undefined);
    if (this.keeper.concernsParts(fresh)) {
      const kept = await this.keeper.keepParts(fresh, this.owner, this.signal);
      for (const [index, part] of fresh.entries())
        if (kept[index] !== part) this.kept.set(part, { raw: part.raw, url: part.url, part: kept[index]! });
    }
    return parts.map((part) => this.findKept(part) ?? part);
  }

  /**
   * Opens a restorer, which puts the bytes of stored files back into Parts that will be recorded. When the execution
   * ends, the restorer is disposed of.
   */
  partRestorer(): PartRestorer {
    const opened = this.keeper.restorer(this.owner, this.signal);
    const restorer: PartRestorer = {
      restoreParts: (parts) => opened.restoreParts(parts),
      [Symbol.dispose]: () => {
        this.restorers.delete(restorer);
        opened[Symbol.dispose]();
      },
    };
    if (this.isOver) opened[Symbol.dispose]();
    else this.restorers.add(restorer);
    return restorer;
  }

  /** Disposes of all open restorers. Call it when the execution has ended. */
  endRestorers(): void {
    this.isOver = true;
    for (const restorer of this.restorers) restorer[Symbol.dispose]();
  }

  /**
   * Returns Parts with their bytes in place of stored files. The bytes stay in memory until the caller disposes of the
   * result.
   */
  holdParts(parts: readonly Part[]): Promise<HeldParts> {
    return this.keeper.holdParts(parts, this.owner, this.signal);
  }

  /**
   * Returns the stored form of a Part; `undefined` if the Part was not stored. The content is compared as well, because
   * the same object may have different content by now.
   */
  private findKept(part: Part): Part | undefined {
    const kept = this.kept.get(part);
    return kept && kept.raw === part.raw && kept.url === part.url ? kept.part : undefined;
  }
}

/**
 * Returns the Parts that an agent sends in an event. For the first event of a Task, returns none: its Message is from
 * the caller.
 */
function saidParts(event: TaskEvent): readonly Part[] {
  if ('artifactUpdate' in event) return event.artifactUpdate.artifact.parts;
  return ('statusUpdate' in event && event.statusUpdate.status.message?.parts) || [];
}
