import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  BRAINSTORM_ENTRY,
  CALL_CHAIN,
  type CallContext,
  callerGone,
  CONVERSATION_ENTRY,
  ExecutionInterrupted,
  type ServedAgent,
  withoutExtension,
} from '#libs/agents';
import { isDatabaseAway } from '#libs/postgres';
import {
  A2AError,
  canonicalJson,
  invalidParams,
  isWaitingState,
  type JsonValue,
  type SendMessageRequest,
  type Task,
} from '#libs/protocol';
import { foldEvents, foldLog, type Idempotency, type KeyedRequest, type TaskFeed, type TaskStore } from '#libs/tasks';
import { type Execution, isNotConfirmed, type MessageFiles } from './execution.js';
import { isTaskBusy } from './task-claims.js';

/**
 * Maximum time, in milliseconds, that a request is retried while another request has claimed the Task and has not
 * written an event yet.
 */
const CONTENDED_FOR_MS = 10_000;
/** Milliseconds between the retries of a request while another request holds the Task. */
const CONTENDED_MS = 20;
/**
 * Number of copies of a Task in memory for a repeated request: the accepted Task, and the Task at the end of its turn.
 */
const BOTH_ENDS = 2;

/** Part of ExecutionRegistry that starts executions for requests with an idempotency key. */
interface KeyedExecutions {
  readonly files: Pick<MessageFiles, 'concernsRequest' | 'keepFiles'>;
  beginExecution(agent: ServedAgent, request: SendMessageRequest, call: CallContext, once: Idempotency): Execution;
  resumeExecution(
    agent: ServedAgent,
    taskId: string,
    request: SendMessageRequest,
    call: CallContext,
    options: { once: Idempotency },
  ): Promise<Execution>;
}

/**
 * Accepts a request under an `Idempotency-Key` once, in any replica. A repeated request gets the turn that the first
 * attempt started.
 */
export class IdempotentRequests {
  constructor(
    private readonly store: TaskStore,
    private readonly feed: TaskFeed,
    private readonly executions: KeyedExecutions,
  ) {}

  /** Creates a Task under a key, as `ExecutionRegistry.beginOnce` describes. */
  async beginOnce(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
    sent = request,
  ): Promise<Execution> {
    const once = idempotencyOf(sent, key);
    let kept = request;
    if (this.executions.files.concernsRequest(request)) {
      // A repeated request must not store files again.
      const known = await this.findKnownTurn(agent, call, once, sent);
      if (known) return known;
      kept = await this.executions.files.keepFiles(request, call);
    }
    const execution = this.executions.beginExecution(agent, kept, call, once);
    try {
      await execution.accepted;
      return execution;
    } catch (error) {
      const known = error instanceof ExecutionInterrupted && (await this.findKnownTurn(agent, call, once, sent));
      if (!known) throw error;
      return known;
    }
  }

  /** Records a Message to a waiting Task under a key, as `ExecutionRegistry.resumeOnce` describes. */
  async resumeOnce(
    agent: ServedAgent,
    taskId: string,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
  ): Promise<Execution> {
    const once = idempotencyOf(request, key);
    const known = await this.findKnownTurn(agent, call, once, request);
    if (known) return known;
    const kept = await this.executions.files.keepFiles(request, call);
    const begun = performance.now();
    for (;;) {
      try {
        return await this.executions.resumeExecution(agent, taskId, kept, call, { once });
      } catch (error) {
        if (isNotConfirmed(error)) throw error;
        // The same request may have arrived twice at once. While the Task still waits, the other attempt is not
        // durable.
        const header = await this.store.readHeader(taskId);
        const repeated = await this.findKnownTurn(agent, call, once, request);
        if (repeated) return repeated;
        const isOver = performance.now() - begun > CONTENDED_FOR_MS;
        const mayRetry = !isOver && isContended(error) && header !== undefined && isWaitingState(header.state);
        if (!mayRetry) throw error;
        await delay(CONTENDED_MS);
      }
    }
  }

  /** Returns the execution that an equal request started, as `ExecutionRegistry.findRepeated` describes. */
  findRepeated(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
  ): Promise<Execution | undefined> {
    return this.findKnownTurn(agent, call, idempotencyOf(request, key), request);
  }

  /**
   * Returns the turn that an equal request under the key has started; `undefined` if the key is new. The result is an
   * execution with the Task as it was accepted, the events of that turn, and the Task at the end of that turn, even if
   * the Task has continued since.
   * @throws A2AError INVALID_PARAMS with reason `IDEMPOTENCY_CONFLICT` and status 409 for a different request under the
   * key
   */
  private async findKnownTurn(
    agent: ServedAgent,
    call: CallContext,
    once: Idempotency,
    request: SendMessageRequest,
  ): Promise<Execution | undefined> {
    const known = await this.store.findKeyedRequest(call.scope, agent.path, once.key);
    if (!known) return undefined;
    if (known.fingerprint !== once.fingerprint && !earlierFingerprints(request).includes(known.fingerprint))
      throw idempotencyConflict();
    return this.toExecution(known, call);
  }

