import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { BatchLoader, Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { type RelayedTurn, type RemoteIds, type TaskClaim, TaskRetention, type TaskScope } from '#libs/tasks';

/** Talk: all contexts and Tasks of one owner at one registered agent. Messages of other talks cannot refer to them. */
export interface RelayTalk {
  scope: TaskScope;
  /** Name of the registered agent. */
  agent: string;
}

/** Part of a request that a recovered turn needs, in addition to the Message. */
export interface TurnOptions {
  acceptedOutputModes?: readonly string[];
  extensions?: readonly string[];
  /** Headers of the request that the policy passes on. */
  headers?: Readonly<Record<string, string>>;
  metadata?: JsonObject;
}

/** Turn of a Task, as it is stored before its Message is sent to the agent. */
export interface NewTurn {
  taskId: string;
  contextId: string;
  /** Key of the turn: the id of its Message, and the Message's number if it is not the first. */
  messageId: string;
  options: TurnOptions;
  /** Id of the execution that begins the turn, chosen by it. */
  execution: string;
}

/** Stored turn of a Task, with the ids of the Task and the context at the agent. */
export interface StoredTurn {
  options: TurnOptions;
  /** Start of the turn by the clock of this process, which may differ from the clock of the database. */
  begunAt: Date;
  /** Task at the agent, if known. */
  remoteTaskId?: string;
  /**
   * `contextId` that the agent assigned to this Task, or to an earlier Task in the same context of this service, if
   * known.
   */
  remoteContextId?: string;
  /**
   * True if the caller's Message in this turn answers the question what to do about a lost Task (policy `ask`). Stays
   * true after the original Message was sent again.
   */
  isAnswer: boolean;
  /** True if a webhook may be registered for the agent's Task. */
  hasWebhook: boolean;
  /** True if the Message has certainly not been sent to the agent; false if it may have been sent. */
  isUnsent: boolean;
}

/**
 * Maps Tasks of this service to the Tasks of registered agents for which they stand, and stores the turns of these
 * Tasks.
 * - A turn is stored before its Message is sent, so a recovered turn knows that the agent may have the Message. The
 *   turn of a new Task is stored in the commit of the Task (`relayedTurn`).
 * - A turn that waits before it sends is stored as unsent meanwhile, so a recovered turn sends the Message.
 * - The agent's ids are stored in the commit of the first event of its Task, or before that.
 * - Rows are deleted with their Tasks.
 * - Turns that arrive while a statement runs are stored together; so are ids.
 */
@Injectable()
export class RelayTasks {
  private readonly begun = new BatchLoader(
    (turns: readonly TurnToStore[]) => this.storeTurns(turns),
    MOST_ROWS,
    AT_ONCE,
  );
  private readonly met = new BatchLoader((ids: readonly IdsToStore[]) => this.storeIds(ids), MOST_ROWS, AT_ONCE);

  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    retention.purgeWith('DELETE FROM registered_agent_task WHERE task_id = ANY($1::text[])');
  }

  /**
   * Stores a turn that was not stored with its Task. The same execution may repeat this call: its first attempt may
   * have been stored although the database's response was lost.
   * @returns the turn; `undefined` if an earlier execution has stored it already
   */
  beginTurn(
    talk: RelayTalk,
    { taskId, contextId, messageId, options, execution }: NewTurn,
  ): Promise<StoredTurn | undefined> {
    return this.begun.get({ taskId, ...relayedTurn(talk, { contextId, messageId, options, execution }) });
  }

  /**
   * Returns the `contextId` that the agent assigned to an earlier Task in the same context of this service; `undefined`
   * if there is none.
   */
  async findContext({ contextKey }: RelayedTurn): Promise<string | undefined> {
    const { rows } = await this.database.pool.query<Pick<TurnRow, 'remote_context_id'>>({
      name: 'relay-context',
      text: FIND_CONTEXT,
      values: [contextKey],
    });
    return rows[0]?.remote_context_id ?? undefined;
  }

  async findTurn(taskId: string): Promise<StoredTurn | undefined> {
    const { rows } = await this.database.pool.query<TurnRow>({ name: 'relay-find', text: FIND, values: [taskId] });
    return rows[0] && toTurn(rows[0]);
  }

  /**
   * Stores the agent's ids of a Task.
   * @param token token of the claim of the execution; nothing is stored if it has lost the claim
   */
  async keepRemote({ taskId, token }: TaskClaim, ids: RemoteIds): Promise<void> {
    await this.met.get({ taskId, token, remoteTaskId: ids.taskId ?? null, remoteContextId: ids.contextId });
  }

  /** Notes that the turn asks the caller what to do about a lost Task, and deletes the agent's id of that Task. */
  async noteQuestion(taskId: string): Promise<void> {
    await this.database.pool.query({ name: 'relay-ask', text: ASK, values: [taskId] });
  }

  /**
   * Stores whether the Message of a turn has certainly not been sent (`isUnsent`). May be repeated.
   * @param token token of the claim of the execution
   * @returns false if the execution has lost its claim; nothing is stored then
   */
  async noteUnsent(taskId: string, token: string, isUnsent: boolean): Promise<boolean> {
    const statement = { name: 'relay-unsent', text: NOTE_UNSENT, values: [taskId, token, isUnsent] };
    const { rowCount } = await this.database.pool.query(statement);
    return rowCount === 1;
  }

  /** Stores the turns. A second turn of a Task gets a statement of its own: one statement writes a row only once. */
  private async storeTurns(turns: readonly TurnToStore[]): Promise<Map<TurnToStore, StoredTurn>> {
    const firsts = [...new Map(turns.toReversed().map((turn) => [turn.taskId, turn])).values()];
    const stored = await this.storeTurnOfEach(firsts);
    const others = turns.filter((turn) => !firsts.includes(turn));
    if (others.length === 0) return stored;
    return new Map([...stored, ...(await this.storeTurns(others))]);
  }

  /** Stores turns of different Tasks. */
  private async storeTurnOfEach(turns: readonly TurnToStore[]): Promise<Map<TurnToStore, StoredTurn>> {
    const columns = TURN_COLUMNS.map((column) => turns.map((turn) => turn[column]));
    const statement = { name: 'relay-begin', text: BEGIN, values: columns };
    const { rows } = await this.database.pool.query<TurnRow & { task_id: string }>(statement);
    const stored = new Map(rows.map((row) => [row.task_id, toTurn(row)]));
    return new Map(
      turns.flatMap((turn) => {
        const found = stored.get(turn.taskId);
        return found ? [[turn, found]] : [];
      }),
    );
  }

  private async storeIds(ids: readonly IdsToStore[]): Promise<Map<IdsToStore, true>> {
    const columns = ID_COLUMNS.map((column) => idsOfEach(ids).map((it) => it[column]));
    await this.database.pool.query({ name: 'relay-keep', text: KEEP, values: columns });
    return new Map();
  }

  /**
   * Returns the ids of the agent's Tasks, by the ids of this service's Tasks that stand for them. Finds only Tasks of
   * `talk`.
   */
  async remoteTasks(talk: RelayTalk, taskIds: readonly string[]): Promise<Map<string, string>> {
    if (taskIds.length === 0) return new Map();
    const values = [taskIds, talkKey(talk)];
    const { rows } = await this.database.pool.query<{ task_id: string; remote_task_id: string }>({
      name: 'relay-references',
      text: REFERENCES,
      values,
    });
    return new Map(rows.map((row) => [row.task_id, row.remote_task_id]));
  }
}

