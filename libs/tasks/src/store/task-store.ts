import type { Job } from '#libs/jobs';
import type { Task, TaskState } from '#libs/protocol';
import type { RecordedEvent, RelayedTurn, RemoteIds, TaskQuestion } from '../fold/task-event.js';
import type { ReportedModelCall } from '../fold/reported-model-call.js';
import type { TaskSnapshot } from '../fold/task-fold.js';

/** Tenant and owner of Tasks: a caller sees only the Tasks of its scope. */
export interface TaskScope {
  tenant: string;
  owner: string;
}

/** Data of a Task that Parley stores in addition to what A2A shows. */
export interface TaskHeader extends TaskScope {
  taskId: string;
  contextId: string;
  /** Path of the agent that owns the Task, for example `workflows/translate/nodes/summary`; `''` is the service. */
  agent: string;
  state: TaskState;
  lastSequence: number;
  /** Id of the parent Task, whose execution created this Task by the call `parentReference` (`node#attempt`). */
  parentTaskId?: string;
  parentReference?: string;
  createdAt: Date;
  /** Time of the newest status; ListTasks sorts by it (A2A 1.0, section 3.1.4). */
  updatedAt: Date;
  /** Time at which a replica must resume the Task: the end of a parked Task's wait, or the time of a cancel request. */
  wakeAt?: Date;
  /** Present if a cancel was requested. */
  cancelRequested?: true;
  /** Bytes of the log, and of the Artifact events in it; absent if they have not been measured. */
  size?: { log: number; artifacts: number };
}

/** Task with its header: the state after the events of its log up to `header.lastSequence`. */
export interface StoredTask {
  header: TaskHeader;
  task: Task;
  /** Bytes of the Task's log; absent if they are unknown. */
  bytes?: number;
}

/** Header of a Task and, if the log is short, its log up to `header.lastSequence`. */
export interface TaskLog {
  header: TaskHeader;
  events?: readonly RecordedEvent[];
}

/**
 * Right to write one Task, until another claim replaces it. `token` is new with every claim; a write with an older
 * token is rejected (fenced).
 */
export interface TaskClaim {
  taskId: string;
  token: string;
}

/** Outcome of an attempt to renew claims. A claim in neither list was skipped because its Task's row was locked. */
export interface RenewedClaims {
  /** Claims with their new tokens. */
  renewed: TaskClaim[];
  /** Ids of the Tasks that no longer have the given claim: another replica has claimed them, or no replica has. */
  lost: string[];
}

/**
 * Idempotency key of a request. A caller promises that all requests with the same key are equal; the fingerprint
 * verifies this promise.
 */
export interface Idempotency {
  key: string;
  fingerprint: string;
}

/** Request that was accepted under a key: its fingerprint, and the event that accepted its Message. */
export interface KeyedRequest {
  taskId: string;
  fingerprint: string;
  /** Sequence of the event that accepted the Message; 1 if the Message created the Task. */
  sequence: number;
}

/**
 * Precondition of creating or reading a Task, checked by the same statement: `relation` (a table or view) contains a
 * row with these values, which describes the newest revision of the Task's agent. `version` changes with every change
 * of the row.
 */
export interface RevisionPrecondition {
  relation: 'workflow_newest';
  tenant: string;
  name: string;
  version: string;
}

