import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { TaskRetention, type TaskScope } from '#libs/tasks';

/** Owner and agent of a talk: contexts and Tasks of a talk are unknown to all others. */
export interface RelayTalk {
  scope: TaskScope;
  /** Name of the registered agent. */
  agent: string;
}

/** Part of a request that a recovered turn needs, beside the Message. */
export interface TurnOptions {
  acceptedOutputModes?: readonly string[];
  extensions?: readonly string[];
  metadata?: JsonObject;
}

/** Turn of a Task, as it is stored before the agent hears of it. */
export interface NewTurn {
  taskId: string;
  contextId: string;
  /** Id of the Message that begins the turn. */
  messageId: string;
  options: TurnOptions;
}

/** Stored turn of a Task, and the Task at the agent. */
export interface StoredTurn {
  options: TurnOptions;
  begunAt: Date;
  /** Task at the agent, if known. */
  remoteTaskId?: string;
  /** Context at the agent, of this Task or of an earlier one in the same context, if known. */
  remoteContextId?: string;
  /** True if the turn before asked the caller what to do about a lost Task. */
  isAnswer: boolean;
}

/**
 * Stores which Task of a registered agent each Task here stands for.
 * - A turn is stored before its Message is sent, so a recovered turn knows that the agent may have it.
 * - The agent's ids are stored before any event of its Task is visible.
 * - Rows are deleted with their Tasks.
 */
@Injectable()
export class RelayTasks {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    retention.purgeWith('DELETE FROM registered_agent_task WHERE task_id = ANY($1::text[])');
  }

  /** Stores a turn. @returns the turn; `undefined` if an earlier execution has stored it already */
  async beginTurn(
    talk: RelayTalk,
    { taskId, contextId, messageId, options }: NewTurn,
  ): Promise<StoredTurn | undefined> {
    const values = [taskId, talkKey(talk), contextKey(talk, contextId), messageId, JSON.stringify(options)];
    const { rows } = await this.database.pool.query<TurnRow>({ name: 'relay-begin', text: BEGIN, values });
    return rows[0] && toTurn(rows[0]);
  }

  async findTurn(taskId: string): Promise<StoredTurn | undefined> {
    const { rows } = await this.database.pool.query<TurnRow>({ name: 'relay-find', text: FIND, values: [taskId] });
    return rows[0] && toTurn(rows[0]);
  }

  /** Stores the agent's ids of a Task. The Task is absent for a direct Message. */
  async keepRemote(taskId: string, remoteTaskId: string | undefined, remoteContextId: string): Promise<void> {
    const values = [taskId, remoteTaskId ?? null, remoteContextId];
    await this.database.pool.query({ name: 'relay-keep', text: KEEP, values });
  }

  /** Notes that the turn asks the caller what to do about a lost Task. The lost Task is forgotten. */
  async noteQuestion(taskId: string): Promise<void> {
    await this.database.pool.query({ name: 'relay-ask', text: ASK, values: [taskId] });
  }

  /** Returns the agent's Tasks that Tasks of the same talk stand for, by the ids of the latter. */
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

interface TurnRow {
  message_id: string;
  options: TurnOptions;
  begun_at: Date;
  remote_task_id: string | null;
  remote_context_id: string | null;
  asked_by: string | null;
}

function toTurn(row: TurnRow): StoredTurn {
  return {
    options: row.options,
    begunAt: row.begun_at,
    ...(row.remote_task_id !== null && { remoteTaskId: row.remote_task_id }),
    ...(row.remote_context_id !== null && { remoteContextId: row.remote_context_id }),
    isAnswer: row.asked_by !== null && row.asked_by !== row.message_id,
  };
}

/** Returns a fixed-length key of a talk: 64 hexadecimal digits. */
function talkKey({ scope: { tenant, owner }, agent }: RelayTalk): string {
  return hashTexts([tenant, owner, agent]);
}

function contextKey({ scope: { tenant, owner }, agent }: RelayTalk, contextId: string): string {
  return hashTexts([tenant, owner, agent, contextId]);
}

function hashTexts(members: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(members)).digest('hex');
}

const COLUMNS = `message_id, options, begun_at, remote_task_id, asked_by,
  coalesce(remote_context_id, (
    SELECT earlier.remote_context_id FROM registered_agent_task earlier
    WHERE earlier.context_key = turn.context_key AND earlier.remote_context_id IS NOT NULL
    ORDER BY earlier.begun_at DESC LIMIT 1)) AS remote_context_id`;
const BEGIN = `
  INSERT INTO registered_agent_task AS turn (task_id, talk_key, context_key, message_id, options)
  VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (task_id) DO UPDATE SET message_id = excluded.message_id, options = excluded.options, begun_at = now()
  WHERE turn.message_id <> excluded.message_id
  RETURNING ${COLUMNS}`;
const FIND = `SELECT ${COLUMNS} FROM registered_agent_task turn WHERE task_id = $1`;
const KEEP = `
  UPDATE registered_agent_task
  SET remote_task_id = coalesce($2, remote_task_id), remote_context_id = $3, asked_by = NULL WHERE task_id = $1`;
const ASK = `
  UPDATE registered_agent_task SET asked_by = message_id, remote_task_id = NULL WHERE task_id = $1`;
const REFERENCES = `
  SELECT task_id, remote_task_id FROM registered_agent_task
  WHERE task_id = ANY($1::text[]) AND talk_key = $2 AND remote_task_id IS NOT NULL`;
