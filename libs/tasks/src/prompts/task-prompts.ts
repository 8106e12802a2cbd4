import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { AppConfig, InFlight } from '#libs/service';
import { TaskRetention } from '../retention/task-purge.js';
import type { TaskScope } from '../store/task-store.js';
import { KeptPrompts } from './kept-prompts.js';
import { PromptLog } from './prompt-log.js';
import { PromptRedaction } from './prompt-redaction.js';

/** Share of IN_FLIGHT_LIMIT. While more of that memory is in use, no further texts of prompts are stored. */
const ROOM_SHARE = 1 / 2;

/**
 * Stores the prompts of the model calls of Tasks.
 * - The journal writes a prompt in the commit of the event that reports the call.
 * - The prompts of a Task are deleted with the Task.
 * - With PROMPT_LOG=off no prompt is stored.
 */
@Injectable()
export class TaskPrompts {
  private readonly redaction: PromptRedaction;

  constructor(
    private readonly database: Database,
    private readonly config: AppConfig,
    private readonly inFlight: InFlight,
    retention: TaskRetention,
  ) {
    this.redaction = new PromptRedaction(config.prompts.redact);
    retention.purgeWith('DELETE FROM task_prompt WHERE task_id = ANY($1::text[])');
  }

  /**
   * Opens the log of the model calls of a Task; `undefined` if calls are neither stored nor exported in trace spans.
   * @param isNew true if the Task is new, so that there are no stored calls to read
   */
  openLog(taskId: string, scope: TaskScope, isNew: boolean): PromptLog | undefined {
    const { kept, inSpans } = this.config.prompts;
    if (!kept && !inSpans) return undefined;
    const account = InFlight.accountOf(scope);
    return new PromptLog({
      redaction: this.redaction,
      kept,
      inSpans,
      hasRoom: () => !this.inFlight.isFull(account, ROOM_SHARE),
      ...(!isNew && { readRows: () => this.readRows(taskId) }),
    });
  }

  /** Returns the stored model calls of a Task; `undefined` if there is no such Task in the scope. */
  async readPrompts(scope: TaskScope, taskId: string): Promise<KeptPrompts | undefined> {
    // PostgreSQL rejects text with a null character.
    if (taskId.includes('\0')) return undefined;
    const values = [taskId, scope.tenant, scope.owner];
    const { rows } = await this.database.reads.queryInTurn<{ body: string | null }>(scope, { text: OF_OWNER, values });
    return rows.length === 0 ? undefined : new KeptPrompts(rows.flatMap(({ body }) => body ?? []));
  }

  private async readRows(taskId: string): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ body: string }>(OF_TASK, [taskId]);
    return rows.map(({ body }) => body);
  }
}

const OF_TASK = 'SELECT body FROM task_prompt WHERE task_id = $1 ORDER BY sequence';
// A Task without prompts has one row without a body.
const OF_OWNER = `
  SELECT task_prompt.body FROM task LEFT JOIN task_prompt USING (task_id)
  WHERE task.task_id = $1 AND task.tenant = $2 AND task.owner = $3 ORDER BY task_prompt.sequence`;
