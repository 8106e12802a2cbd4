import { Injectable, Logger } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { cancelTask } from '#libs/durable';
import { Database, isDatabaseAway } from '#libs/postgres';
import { redactedUrl } from '#libs/protocol';
import { Shutdown } from '#libs/service';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import { agentKey, type TurnOptions } from './relay-tasks.js';
import { ACTIVE_STATES, RelayWebhooks } from './relay-webhooks.js';

/** Maximum number of Tasks of one agent that are canceled at the same time. */
const AT_ONCE = 8;
/** Maximum number of agents whose Tasks are canceled at the same time. */
const MOST_AGENTS = 8;
/** Time limit for canceling the Tasks of one agent, in milliseconds. */
const LONGEST_MS = 60_000;

/** Members of a deleted agent that a cancel needs. */
type DeletedAgent = Pick<RegisteredAgent, 'tenant' | 'name' | 'url' | 'auth'>;

/**
 * Ends the parked Tasks of deleted agents.
 * - Each Task is canceled at the agent and then woken; it fails, because its agent is gone.
 * - The cancels of an agent take at most LONGEST_MS. After that, or if MOST_AGENTS others are being removed, Tasks only
 *   fail. If this process ends meanwhile, the polls find the rest.
 */
@Injectable()
export class RelayRemoval {
  private readonly logger = new Logger(RelayRemoval.name);
  private readonly stopping = new AbortController();
  private agents = 0;

  constructor(
    private readonly database: Database,
    private readonly directory: AgentDirectory,
    private readonly webhooks: RelayWebhooks,
    shutdown: Shutdown,
  ) {
    shutdown.registerStep('intake', () => this.stopping.abort());
  }

  /** Begins to end the parked Tasks of an agent that was deleted. */
  endParkedTasks(agent: DeletedAgent): void {
    void this.endTasksOf(agent).catch((error: unknown) => {
      if (this.stopping.signal.aborted || isDatabaseAway(error)) return;
      this.logger.warn({ err: error, agent: agent.name }, 'Ending the parked tasks of a deleted agent failed');
    });
  }

  private async endTasksOf(agent: DeletedAgent): Promise<void> {
    const key = agentKey({ scope: agent, agent: agent.name });
    if (this.agents < MOST_AGENTS) {
      this.agents += 1;
      try {
        await this.cancelTasksOf(agent, key);
      } finally {
        this.agents -= 1;
      }
    }
    await this.database.pool.query(POLL_NOW, [key]);
  }

  private async cancelTasksOf(agent: DeletedAgent, key: string): Promise<void> {
    const until = performance.now() + LONGEST_MS;
    let canceled = 0;
    for (let after = ''; performance.now() < until && !this.stopping.signal.aborted;) {
      const { rows } = await this.database.pool.query<ParkedTask>(PARKED, [
        key,
        after,
        AT_ONCE,
        agent.tenant,
        agent.name,
      ]);
      const last = rows.at(-1);
      if (last === undefined) break;
      await Promise.all(rows.map((task) => this.cancelAndWake(agent, task)));
      canceled += rows.length;
      after = last.task_id;
    }
    if (canceled === 0) return;
    const { name: removed, url } = agent;
    this.logger.log(
      { agent: removed, url: redactedUrl(url), tasks: canceled },
      'Parked tasks of a deleted agent ended',
    );
  }

  private async cancelAndWake({ url, auth }: DeletedAgent, task: ParkedTask): Promise<void> {
    const { tenant, owner, remote_task_id: remoteTaskId, options } = task;
    const { extensions = [], headers } = options;
    await cancelTask(this.directory, url, remoteTaskId, {
      scope: { tenant, owner },
      ...(auth !== undefined && { credential: auth }),
      ...(extensions.length > 0 && { extensions }),
      ...(headers && { headers }),
    });
    await this.webhooks.wakeTask(task.task_id);
  }
}

interface ParkedTask {
  task_id: string;
  tenant: string;
  owner: string;
  remote_task_id: string;
  options: TurnOptions;
}

/**
 * Query for the Tasks to cancel. It finds none once the agent's name is registered again, since the Tasks may then
 * belong to the new agent.
 */
const PARKED = `
  SELECT turn.task_id, task.tenant, task.owner, turn.remote_task_id, turn.options
  FROM registered_agent_task turn JOIN task ON task.task_id = turn.task_id
  WHERE turn.agent_key = $1 AND turn.task_id > $2 AND turn.poll_at IS NOT NULL AND turn.remote_task_id IS NOT NULL
    AND task.claim_token IS NULL AND task.state IN (${ACTIVE_STATES})
    AND NOT EXISTS (SELECT FROM registered_agent AS known WHERE known.tenant = $4 AND known.name = $5)
  ORDER BY turn.task_id LIMIT $3`;
/** Statement after which RelayPolls wakes the remaining parked Tasks; they fail, because their agent is gone. */
const POLL_NOW = `
  UPDATE registered_agent_task SET poll_at = now() WHERE agent_key = $1 AND poll_at > now()`;
