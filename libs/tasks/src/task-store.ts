import type { Job } from '#libs/jobs';
import type { Task, TaskState } from '#libs/protocol';
import type { RecordedEvent, TaskQuestion } from './task-event.js';
import type { TaskSnapshot } from './task-snapshot.js';

/** Whose Tasks a caller may see. */
export interface TaskScope {
  tenant: string;
  owner: string;
}

/** What Parley knows of a Task beside what A2A shows of it. */
export interface TaskHeader extends TaskScope {
  taskId: string;
  contextId: string;
  /** The path of the agent that owns the Task, for example `workflows/translate/nodes/summary`; `''` is the service. */
  agent: string;
  state: TaskState;
  lastSequence: number;
  /** The Task that called for this one, where it was made by a workflow run, and which node and attempt of it. */
  parentTaskId?: string;
  parentReference?: string;
  createdAt: Date;
  /** Time of the newest status (section 3.1.4 sorts by it). */
  updatedAt: Date;
  /** When it is to be gone on with, where its last event parked it, or somebody wishes to cancel it. */
  wakeAt?: Date;
  /** Present where somebody wishes to cancel it. */
  cancelRequested?: true;
  /** Bytes of the log, and those of Artifacts among them; absent where nobody had to know. */
  size?: { log: number; artifacts: number };
}

/** A Task folded from its log up to `header.lastSequence`. */
export interface StoredTask {
  header: TaskHeader;
  task: Task;
  /** Of its log. */
  bytes?: number;
}

/** A Task's header and, where that is short, its log up to `header.lastSequence`. */
export interface TaskLog {
  header: TaskHeader;
  events?: readonly RecordedEvent[];
}

/** The right to write one Task, until someone else claims it. `token` is new with every claim and fences its writes. */
export interface TaskClaim {
  taskId: string;
  token: string;
}

/** Outcome of an attempt to renew claims. A claim in neither list is unchanged as far as is known: its row was locked. */
export interface RenewedClaims {
  /** The claims with their new tokens. */
  renewed: TaskClaim[];
  /** Ids of the Tasks that have another claim, or none. */
  lost: string[];
}

/** A caller's promise that requests under one key are one request; the fingerprint tells whether they are. */
export interface Idempotency {
  key: string;
  fingerprint: string;
}

/** A request that was accepted under a key: the fingerprint it had, and the event that took in its Message. */
export interface KeyedRequest {
  taskId: string;
  fingerprint: string;
  /** 1 where the Message made the Task. */
  sequence: number;
}

/**
 * What a Task is made or read on where nobody has asked the database: that a relation has this row, of the newest revision
 * of what its agent is. `version` changes with whatever is read from it.
 */
export interface Premise {
  relation: 'workflow_newest';
  tenant: string;
  name: string;
  version: string;
}

/** One Task's share of a journal batch: consecutive events that continue its log. */
export interface JournalEntry {
  taskId: string;
  contextId: string;
  token: string;
  /**
   * Present when the events begin with `task`: the row to insert, unless its idempotency key has a Task already, or its
   * parent's claim is neither `parentToken` nor, where that is absent, one of the replica, or its premise does not hold.
   */
  create?: {
    header: TaskHeader;
    replicaId: string;
    parentToken?: string;
    idempotency?: Idempotency;
    premise?: Premise;
  };
  /** Present when the events begin with a follow-up Message under a key; fenced if the key was used before. */
  keyed?: { header: TaskHeader; idempotency: Idempotency };
  /** `lastSequence` before these events. */
  after: number;
  events: readonly RecordedEvent[];
  /** The Task after these events, where it is worth to be kept folded. */
  snapshot?: TaskSnapshot;
  /** Enqueued in the same commit; not at all where the entry is fenced. */
  jobs?: readonly Job[];
  /** The state and status time after these events; a terminal or waiting state releases the claim. */
  state: TaskState;
  updatedAt: Date;
  /** Present where the last of the events parks the Task, which releases the claim as well. */
  wakeAt?: Date;
  /** Everything that the Task asks from now on (see TaskQuestions); absent where it goes on, or has never asked. */
  asked?: { header: TaskHeader; questions: readonly TaskQuestion[] };
  /** Files that the events name: those of the Task's owner are noted as used by it, in the same commit. */
  named?: { scope: TaskScope; files: readonly string[] };
}