/** Maximum number of Tasks that one statement stores. */
const MOST_ROWS = 64;
/** Maximum number of concurrent statements that store turns, and of concurrent statements that store ids. */
const AT_ONCE = 2;

/** Returns the values of the row that stores a turn. The transaction that creates the Task writes this row too. */
export function relayedTurn(
  talk: RelayTalk,
  { contextId, messageId, options, execution }: Omit<NewTurn, 'taskId'>,
  isNewContext = false,
): RelayedTurn {
  return {
    isNewContext,
    madeAt: performance.now(),
    talkKey: talkKey(talk),
    contextKey: contextKey(talk, contextId),
    messageId,
    options: JSON.stringify(options),
    agentKey: agentKey(talk),
    execution,
  };
}

type TurnToStore = RelayedTurn & { taskId: string };

const TURN_COLUMNS = ['taskId', 'talkKey', 'contextKey', 'messageId', 'options', 'agentKey', 'execution'] as const;

interface IdsToStore extends TaskClaim {
  remoteTaskId: string | null;
  remoteContextId: string;
}

const ID_COLUMNS = ['taskId', 'token', 'remoteTaskId', 'remoteContextId'] as const;

/** Returns the newest ids of each Task. With several rows for one Task, an UPDATE would apply an arbitrary row. */
function idsOfEach(ids: readonly IdsToStore[]): IdsToStore[] {
  const newest = new Map<string, IdsToStore>();
  for (const it of ids) {
    const remoteTaskId = it.remoteTaskId ?? newest.get(it.taskId)?.remoteTaskId ?? null;
    newest.set(it.taskId, { ...it, remoteTaskId });
  }
  return [...newest.values()];
}

