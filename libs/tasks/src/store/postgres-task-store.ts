import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { BatchLoader, Database, livenessCheckBy } from '#libs/postgres';
import { isTerminalState } from '#libs/protocol';
import { FoldMemory } from '../fold/fold-memory.js';
import type { RecordedEvent } from '../fold/task-event.js';
import { JOURNAL_SETTINGS, PLANS_BY_INDEX } from '../journal/journal-statement.js';
import { JournalWrites } from '../journal/journal-writes.js';
import { eventsOver } from '../journal/log-row.js';
import { MOST_AT_ONCE, StoredTaskReader } from './stored-task-reader.js';
import { TaskCounts } from './task-counts.js';
import { completedBefore, OverdueTasks } from './task-queries.js';
import { CANCEL_WISH, HEADER_COLUMNS, type HeaderRow, toHeader } from './task-rows.js';
import {
  type ClaimCondition,
  type EntryWrites,
  type JournalEntry,
  type JournalOutcome,
  type KeyedRequest,
  type LogAdmission,
  type PageAdmission,
  type RenewedClaims,
  type RevisionPrecondition,
  type StoredTask,
  type TaskClaim,
  type TaskFilter,
  type TaskHeader,
  type TaskLog,
  type TaskPage,
  type TaskQuery,
  type TaskScope,
  TaskStore,
} from './task-store.js';

/** Maximum number of claims (rights to write Tasks) that one statement checks. */
const PROOFS_AT_ONCE = 64;
const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;
const WAITING = `('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')`;

/**
 * TaskStore on PostgreSQL. The SQL statements alone keep every guarantee of TaskStore; there are no locks in this
 * process.
 */
@Injectable()
export class PostgresTaskStore extends TaskStore {
  private readonly pool: Pool;
  private readonly journal: JournalWrites;
  private readonly rewrites: EntryWrites;
  /** Sessions for queries of few rows in a large table, such as the Tasks in flight. */
  private readonly small: Pool;
  private readonly late: OverdueTasks;
  /**
   * Sessions for claim checks: is this replica still the writer of a Task? They must not wait behind other queries,
   * because outgoing calls wait for claim checks.
   */
  private readonly proofs: Pool;
  private readonly reader: StoredTaskReader;
  private readonly counts: TaskCounts;
  /** Checks claims (rights to write Tasks) in batches. At most two statements run at a time. */
  private readonly heldClaims = new BatchLoader(
    (claims: readonly TaskClaim[]) => this.readHeldClaims(claims),
    PROOFS_AT_ONCE,
    2,
  );
  /** Loads child Tasks in the journal's database session, so that the result includes all batches sent before. */
  private readonly recordedByParent = new BatchLoader((parents: readonly string[]) => this.readRecorded(parents));

  /** @param folds memory limit for the cached states of waiting Tasks */
  constructor(
    private readonly database: Database,
    folds: FoldMemory = new FoldMemory(),
  ) {
    super();
    this.pool = database.pool;
    this.journal = new JournalWrites(database, 'journal');
    const retries = new JournalWrites(database, 'journal-retries');
    this.rewrites = {
      writeBatch: (batch) => this.writeOn(retries, batch),
      readRecordedEvents: (taskId, after, limit) => retries.readRecordedEvents(taskId, after, limit),
    };
    this.small = database.tunedPool('claims', 1, JOURNAL_SETTINGS);
    this.late = new OverdueTasks(this.small);
    this.proofs = database.tunedPool('proofs', 1, JOURNAL_SETTINGS);
    this.reader = new StoredTaskReader(
      database.pool,
      database.readPool('tasks', MOST_AT_ONCE, PLANS_BY_INDEX),
      database.reads,
      folds,
    );
    this.counts = new TaskCounts(database);
  }

  override get retries(): EntryWrites {
    return this.rewrites;
  }

  writeBatch(batch: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    return this.writeOn(this.journal, batch);
  }

  private async writeOn(writes: EntryWrites, batch: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    const outcomes = await writes.writeBatch(batch);
    this.reader.dropEnded(batch.flatMap(({ taskId, state }) => (isTerminalState(state) ? taskId : [])));
    return outcomes;
  }

  probeWrite(): Promise<void> {
    return this.journal.probeWrite();
  }