/** Part of a journal batch for one Task: consecutive events that continue its log. */
export interface JournalEntry {
  taskId: string;
  contextId: string;
  token: string;
  /**
   * New Task to insert; present if the events begin with `task`. The entry is fenced (rejected) in each of these cases:
   * - A Task was already created under the key of `idempotency`.
   * - The precondition `premise` does not hold.
   * - The Task has a parent, and the parent's claim has another token than `parentToken` or, if that is absent, another
   *   replica than `replicaId`.
   */
  create?: {
    header: TaskHeader;
    replicaId: string;
    parentToken?: string;
    idempotency?: Idempotency;
    premise?: RevisionPrecondition;
  };
  /**
   * Present if the events begin with a follow-up Message under an idempotency key. The entry is fenced (rejected) if
   * the key was used before.
   */
  keyed?: { header: TaskHeader; idempotency: Idempotency };
  /** Sequence of the last event in the log before these events. */
  after: number;
  events: readonly RecordedEvent[];
  /** Snapshot of the Task after these events, if it is worth storing. */
  snapshot?: TaskSnapshot;
  /** Jobs to enqueue in the same commit; not enqueued if the entry is fenced (rejected). */
  jobs?: readonly Job[];
  /** State and status time after these events. A terminal or waiting state releases the claim (TaskClaim). */
  state: TaskState;
  updatedAt: Date;
  /** Time until which the last event parks the Task: no replica executes it until then. Absent if it does not park. */
  wakeAt?: Date;
  /**
   * All open questions of the Task after these events (see TaskQuestions); absent if the Task continues or has never
   * asked.
   */
  asked?: { header: TaskHeader; questions: readonly TaskQuestion[] };
  /**
   * Ids of the files that the events name; absent if they name none. The files of the Task's owner are recorded as used
   * by the Task, in the same commit.
   */
  named?: { scope: TaskScope; files: readonly string[] };
  /** Turn that a new Task begins at an agent elsewhere; absent for all other Tasks. */
  relayed?: RelayedTurn;
  /** Ids of an agent elsewhere for the Task; absent if the events bring none. */
  remote?: RemoteIds;
  /** Lines of recorded prompts (see PromptLog), and the sequence of the first event with a line; absent without any. */
  prompts?: { sequence: number; body: string };
  /** Calls of models that the events report; absent if they report none. Their sums are stored in the same commit. */
  used?: { header: TaskHeader; calls: readonly ReportedModelCall[] };
}

/**
 * Outcome of a journal entry. `fenced`: the claim (right to write the Task) was lost, the log has progressed, or the
 * Task has ended; nothing of the entry was written.
 */
export type JournalOutcome = 'written' | 'fenced';

/** Condition for claiming a Task: it waits for its caller, or it is due (see `wakeAt`). */
export type ClaimCondition = 'waiting' | 'due';

/** Conditions that select Tasks. */
export interface TaskFilter {
  scope: TaskScope;
  /** Path of the Tasks' agent, or `workflows/*` for every agent one level below `workflows`; absent: every agent. */
  agent?: string;
  agents?: readonly string[];
  /** Selects the child Tasks of a Task: those in this service, and the Tasks with the ids in `elsewhere`. */
  calledBy?: { taskId: string; elsewhere: readonly string[] };
  contextId?: string;
  taskIds?: readonly string[];
  state?: TaskState;
  states?: readonly TaskState[];
  updatedAfter?: Date;
  updatedBefore?: Date;
  /** Search text: occurs in the agent's path after its first slash, ignoring case, or the Task's id begins with it. */
  search?: string;
}

export interface TaskQuery extends TaskFilter {
  /** True for a query of an execution: the query does not wait for lists of callers, and has no limits of a caller. */
  urgent?: boolean;
  /** `false` to return Tasks without Artifacts, and to read none. */
  artifacts?: boolean;
  /** Exclusive position (page cursor): the last Task of the previous page; absent for the first page. */
  before?: { updatedAt: Date; taskId: string };
  limit: number;
}

/** Reserves memory for large logs before they are read. */
export interface LogAdmission {
  /** Resolves when `bytes` bytes of logs may be read. A rejection prevents the read. */
  admitBytes(bytes: number): Promise<void>;
}

/** Reserves memory for a page of Tasks. */
export interface PageAdmission extends LogAdmission {
  /** Maximum total size of the large logs on a page, in bytes. A page always has at least one Task. */
  readonly bytes: number;
}

export interface TaskPage {
  tasks: StoredTask[];
  /** True if there are further Tasks. */
  more: boolean;
}

