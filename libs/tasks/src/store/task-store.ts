import type { Job } from '#libs/jobs';
import type { Task, TaskState } from '#libs/protocol';
import type { RecordedEvent, TaskQuestion } from '../fold/task-event.js';
import type { TaskSnapshot } from '../fold/task-fold.js';

/** Scope of the Tasks that a caller may see. */
export interface TaskScope {
  tenant: string;
  owner: string;
}

/** Data of a Task that Parley keeps besides what A2A shows. */
export interface TaskHeader extends TaskScope {
  taskId: string;
  contextId: string;
  /** Path of the agent that owns the Task, for example `workflows/translate/nodes/summary`; `''` is the service. */
  agent: string;
  state: TaskState;
  lastSequence: number;
  /** Parent Task, if a workflow run created this one, and the node and attempt of the run. */
  parentTaskId?: string;
  parentReference?: string;
  createdAt: Date;
  /** Time of the newest status (section 3.1.4 sorts by it). */
  updatedAt: Date;
  /** Time at which the Task is due, if its last event parked it or a cancel was requested. */
  wakeAt?: Date;
  /** Present if a cancel was requested. */
  cancelRequested?: true;
  /** Bytes of the log, and those of Artifacts among them; absent if not measured yet. */
  size?: { log: number; artifacts: number };
}

/** A Task folded from its log up to `header.lastSequence`. */
export interface StoredTask {
  header: TaskHeader;
  task: Task;
  /** Bytes of its log. */
  bytes?: number;
}

/** A Task's header and, if it is short, its log up to `header.lastSequence`. */
export interface TaskLog {
  header: TaskHeader;
  events?: readonly RecordedEvent[];
}

/** Right to write one Task, until another claim replaces it. `token` is new with every claim and fences writes. */
export interface TaskClaim {
  taskId: string;
  token: string;
}

/** Outcome of an attempt to renew claims. A claim in neither list was locked and is presumably unchanged. */
export interface RenewedClaims {
  /** Claims with their new tokens. */
  renewed: TaskClaim[];
  /** Ids of the Tasks that have another claim, or none. */
  lost: string[];
}

/** A caller's promise that requests under one key are the same request. The fingerprint checks that. */
export interface Idempotency {
  key: string;
  fingerprint: string;
}

/** Request that was accepted under a key: its fingerprint, and the event that accepted its Message. */
export interface KeyedRequest {
  taskId: string;
  fingerprint: string;
  /** Sequence of that event; 1 if the Message created the Task. */
  sequence: number;
}

/**
 * Precondition of creating or reading a Task, checked by the same statement: the relation contains this row of the
 * newest revision of the Task's agent. `version` changes with every change of the row.
 */
export interface RevisionPrecondition {
  relation: 'workflow_newest';
  tenant: string;
  name: string;
  version: string;
}

/** Part of one Task in a journal batch: consecutive events that continue its log. */
export interface JournalEntry {
  taskId: string;
  contextId: string;
  token: string;
  /**
   * Row to insert; present if the events begin with `task`. It is fenced if its idempotency key has a Task already, its
   * premise does not hold, or its parent is not claimed with `parentToken` (if absent: by the replica).
   */
  create?: {
    header: TaskHeader;
    replicaId: string;
    parentToken?: string;
    idempotency?: Idempotency;
    premise?: RevisionPrecondition;
  };
  /** Present if the events begin with a follow-up Message under a key; fenced if the key was used before. */
  keyed?: { header: TaskHeader; idempotency: Idempotency };
  /** `lastSequence` before these events. */
  after: number;
  events: readonly RecordedEvent[];
  /** Snapshot of the Task after these events, if it is worth storing. */
  snapshot?: TaskSnapshot;
  /** Jobs to enqueue in the same commit; not enqueued if the entry is fenced. */
  jobs?: readonly Job[];
  /** State and status time after these events. A terminal or waiting state releases the claim. */
  state: TaskState;
  updatedAt: Date;
  /** Present if the last event parks the Task, which releases the claim too. */
  wakeAt?: Date;
  /** All questions of the Task from now on (see TaskQuestions); absent if the Task continues or has never asked. */
  asked?: { header: TaskHeader; questions: readonly TaskQuestion[] };
  /** Files that the events name. Those of the Task's owner are recorded as used by it, in the same commit. */
  named?: { scope: TaskScope; files: readonly string[] };
}

/**
 * Outcome of an entry. `fenced`: the claim was lost, the log has progressed, or the Task has ended. Nothing of the
 * entry was written.
 */
export type JournalOutcome = 'written' | 'fenced';

