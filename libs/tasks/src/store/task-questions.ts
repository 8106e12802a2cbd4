import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import type { TaskQuestion } from '../fold/task-event.js';
import { agentCondition } from './task-queries.js';
import type { TaskScope } from './task-store.js';

/** Position (page cursor) in the list of questions. */
export interface QuestionPosition {
  since: Date;
  taskId: string;
  key: string;
}

export interface QuestionQuery {
  scope: TaskScope;
  /** Path or pattern of the Tasks' agents, as `TaskFilter.agent`; absent: all agents. */
  agent?: string;
  /** Id of a single Task; absent: all Tasks of the scope. */
  taskId?: string;
  assignee?: string;
  /** Exclusive position: the last question of the previous page; absent for the first page. */
  after?: QuestionPosition;
  limit: number;
}

/** Open question with its Task. */
export interface OpenQuestion extends TaskQuestion {
  taskId: string;
  agent: string;
}

/**
 * Reads the open questions of a caller's Tasks, oldest first, so that new questions appear at the end.
 * - A question exists from the commit in which its Task starts to wait until the commit in which the Task resumes or
 *   ends, even if a replica of an earlier version writes the Task.
 * - The cost of a page is its rows, plus a lookup for each question of the caller's working Tasks. The rows of these
 *   questions are kept, because most questions are asked again when the Task waits again.
 */
@Injectable()
export class TaskQuestions {
  constructor(private readonly database: Database) {}

  async listQuestions({ scope, agent, taskId, assignee, after, limit }: QuestionQuery): Promise<OpenQuestion[]> {
    const values: unknown[] = [scope.tenant, scope.owner, limit];
    const conditions = ['tenant = $1', 'owner = $2', OF_A_WAITING_TASK];
    if (agent !== undefined) conditions.push(agentCondition(agent, values));
    if (taskId !== undefined) conditions.push(`task_id = $${values.push(taskId)}`);
    if (assignee !== undefined) conditions.push(`assignee = $${values.push(assignee)}`);
    if (after) {
      const at = values.push(after.since, after.taskId, after.key);
      conditions.push(`(since, task_id, key) > ($${at - 2}, $${at - 1}, $${at})`);
    }
    const text = `SELECT task_id, key, agent, assignee, since, body FROM task_question WHERE ${conditions.join(' AND ')}
       ORDER BY since, task_id, key LIMIT $3`;
    const { rows } = await this.database.reads.queryInTurn<QuestionRow>(scope, { text, values });
    return rows.map(({ task_id: taskId, assignee: label, ...row }) => ({
      taskId,
      ...row,
      ...(label !== null && { assignee: label }),
    }));
  }
}

// A scalar subquery: one lookup by key per row, in the order of the page, and never a join with all Tasks.
const OF_A_WAITING_TASK = `(SELECT state FROM task WHERE task.task_id = task_question.task_id)
  IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')`;

interface QuestionRow {
  task_id: string;
  key: string;
  agent: string;
  assignee: string | null;
  since: Date;
  body: JsonObject;
}