  loadTask(
    taskId: string,
    scope?: TaskScope,
    admission?: LogAdmission,
    premise?: RevisionPrecondition,
  ): Promise<StoredTask | undefined> {
    return this.reader.loadTask(taskId, scope, admission, premise);
  }

  readLog(taskId: string, scope?: TaskScope, premise?: RevisionPrecondition): Promise<TaskLog | undefined> {
    return this.reader.readLog(taskId, scope, premise);
  }

  async readHeader(taskId: string, scope?: TaskScope): Promise<TaskHeader | undefined> {
    const result = await this.pool.query<HeaderRow>({
      name: 'task-header',
      text: `SELECT ${HEADER_COLUMNS} FROM task
             WHERE task_id = $1 AND ($2::text IS NULL OR (tenant = $2 AND owner = $3))`,
      values: [taskId, scope?.tenant ?? null, scope?.owner ?? null],
    });
    return result.rows[0] && toHeader(result.rows[0]);
  }

  readEvents(taskId: string, afterSequence: number, limit: number, reader?: TaskScope): Promise<RecordedEvent[]> {
    const readDirectly = (): Promise<RecordedEvent[]> => eventsOver(this.pool, taskId, afterSequence, limit);
    return reader ? this.database.reads.inTurn(reader, readDirectly) : readDirectly();
  }

  /**
   * Reads events in the journal's database session, so that the result includes all batches sent before. A pooler may
   * route plain queries to a standby, which may lack the newest events.
   */
  override readRecordedEvents(taskId: string, afterSequence: number, limit: number): Promise<RecordedEvent[]> {
    return this.journal.readRecordedEvents(taskId, afterSequence, limit);
  }

  findTasks(query: TaskQuery): Promise<StoredTask[]> {
    return this.reader.findTasks(query);
  }

  readPage(query: TaskQuery, admission: PageAdmission): Promise<TaskPage> {
    return this.reader.readPage(query, admission);
  }

  completedBefore(taskId: string, limit: number): Promise<TaskHeader[]> {
    return completedBefore(this.pool, taskId, limit);
  }

  countTasks(filter: TaskFilter): Promise<number> {
    return this.counts.countTasks(filter);
  }

  async claimTask(
    taskId: string,
    replicaId: string,
    token: string,
    only?: ClaimCondition,
  ): Promise<StoredTask | undefined> {
    try {
      const header = await this.claimHeader(taskId, replicaId, token, only);
      return header && (await this.reader.loadClaimed(header));
    } catch (error) {
      // The claim is also released if its own statement failed: perhaps only the answer was lost. If the release fails
      // too, `listClaims` shows the claim.
      await this.releaseClaim({ taskId, token }).catch(() => undefined);
      throw error;
    }
  }

  private async claimHeader(
    taskId: string,
    replicaId: string,
    token: string,
    only: ClaimCondition | undefined,
  ): Promise<TaskHeader | undefined> {
    const result = await this.pool.query<HeaderRow>({
      name: 'task-claim',
      text: `UPDATE task SET replica_id = $2, claim_token = $3
             WHERE task_id = $1 AND claim_token IS NULL AND state NOT IN ${ENDED}
               AND CASE $4 WHEN 'waiting' THEN state IN ${WAITING} WHEN 'due' THEN wake_at <= now() ELSE true END
             RETURNING ${HEADER_COLUMNS}, log_bytes, artifact_bytes`,
      values: [taskId, replicaId, token, only ?? ''],
    });
    return result.rows[0] && toHeader(result.rows[0]);
  }

  findOverdue(byMs: number, limit: number, except: readonly string[] = []): Promise<string[]> {
    return this.late.findOverdue(byMs, limit, except);
  }

  async adoptTasks(replicaId: string, fromReplicaIds: readonly string[], limit: number): Promise<TaskClaim[]> {
    if (fromReplicaIds.length === 0) return [];
    const values = [replicaId, `${randomUUID()}/`, fromReplicaIds, limit];
    const result = await this.pool.query<{ task_id: string; claim_token: string }>(ADOPT, values);
    return result.rows.map((row) => ({ taskId: row.task_id, token: row.claim_token }));
  }