interface TurnRow {
  message_id: string;
  options: TurnOptions;
  /** Milliseconds since the start of the turn, by the clock of the database. */
  age_ms: number;
  remote_task_id: string | null;
  remote_context_id: string | null;
  asked_by: string | null;
  has_webhook: boolean;
  unsent_message: string | null;
}

function toTurn(row: TurnRow): StoredTurn {
  return {
    options: row.options,
    begunAt: new Date(Date.now() - Math.max(row.age_ms, 0)),
    ...(row.remote_task_id !== null && { remoteTaskId: row.remote_task_id }),
    ...(row.remote_context_id !== null && { remoteContextId: row.remote_context_id }),
    isAnswer: row.asked_by !== null && row.asked_by !== row.message_id,
    isUnsent: row.unsent_message === row.message_id,
    hasWebhook: row.has_webhook,
  };
}

/** Returns a fixed-length key of a tenant's agent: 64 hexadecimal digits. */
export function agentKey({ scope: { tenant }, agent }: { scope: Pick<TaskScope, 'tenant'>; agent: string }): string {
  return hashTexts([tenant, agent]);
}

/** Returns a fixed-length key of a talk: 64 hexadecimal digits. */
function talkKey({ scope: { tenant, owner }, agent }: RelayTalk): string {
  return hashTexts([tenant, owner, agent]);
}

function contextKey({ scope: { tenant, owner }, agent }: RelayTalk, contextId: string): string {
  return hashTexts([tenant, owner, agent, contextId]);
}

function hashTexts(members: readonly string[]): string {
  return hash('sha256', JSON.stringify(members), 'hex');
}

const earlierContext = (contextKey: string): string => `
    SELECT earlier.remote_context_id FROM registered_agent_task earlier
    WHERE earlier.context_key = ${contextKey} AND earlier.remote_context_id IS NOT NULL
    ORDER BY earlier.begun_at DESC LIMIT 1`;
const FIND_CONTEXT = earlierContext('$1');
const COLUMNS = `message_id, options, remote_task_id, asked_by, unsent_message, webhook IS NOT NULL AS has_webhook,
  extract(epoch FROM clock_timestamp() - begun_at)::float8 * 1000 AS age_ms,
  coalesce(remote_context_id, (${earlierContext('turn.context_key')})) AS remote_context_id`;
const BEGIN = `
  INSERT INTO registered_agent_task AS turn (task_id, talk_key, context_key, message_id, options, agent_key, begun_by)
  SELECT task_id, talk_key, context_key, message_id, options::json, agent_key, begun_by
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS begun (task_id, talk_key, context_key, message_id, options, agent_key, begun_by)
  ON CONFLICT (task_id) DO UPDATE
  SET message_id = excluded.message_id, options = excluded.options, begun_at = now(), has_slot = false,
    begun_by = excluded.begun_by,
    -- A lost Task that has a successor is no longer asked about.
    asked_by = CASE WHEN turn.remote_task_id IS NULL OR turn.message_id = excluded.message_id THEN turn.asked_by END
  WHERE turn.message_id <> excluded.message_id OR turn.begun_by = excluded.begun_by
  RETURNING task_id, ${COLUMNS}`;
const FIND = `SELECT ${COLUMNS} FROM registered_agent_task turn WHERE task_id = $1`;
const KEEP = `
  UPDATE registered_agent_task AS turn
  SET remote_task_id = coalesce(met.remote_task_id, turn.remote_task_id), remote_context_id = met.remote_context_id
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS met (task_id, token, remote_task_id, remote_context_id)
    JOIN task ON (task.task_id, task.claim_token) = (met.task_id, met.token)
  WHERE turn.task_id = met.task_id`;
const ASK = `
  UPDATE registered_agent_task SET asked_by = message_id, remote_task_id = NULL WHERE task_id = $1`;
/**
 * Statement of `noteUnsent`. The Task's row stays locked until the commit, so a replica that adopts the Task reads what
 * this replica has stored. Each statement is for one Task: several locks could deadlock with a batch of events.
 */
const NOTE_UNSENT = `
  WITH held AS MATERIALIZED (SELECT task_id FROM task WHERE task_id = $1 AND claim_token = $2 FOR SHARE)
  UPDATE registered_agent_task AS turn SET unsent_message = CASE WHEN $3::boolean THEN message_id END
  FROM held WHERE turn.task_id = held.task_id`;
const REFERENCES = `
  SELECT task_id, remote_task_id FROM registered_agent_task
  WHERE task_id = ANY($1::text[]) AND talk_key = $2 AND remote_task_id IS NOT NULL`;