/** Condition for claiming a Task: it waits for its caller, or it is due (see `wakeAt`). */
export type ClaimCondition = 'waiting' | 'due';

/** Filter of Tasks. */
export interface TaskFilter {
  scope: TaskScope;
  /** Agent path, or `workflows/*` for every agent one step below `workflows`; absent: every agent. */
  agent?: string;
  /** Paths of agents: selects their Tasks. */
  agents?: readonly string[];
  /** Parent of the Tasks: selects its children in this service, and the Tasks with the ids in `elsewhere`. */
  calledBy?: { taskId: string; elsewhere: readonly string[] };
  contextId?: string;
  /** Ids of the Tasks. */
  taskIds?: readonly string[];
  state?: TaskState;
  updatedAfter?: Date;
  /** Text that occurs in the agent's path after its first slash, ignoring case, or with which the Task's id begins. */
  search?: string;
}

export interface TaskQuery extends TaskFilter {
  /** True for an execution: the query neither waits behind lists of callers nor is subject to their limits. */
  urgent?: boolean;
  /** `false` to return Tasks without Artifacts, and to read none. */
  artifacts?: boolean;
  /** Exclusive position: the last row of the previous page. */
  before?: { updatedAt: Date; taskId: string };
  limit: number;
}

/** Admits large logs before they are read. */
export interface LogAdmission {
  /** Resolves when so many bytes of logs may be read. A rejection prevents the read. */
  admitBytes(bytes: number): Promise<void>;
}

/** Limits of a page of Tasks. */
export interface PageAdmission extends LogAdmission {
  /** Maximum total bytes of the large logs on a page. A page always has at least one Task. */
  readonly bytes: number;
}

export interface TaskPage {
  tasks: StoredTask[];
  /** True if there are further Tasks. */
  more: boolean;
}

/** Journal writes, and reads of logs where they are written. */
export type EntryWrites = Pick<TaskStore, 'writeBatch' | 'readRecordedEvents'>;

/**
 * Stores Tasks and their append-only logs. Implementations guarantee:
 * - A batch is atomic, and durable when `writeBatch` resolves.
 * - A Task has one writer, fenced by its token.
 * - A terminal Task is never written again.
 * - Sequences have no gaps.
 */
export abstract class TaskStore {
  /**
   * Writes a batch in one commit. Each Task occurs at most once. Batches are written in the order of the calls. A
   * fenced entry does not affect the others.
   * @throws the database's error if nothing of the batch was written, or if that is unknown; TypeError if a Task occurs
   * twice
   */
  abstract writeBatch(batch: readonly JournalEntry[]): Promise<JournalOutcome[]>;

  /**
   * Commits a write that changes nothing, like a batch. Resolves if batches can be written at the moment, rejects with
   * the database's error.
   */
  abstract probeWrite(): Promise<void>;

  /**
   * Returns the Task and its header; `undefined` if it is unknown or out of scope. Without a scope: any Task (internal
   * callers).
   * @throws PreconditionFailed if a premise is given and does not hold at that moment, or there is no such Task
   */
  abstract loadTask(
    taskId: string,
    scope?: TaskScope,
    admission?: LogAdmission,
    premise?: RevisionPrecondition,
  ): Promise<StoredTask | undefined>;

  /** Returns the header and, if it is short, the log, both as of one moment. Scope and premise as for `loadTask`. */
  abstract readLog(taskId: string, scope?: TaskScope, premise?: RevisionPrecondition): Promise<TaskLog | undefined>;

  /** Returns only the header. */
  abstract readHeader(taskId: string, scope?: TaskScope): Promise<TaskHeader | undefined>;

  /** Returns the headers of several Tasks by id, without unknown ids. */
  abstract readHeaders(taskIds: readonly string[]): Promise<Map<string, TaskHeader>>;

  /**
   * Returns at most `limit` events after `afterSequence`, in order.
   * @param reader caller whose reads of many logs run one after another, and take turns with those of others
   */
  abstract readEvents(
    taskId: string,
    afterSequence: number,
    limit: number,
    reader?: TaskScope,
  ): Promise<RecordedEvent[]>;

  /**
   * Reads events like `readEvents`, but where batches are written: includes every write of `writeBatch`, which other
   * readers may not see yet, and none that only a replaced server has.
   */
  readRecordedEvents(taskId: string, afterSequence: number, limit: number): Promise<RecordedEvent[]> {
    return this.readEvents(taskId, afterSequence, limit);
  }

  /** Writes for entries that failed on their own. A slow or failed one does not delay batches of `writeBatch`. */
  get retries(): EntryWrites {
    return this;
  }