/** Part of TaskStore that writes batches, and reads logs in the session in which the batches are written. */
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
   * fenced (rejected) entry does not affect the other entries.
   * @throws the database's error if nothing of the batch was written, or if that is unknown; TypeError if a Task occurs
   *   twice
   */
  abstract writeBatch(batch: readonly JournalEntry[]): Promise<JournalOutcome[]>;

  /**
   * Commits a write that changes nothing, in the same way as a batch is written. Resolves if batches can be written at
   * the moment; rejects with the database's error otherwise.
   */
  abstract probeWrite(): Promise<void>;

  /**
   * Returns a Task and its header; `undefined` if the Task is unknown or out of scope. Without a scope (internal
   * callers), finds any Task.
   * @param premise precondition that the agent's revision is still the newest
   * @throws PreconditionFailed if a premise is given and does not hold at that moment, or there is no such Task
   */
  abstract loadTask(
    taskId: string,
    scope?: TaskScope,
    admission?: LogAdmission,
    premise?: RevisionPrecondition,
  ): Promise<StoredTask | undefined>;

  /**
   * Returns the header of a Task and, if its log is short, the log, both as of one moment. Scope and premise as for
   * `loadTask`.
   */
  abstract readLog(taskId: string, scope?: TaskScope, premise?: RevisionPrecondition): Promise<TaskLog | undefined>;

  /** Returns the header of a Task alone; `undefined` if the Task is unknown or out of scope. */
  abstract readHeader(taskId: string, scope?: TaskScope): Promise<TaskHeader | undefined>;

  /** Returns the headers of several Tasks by Task id. Unknown ids are omitted. */
  abstract readHeaders(taskIds: readonly string[]): Promise<Map<string, TaskHeader>>;

  /**
   * Returns at most `limit` events of a log after `afterSequence`, in order.
   * @param reader caller on whose behalf a long log is read; such reads of different callers take turns
   */
  abstract readEvents(
    taskId: string,
    afterSequence: number,
    limit: number,
    reader?: TaskScope,
  ): Promise<RecordedEvent[]>;

  /**
   * Returns at most `limit` events after a sequence like `readEvents`, but reads in the session in which `writeBatch`
   * writes. The result includes every batch, also one that other sessions do not see yet. It includes no event that
   * exists only at a database server that this session no longer uses.
   */
  readRecordedEvents(taskId: string, afterSequence: number, limit: number): Promise<RecordedEvent[]> {
    return this.readEvents(taskId, afterSequence, limit);
  }

  /** Writer that retries entries which failed alone. Its slow or failed writes do not delay batches of `writeBatch`. */
  get retries(): EntryWrites {
    return this;
  }

  /** Lists Tasks, newest status first; among equal times, by id in descending order. */
  abstract findTasks(query: TaskQuery): Promise<StoredTask[]>;

  /** Lists Tasks as a page of at most `limit` Tasks, and within the memory limits of `admission`. */
  abstract readPage(query: TaskQuery, admission: PageAdmission): Promise<TaskPage>;

  /**
   * Returns the headers of at most `limit` Tasks that completed before a given Task began, in the same context, with
   * the same agent and owner. The last one to complete is first.
   * - The order is the order of commits by the store's clock; the clocks of replicas do not matter.
   * - A Task that was still open when the given Task began is omitted, in every call.
   */
  abstract completedBefore(taskId: string, limit: number): Promise<TaskHeader[]>;

  /**
   * Returns the exact number of Tasks that match a filter, which must have no `search` and no `calledBy`. For a filter
   * by tenant, owner, agent and state, the cost does not depend on that number.
   */
  abstract countTasks(filter: TaskFilter): Promise<number>;

  /**
   * Claims a Task that has no claim and has not ended: makes the replica its only writer. Returns the claimed Task;
   * `undefined` if the Task cannot be claimed. If the statement or the read of the Task fails, the claim is released
   * again; if the release fails too, `listClaims` still lists the claim.
   */
  abstract claimTask(
    taskId: string,
    replicaId: string,
    token: string,
    only?: ClaimCondition,
  ): Promise<StoredTask | undefined>;

  /**
   * Returns the ids of at most `limit` Tasks that no replica executes and that have been due for at least `byMs`
   * milliseconds: their time to resume has passed, or they have a cancel request. Tasks in `except` are omitted.
   * - If fewer than `limit` Tasks are due, all are returned, the longest due first.
   * - Otherwise up to half of the ids come first from callers in turn: one Task for each of the next callers after the
   *   last poll. The Tasks that have been due the longest fill the rest.
   */
  abstract findOverdue(byMs: number, limit: number, except?: readonly string[]): Promise<string[]>;

  /**
   * Adopts at most `limit` Tasks that the given replicas had claimed: the adopting replica becomes their writer, each
   * with a new token, so later writes of the former writers are rejected. Concurrent adopters never get the same Task.
   * - No Task is taken from a replica that is alive at that moment, even if it was found dead before.
   * - No Task is taken unless the adopting replica has just proved that it is alive itself.
   */
  abstract adoptTasks(replicaId: string, fromReplicaIds: readonly string[], limit: number): Promise<TaskClaim[]>;

  /** Returns all claims (rights to write Tasks) that a replica has. */
  abstract listClaims(replicaId: string): Promise<TaskClaim[]>;

  /** Returns true if the Task still has the given claim (right to write it). */
  abstract isClaimHeld(claim: TaskClaim): Promise<boolean>;

  /**
   * Renews the tokens of claims (rights to write Tasks), so that writes with the old tokens are rejected. A Task that
   * another transaction has locked is skipped, not waited for.
   */
  abstract renewClaims(claims: readonly TaskClaim[]): Promise<RenewedClaims>;

  /**
   * Returns the ids of the replicas that have claims (rights to write Tasks); with `among`, only replicas in that list.
   * Without `among`, it may be slow while a database snapshot is held, because former claims are scanned. Call it
   * rarely.
   */
  abstract listClaimants(among?: readonly string[]): Promise<string[]>;

  /**
   * Releases an unused claim (right to write a Task) of a Task that waits, is parked or has ended. A Task that is at
   * work keeps its claim, because without a claim no replica would resume it.
   */
  abstract releaseClaim(claim: TaskClaim): Promise<void>;

  /**
   * Stores a request to cancel a Task that has not ended, for the replica that executes or takes over the Task. A Task
   * that waits for an answer or a time, now or later, becomes due, so that a replica carries out the cancel.
   */
  abstract requestCancel(taskId: string): Promise<void>;

  /** Returns the ids of the Tasks that a replica executes and that have a cancel request. */
  abstract cancelRequests(replicaId: string): Promise<string[]>;

  /** Returns the request that a caller made to an agent under an idempotency key; `undefined` if there is none. */
  abstract findKeyedRequest(scope: TaskScope, agent: string, key: string): Promise<KeyedRequest | undefined>;

  /** Returns the headers of the child Tasks of a Task. */
  abstract listChildren(parentTaskId: string): Promise<TaskHeader[]>;

  /**
   * Returns the headers of the child Tasks of a Task, read in the session in which batches are written, so that none is
   * missed. For callers that create missing children.
   */
  recordedChildren(parentTaskId: string): Promise<TaskHeader[]> {
    return this.listChildren(parentTaskId);
  }

  /** Returns the last sequences of several Tasks by Task id. Unknown ids are omitted. */
  abstract lastSequences(taskIds: readonly string[]): Promise<Map<string, number>>;
}

/** Scope of all callers while authentication is off. */
export const ANONYMOUS_SCOPE: TaskScope = { tenant: '', owner: '' };

/**
 * Error after this process has lost the claim (right to write) of a Task: another replica writes the Task now, or the
 * Task has ended. This process can record nothing more.
 */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/**
 * Error for a Task that was not created or read because its RevisionPrecondition may no longer hold. Nothing was
 * recorded.
 */
export class PreconditionFailed extends ClaimLost {}