/** `fenced`: the claim was lost, the log is elsewhere, or the Task has ended. Nothing of the entry was written. */
export type JournalOutcome = 'written' | 'fenced';

/** Of the Tasks that nobody executes only one that waits for its caller, or one whose time has come (see `wakeAt`). */
export type ClaimCondition = 'waiting' | 'due';

/** Which Tasks are meant. */
export interface TaskFilter {
  scope: TaskScope;
  /** An agent path, or `workflows/*` for every agent one step below `workflows`; absent: every agent. */
  agent?: string;
  /** The Tasks of these agents. */
  agents?: readonly string[];
  /** The Tasks that a Task has called for in this process, and those of these ids, which it has called for elsewhere. */
  calledBy?: { taskId: string; elsewhere: readonly string[] };
  contextId?: string;
  /** The Tasks of these ids. */
  taskIds?: readonly string[];
  state?: TaskState;
  updatedAfter?: Date;
  /** What the agent's path has in it after its first slash, in any case of letters, or the Task's id begins with. */
  search?: string;
}

export interface TaskQuery extends TaskFilter {
  /** True for an execution: the query waits behind no list of a caller, and no limit of lists ends it. */
  urgent?: boolean;
  /** `false`: the Tasks come without Artifacts, and nothing is read of any. */
  artifacts?: boolean;
  /** Exclusive position: the last row of the page before. */
  before?: { updatedAt: Date; taskId: string };
  limit: number;
}

/** Lets logs be read that are large, each before it is. */
export interface LogAdmission {
  /** Resolves when so many bytes of logs may be read; whoever rejects keeps them from being read. */
  admit(bytes: number): Promise<void>;
}

/** What a page of Tasks may take. */
export interface PageAdmission extends LogAdmission {
  /** A page ends before the large logs in it have more bytes together; it has one Task at least. */
  readonly bytes: number;
}

export interface TaskPage {
  tasks: StoredTask[];
  /** Whether there are further ones. */
  more: boolean;
}

/** Writes of the journal, and what its logs hold where they are written. */
export type EntryWrites = Pick<TaskStore, 'write' | 'recorded'>;

/**
 * Keeps Tasks and their append-only logs. Implementations promise: a batch is atomic and durable when `write`
 * resolves; one writer per Task (fenced by token); a terminal Task is never written again; sequences have no gap.
 */
export abstract class TaskStore {
  /**
   * Writes a batch in one commit; a Task occurs in it once. Batches are written in the order in which they come. An entry that is fenced does not touch the others.
   * @throws whatever the database says if nothing of the batch could be written, or if that is unknown; TypeError for a
   * Task that occurs twice
   */
  abstract write(batch: readonly JournalEntry[]): Promise<JournalOutcome[]>;

  /**
   * Commits a write that changes nothing, as batches are written: resolves where they can be at the moment, rejects with what
   * the database says.
   */
  abstract probe(): Promise<void>;

  /**
   * The Task and its header, or `undefined` where it is unknown or out of scope. No scope: any Task (internal callers).
   * @throws PremiseFailed where there is a premise, and it does not hold at that moment or there is no such Task
   */
  abstract load(
    taskId: string,
    scope?: TaskScope,
    admission?: LogAdmission,
    premise?: Premise,
  ): Promise<StoredTask | undefined>;

  /** The header and, where it is short, the log: both as they were at one moment. Scope and premise as for `load`. */
  abstract log(taskId: string, scope?: TaskScope, premise?: Premise): Promise<TaskLog | undefined>;

  /** Only the header. */
  abstract header(taskId: string, scope?: TaskScope): Promise<TaskHeader | undefined>;

  /** Those of several Tasks, by their ids; unknown ids are left out. */
  abstract headers(taskIds: readonly string[]): Promise<Map<string, TaskHeader>>;

  /**
   * At most `limit` events after `afterSequence`, in order.
   * @param reader a caller who reads many logs waits behind its own reads, and for its turn beside others
   */
  abstract events(taskId: string, afterSequence: number, limit: number, reader?: TaskScope): Promise<RecordedEvent[]>;

  /**
   * The same, asked where batches are written: what `write` did is there, which a reader elsewhere may not know yet, and
   * nothing else is, which a server that was replaced may still have.
   */
  recorded(taskId: string, afterSequence: number, limit: number): Promise<RecordedEvent[]> {
    return this.events(taskId, afterSequence, limit);
  }