  private async toExecution({ taskId, sequence }: KeyedRequest, call: CallContext): Promise<Execution> {
    const task = await this.taskAt(taskId, sequence, call, BOTH_ENDS);
    const begunAs = { task, sequence };
    const followTurn = (): Promise<Task> => this.taskAfterTurn(taskId, sequence, call);
    return {
      taskId,
      contextId: task.contextId,
      repeated: true,
      begunAs,
      accepted: Promise.resolve(begunAs),
      live: undefined,
      get settled() {
        return followTurn();
      },
    };
  }

  /**
   * Returns the Task at the end of the turn that began with the event `begun`.
   * @throws the signal's reason if the caller has disconnected
   */
  private async taskAfterTurn(taskId: string, begun: number, call: CallContext): Promise<Task> {
    const signal = callerGone(call);
    let last = begun;
    for await (const { sequence } of this.feed.followTask(taskId, begun, { until: 'waiting', signal })) last = sequence;
    signal?.throwIfAborted();
    return this.taskAt(taskId, last, call, 1);
  }

  /**
   * Returns the Task as of a sequence in its log. Because a caller can request this repeatedly with small requests, a
   * long log is read only if memory for the answer can be reserved.
   * @param times number of copies of the Task in memory
   */
  private async taskAt(taskId: string, sequence: number, call: CallContext, times: number): Promise<Task> {
    const { admission, scope } = call;
    const log = admission && sequence > 1 ? await this.store.readLog(taskId) : undefined;
    if (log && !log.events) await admission?.admitBytes(times * (log.header.size?.log ?? 0));
    const short = log?.events?.slice(0, sequence);
    const isWhole = short?.length === sequence;
    const fold = isWhole ? foldEvents(short) : await foldLog(this.store, taskId, sequence, admission && scope);
    if (!fold) throw new A2AError('TASK_NOT_FOUND', { metadata: { taskId } });
    return fold.toTask();
  }
}

/**
 * True if a retry of the request may succeed, because another request may be about to write, or the database was
 * unreachable. False if the Message was rejected.
 */
function isContended(error: unknown): boolean {
  const isBusy = isTaskBusy(error) || (error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION');
  return isBusy || error instanceof ExecutionInterrupted || isDatabaseAway(error);
}

const ENTRIES = [CONVERSATION_ENTRY, BRAINSTORM_ENTRY];

/**
 * Returns the idempotency key of a request and a fingerprint of the request's JSON. The fingerprint ignores three
 * things:
 *
 * - the order of members: clients need not preserve it, and gRPC with its maps cannot
 * - the entry in the Message that describes its conversation or brainstorm: a replica of another version may repeat the
 *   Message without the entry
 * - the call chain: it names agents of this service by the URL of the calling replica, and another replica may repeat
 *   the Message
 */
function idempotencyOf(request: SendMessageRequest, key: string): Idempotency {
  return { key, fingerprint: fingerprintWithout([...ENTRIES, CALL_CHAIN], request) };
}

/**
 * Returns the fingerprints that earlier versions of the service stored for a request: one includes the call chain, one
 * depends on the order of members.
 */
function earlierFingerprints(request: SendMessageRequest): string[] {
  return [fingerprintWithout(ENTRIES, request), digestOf(JSON.stringify(request))];
}

function fingerprintWithout(extensions: readonly string[], request: SendMessageRequest): string {
  const message = extensions.reduce(withoutExtension, request.message);
  const withoutAbsent = JSON.parse(JSON.stringify({ ...request, message })) as JsonValue;
  return digestOf(canonicalJson(withoutAbsent));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function idempotencyConflict(): A2AError {
  return new A2AError('INVALID_PARAMS', {
    message: 'IDEMPOTENCY_CONFLICT: another request was made under this Idempotency-Key',
    violations: [{ field: 'Idempotency-Key', description: 'was used for another request' }],
    detailReason: 'IDEMPOTENCY_CONFLICT',
    status: 409,
  });
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Validates and returns the value of an `Idempotency-Key` header, or of another field with that meaning.
 * @param field name of the field, for the error
 * @throws A2AError INVALID_PARAMS unless it has 1 to 255 visible ASCII characters
 */
export function readIdempotencyKey(value: unknown, field = 'Idempotency-Key'): string {
  if (typeof value === 'string' && KEY.test(value)) return value;
  throw invalidParams({ field, description: 'must be 1 to 255 visible ASCII characters' });
}