  async listClaims(replicaId: string): Promise<TaskClaim[]> {
    const result = await this.small.query<{ task_id: string; claim_token: string }>({
      name: 'claims',
      text: 'SELECT task_id, claim_token FROM task WHERE replica_id = $1',
      values: [replicaId],
    });
    return result.rows.map((row) => ({ taskId: row.task_id, token: row.claim_token }));
  }

  async isClaimHeld(claim: TaskClaim): Promise<boolean> {
    return (await this.heldClaims.get(claim)) === true;
  }

  private async readHeldClaims(claims: readonly TaskClaim[]): Promise<Map<TaskClaim, true>> {
    const { rows } = await this.proofs.query<{ number: number }>({
      name: 'claims-held',
      text: `SELECT claim.number::int FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS claim (task_id, token, number)
             JOIN task ON task.task_id = claim.task_id AND task.claim_token = claim.token`,
      values: [claims.map(({ taskId }) => taskId), claims.map(({ token }) => token)],
    });
    return new Map(rows.flatMap(({ number }) => claims.slice(number - 1, number)).map((claim) => [claim, true]));
  }

  async renewClaims(claims: readonly TaskClaim[]): Promise<RenewedClaims> {
    const values = [`${randomUUID()}/`, claims.map(({ taskId }) => taskId), claims.map(({ token }) => token)];
    const { rows } = await this.pool.query<RenewalRow>(RENEW, values);
    const renewed = rows.flatMap(({ task_id: taskId, renewed_token: token }) => (token ? { taskId, token } : []));
    return { renewed, lost: rows.flatMap(({ task_id: taskId, is_lost: isLost }) => (isLost ? taskId : [])) };
  }

  async listClaimants(among?: readonly string[]): Promise<string[]> {
    if (among?.length === 0) return [];
    const statement = among
      ? { name: 'claimants-among', text: CLAIMANTS_AMONG, values: [among] }
      : { name: 'claimants', text: CLAIMANTS };
    const result = await this.small.query<{ replica_id: string }>(statement);
    return result.rows.map((row) => row.replica_id);
  }

  async releaseClaim(claim: TaskClaim): Promise<void> {
    await this.pool.query(RELEASE, [claim.taskId, claim.token]);
  }

  async requestCancel(taskId: string): Promise<void> {
    await this.pool.query(CANCEL_WISH, [taskId]);
  }

  async cancelRequests(replicaId: string): Promise<string[]> {
    const result = await this.small.query<{ task_id: string }>({
      name: 'cancel-requests',
      text: 'SELECT task_id FROM task WHERE replica_id = $1 AND cancel_requested_at IS NOT NULL',
      values: [replicaId],
    });
    return result.rows.map((row) => row.task_id);
  }

  async findKeyedRequest(scope: TaskScope, agent: string, key: string): Promise<KeyedRequest | undefined> {
    const result = await this.pool.query<{ task_id: string; fingerprint: string; sequence: number }>(
      'SELECT task_id, fingerprint, sequence FROM task_key WHERE tenant = $1 AND owner = $2 AND agent = $3 AND key = $4',
      [scope.tenant, scope.owner, agent, key],
    );
    const row = result.rows[0];
    return row && { taskId: row.task_id, fingerprint: row.fingerprint, sequence: row.sequence };
  }

  listChildren(parentTaskId: string): Promise<TaskHeader[]> {
    return childrenOver(this.pool, [parentTaskId]);
  }

  override async recordedChildren(parentTaskId: string): Promise<TaskHeader[]> {
    return (await this.recordedByParent.get(parentTaskId)) ?? [];
  }

  private async readRecorded(parents: readonly string[]): Promise<Map<string, TaskHeader[]>> {
    const found = await this.journal.runStatement((client) => childrenOver(client, parents));
    return Map.groupBy(found, ({ parentTaskId = '' }) => parentTaskId);
  }

  async readHeaders(taskIds: readonly string[]): Promise<Map<string, TaskHeader>> {
    const result = await this.pool.query<HeaderRow>({
      name: 'task-headers',
      text: `SELECT ${HEADER_COLUMNS} FROM task WHERE task_id = ANY($1::text[])`,
      values: [taskIds],
    });
    return new Map(result.rows.map((row) => [row.task_id, toHeader(row)]));
  }