  /** Lists Tasks, newest status first, then by id. */
  abstract findTasks(query: TaskQuery): Promise<StoredTask[]>;

  /** Lists Tasks as a page of at most `limit`, within its limits. */
  abstract readPage(query: TaskQuery, admission: PageAdmission): Promise<TaskPage>;

  /**
   * Returns the headers of Tasks that completed before a Task began, in its context, with its agent and owner: at most
   * `limit` of them, the last one to complete first.
   * - The order is that of commits, by the one clock of the store; clocks of replicas take no part.
   * - A Task that was still open when this one began is left out, however often the store is asked.
   */
  abstract completedBefore(taskId: string, limit: number): Promise<TaskHeader[]>;

  /**
   * Returns the exact number of matching Tasks. By tenant, owner, agent and state, the cost does not depend on that
   * number.
   */
  abstract countTasks(filter: TaskFilter): Promise<number>;

  /**
   * Claims a Task that no replica executes and that has not ended; `undefined` otherwise. A failed claim is released;
   * if that fails too, `listClaims` shows it.
   */
  abstract claimTask(
    taskId: string,
    replicaId: string,
    token: string,
    only?: ClaimCondition,
  ): Promise<StoredTask | undefined>;

  /**
   * Returns at most `limit` Tasks that no replica executes and that have been due for `byMs` milliseconds, parked or
   * with a cancel request, without those of `except`. The oldest come first. If there are more than `limit`, at most
   * half of the result is one Task of each of the next callers, in turn.
   */
  abstract findOverdue(byMs: number, limit: number, except?: readonly string[]): Promise<string[]>;

  /**
   * Adopts at most `limit` Tasks that the given replicas had claimed, each with a new token: later writes of those
   * replicas are fenced. Concurrent adopters never get the same Task.
   * - Takes nothing from a replica that is alive at that moment, whatever was read of it before.
   * - Takes nothing unless the adopting replica has just proved its own life.
   */
  abstract adoptTasks(replicaId: string, fromReplicaIds: readonly string[], limit: number): Promise<TaskClaim[]>;

  /** Returns all claims of a replica. */
  abstract listClaims(replicaId: string): Promise<TaskClaim[]>;

  /** Returns true if the Task still has this claim. */
  abstract isClaimHeld(claim: TaskClaim): Promise<boolean>;

  /**
   * Renews the tokens of claims, so that writes with the old ones are fenced. Skips a Task that another transaction has
   * locked instead of waiting for it.
   */
  abstract renewClaims(claims: readonly TaskClaim[]): Promise<RenewedClaims>;

  /**
   * Returns the replicas that have claims: those of `among`, or all. All may be slow while a snapshot is held, since
   * former claims are scanned: ask rarely.
   */
  abstract listClaimants(among?: readonly string[]): Promise<string[]>;

  /**
   * Releases an unused claim of a Task that waits, is parked or has ended. A Task that is at work keeps its claim:
   * without one, no replica would resume it.
   */
  abstract releaseClaim(claim: TaskClaim): Promise<void>;

  /**
   * Stores a request to cancel a Task that has not ended, for the replica that executes or adopts it. A Task that waits
   * or is parked, now or later, becomes due.
   */
  abstract requestCancel(taskId: string): Promise<void>;

  /** Returns the Tasks with a cancel request that a replica executes. */
  abstract cancelRequests(replicaId: string): Promise<string[]>;

  /** Returns the request that a caller's key stands for at an agent. */
  abstract findKeyedRequest(scope: TaskScope, agent: string, key: string): Promise<KeyedRequest | undefined>;

  /** Returns the children of a Task. */
  abstract listChildren(parentTaskId: string): Promise<TaskHeader[]>;

  /**
   * Returns the children of a Task, read where batches are written, as `readRecordedEvents` does. For callers that
   * create missing children.
   */
  recordedChildren(parentTaskId: string): Promise<TaskHeader[]> {
    return this.listChildren(parentTaskId);
  }

  /** Returns the last sequences of Tasks by id, without unknown ids. */
  abstract lastSequences(taskIds: readonly string[]): Promise<Map<string, number>>;
}

/** Scope of all callers while callers have no identity. */
export const ANONYMOUS_SCOPE: TaskScope = { tenant: '', owner: '' };

/**
 * Error after the claim to a Task was lost: another replica writes it now, or it has ended. Nothing more can be
 * recorded here.
 */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Error of a Task that was not created or read because its premise may no longer hold. Nothing was recorded. */
export class PreconditionFailed extends ClaimLost {}