  /** Writes of entries that failed on their own before. One that hangs or fails holds up no batch of `write`. */
  get retries(): EntryWrites {
    return this;
  }

  /** Newest status first, then by id. */
  abstract list(query: TaskQuery): Promise<StoredTask[]>;

  /** The same as a page of at most `limit`, within what it may take. */
  abstract page(query: TaskQuery, admission: PageAdmission): Promise<TaskPage>;

  /**
   * Returns the headers of Tasks that completed before a Task began, in its context, with its agent and owner: at most
   * `limit` of them, the last one to complete first.
   *
   * - The order is that of commits, by the one clock of the store: the clocks of replicas take no part.
   * - A Task that was still open when this one began is left out, however often the store is asked.
   */
  abstract completedBefore(taskId: string, limit: number): Promise<TaskHeader[]>;

  /** How many Tasks match, exactly. By tenant, owner, agent and state at the same cost however many there are. */
  abstract count(filter: TaskFilter): Promise<number>;

  /**
   * Claims a Task that nobody executes and that has not ended; `undefined` if it is not so. A claim that fails is given
   * back; where that fails too, `claims` shows it.
   */
  abstract claim(
    taskId: string,
    replicaId: string,
    token: string,
    only?: ClaimCondition,
  ): Promise<StoredTask | undefined>;

  /**
   * At most `limit` Tasks that are parked, or that somebody wishes to cancel, and whose time came longer ago than that, without
   * those of `except`. Nobody executes them. The oldest come first; where there are more than `limit`, half of these at most
   * are one of each of the next callers, in turn.
   */
  abstract overdue(byMs: number, limit: number, except?: readonly string[]): Promise<string[]>;

  /**
   * Takes over at most `limit` Tasks that the given replicas had claimed, each with a new token: what those replicas
   * write afterwards is fenced. Replicas that adopt at the same time never get the same Task.
   *
   * - Takes nothing from a replica that lives at that moment, whatever was read of it before.
   * - Takes nothing while the adopting replica has not proved its own life just before.
   */
  abstract adopt(replicaId: string, fromReplicaIds: readonly string[], limit: number): Promise<TaskClaim[]>;

  /** Everything that a replica claims. */
  abstract claims(replicaId: string): Promise<TaskClaim[]>;

  /** Whether a claim is still the one that the Task has. */
  abstract holds(claim: TaskClaim): Promise<boolean>;

  /**
   * Gives claims new tokens, so that whatever is written with the old ones is fenced. Leaves out a Task that another
   * transaction has locked instead of waiting for it.
   */
  abstract renew(claims: readonly TaskClaim[]): Promise<RenewedClaims>;

  /**
   * The replicas that claim something: those of `among`, or all. All of them may take long where a snapshot is held, since
   * what was claimed before is passed: ask rarely.
   */
  abstract claimants(among?: readonly string[]): Promise<string[]>;

  /**
   * Gives a claim back that was taken in vain: of a Task that waits, is parked or has ended. One that is at work keeps its
   * claim, since what has none is gone on with by nobody.
   */
  abstract release(claim: TaskClaim): Promise<void>;

  /**
   * Keeps the wish to cancel a Task that has not ended, for whoever executes it now or adopts it. One that nobody executes,
   * because it waits or is parked, is due; and so is one that waits or is parked after that.
   */
  abstract requestCancel(taskId: string): Promise<void>;

  /** The Tasks that a replica executes and somebody wishes to cancel. */
  abstract cancelRequests(replicaId: string): Promise<string[]>;

  /** What a caller's key stands for at an agent. */
  abstract keyed(scope: TaskScope, agent: string, key: string): Promise<KeyedRequest | undefined>;

  /** The Tasks that a parent called for. */
  abstract children(parentTaskId: string): Promise<TaskHeader[]>;

  /** The same, asked where batches are written, as `recorded` is: for whoever makes what is not there. */
  recordedChildren(parentTaskId: string): Promise<TaskHeader[]> {
    return this.children(parentTaskId);
  }

  /** How far the logs of these Tasks reach; unknown ids are left out. */
  abstract lastSequences(taskIds: readonly string[]): Promise<Map<string, number>>;
}

/** The scope of everyone while callers have no identity. */
export const ANONYMOUS_SCOPE: TaskScope = { tenant: '', owner: '' };