  async lastSequences(taskIds: readonly string[]): Promise<Map<string, number>> {
    const result = await this.pool.query<{ task_id: string; last_sequence: number }>({
      name: 'task-last-sequences',
      text: 'SELECT task_id, last_sequence FROM task WHERE task_id = ANY($1::text[])',
      values: [taskIds],
    });
    return new Map(result.rows.map((row) => [row.task_id, row.last_sequence]));
  }
}

/**
 * Releases a claim (right to write a Task) only if its Task waits, is parked or has ended. A released Task that is at
 * work would never be resumed.
 */
const RELEASE = `
  UPDATE task SET replica_id = NULL, claim_token = NULL
  WHERE task_id = $1 AND claim_token = $2 AND (wake_at IS NOT NULL OR state IN ${WAITING} OR state IN ${ENDED})`;

const LIVENESS = livenessCheckBy('$1');

/**
 * Adopts Tasks: gives their claims (rights to write them) to this replica. SKIP LOCKED: replicas that adopt at the same
 * time share the Tasks instead of waiting for each other.
 */
const ADOPT = `
  WITH ${LIVENESS.withs},
  gone AS MATERIALIZED (${LIVENESS.selectGone('$3::text[]')}),
  orphan AS (
    SELECT task_id FROM task WHERE replica_id = ANY (ARRAY(SELECT id FROM gone))
    ORDER BY task_id LIMIT $4 FOR UPDATE SKIP LOCKED
  )
  UPDATE task SET replica_id = $1, claim_token = $2 || task.task_id
  FROM orphan WHERE task.task_id = orphan.task_id RETURNING task.task_id, task.claim_token`;

interface RenewalRow {
  task_id: string;
  renewed_token: string | null;
  is_lost: boolean;
}

/**
 * Renews claims (rights to write Tasks). A claim counts as lost if the row of its Task has another token, or none. A
 * row that another transaction has locked or just changed is skipped: it still shows the old token to this statement,
 * so the claim is neither renewed nor lost.
 */
const RENEW = `
  WITH idle AS MATERIALIZED (SELECT task_id, token FROM unnest($2::text[], $3::text[]) AS idle (task_id, token)),
  held AS (
    SELECT task.task_id FROM task JOIN idle ON idle.task_id = task.task_id AND idle.token = task.claim_token
    ORDER BY task.task_id FOR UPDATE OF task SKIP LOCKED
  ),
  renewed AS (
    UPDATE task SET claim_token = $1 || task.task_id
    FROM held WHERE task.task_id = held.task_id RETURNING task.task_id, task.claim_token
  )
  SELECT idle.task_id, renewed.claim_token AS renewed_token, task.claim_token IS DISTINCT FROM idle.token AS is_lost
  FROM idle LEFT JOIN renewed ON renewed.task_id = idle.task_id LEFT JOIN task ON task.task_id = idle.task_id`;

/**
 * Finds which of the given replicas have claims (rights to write Tasks): a single lookup per replica, however many
 * claims it has.
 */
const CLAIMANTS_AMONG = `
  SELECT replica_id FROM unnest($1::text[]) AS claimant (replica_id)
  WHERE EXISTS (SELECT FROM task WHERE task.replica_id = claimant.replica_id)`;

/** Finds all replicas that have claims (rights to write Tasks): walks the index from each replica to the next. */
const CLAIMANTS = `
  WITH RECURSIVE claimant AS (
    (SELECT replica_id FROM task WHERE replica_id IS NOT NULL ORDER BY replica_id LIMIT 1)
    UNION ALL
    SELECT (
      SELECT task.replica_id FROM task WHERE task.replica_id > claimant.replica_id ORDER BY task.replica_id LIMIT 1)
    FROM claimant WHERE claimant.replica_id IS NOT NULL
  )
  SELECT replica_id FROM claimant WHERE replica_id IS NOT NULL`;

async function childrenOver(
  sessions: Pick<PoolClient, 'query'>,
  parentTaskIds: readonly string[],
): Promise<TaskHeader[]> {
  const result = await sessions.query<HeaderRow>({
    name: 'task-children',
    text: `SELECT ${HEADER_COLUMNS} FROM task WHERE parent_task_id = ANY($1::text[])
           ORDER BY created_at, task_id`,
    values: [parentTaskIds],
  });
  return result.rows.map(toHeader);
}
