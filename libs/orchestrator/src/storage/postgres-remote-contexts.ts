import { Injectable } from '@nestjs/common';
import { RemoteContexts, type RemoteTalk, talkKey } from '#libs/agent-calls';
import { Database } from '#libs/postgres';
import { TaskRetention } from '#libs/tasks';

/** RemoteContexts on PostgreSQL. */
@Injectable()
export class PostgresRemoteContexts extends RemoteContexts {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM remote_context WHERE task_id = ANY($1::text[])');
  }

  async findContext(talk: RemoteTalk): Promise<string | undefined> {
    const { rows } = await this.database.pool.query<{ contextId: string }>({
      name: 'remote-context',
      text: 'SELECT context_id AS "contextId" FROM remote_context WHERE key = $1',
      values: [talkKey(talk)],
    });
    return rows[0]?.contextId;
  }

  async keepContext(talk: RemoteTalk, contextId: string, taskId: string): Promise<void> {
    await this.database.pool.query({
      name: 'remote-context-keep',
      text: `INSERT INTO remote_context (key, context_id, task_id) VALUES ($1, $2, $3)
             ON CONFLICT (key) DO UPDATE SET context_id = excluded.context_id, task_id = excluded.task_id`,
      values: [talkKey(talk), contextId, taskId],
    });
  }
}
