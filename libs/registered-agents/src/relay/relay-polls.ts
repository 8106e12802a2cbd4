import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { Database, isDatabaseAway } from '#libs/postgres';
import { Shutdown } from '#libs/service';
import { type RegisteredAgent, RegisteredAgents } from '../agents/registered-agents.js';
import { taskDigest } from './relay-parking.js';
import type { TurnOptions } from './relay-tasks.js';
import { ACTIVE_STATES, RelayWebhooks } from './relay-webhooks.js';

/** Milliseconds between two sweeps. */
const SWEEP_MS = 1_000;
/** Milliseconds of one poll of an agent. */
const POLL_MS = 10_000;
/** Maximum number of parked Tasks that one sweep polls at the same time, and of those of one agent. */
const [MOST_POLLS, MOST_OF_AGENT] = [64, 8];
/** Maximum number of due Tasks among which a sweep chooses. */
const MOST_DUE = 10_000;
/** Maximum pause between two polls of a Task, in seconds. */
const LONGEST_POLL_PAUSE_S = 600;
/** Path of a registered agent, before its name. */
const ROOT = 'agents/';

/**
 * Polls the agents of parked Tasks slowly, because a notification may never come. One sweep of each replica serves all
 * Tasks.
 * - A Task is polled a minute after it was parked, then after pauses that double, up to ten minutes.
 * - A Task resumes if its agent's Task has changed since it was parked, or cannot be read.
 * - One agent that does not answer takes at most an eighth of the polls of a sweep.
 */
@Injectable()
export class RelayPolls implements OnApplicationBootstrap {
  private readonly logger = new Logger(RelayPolls.name);
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly agents: RegisteredAgents,
    private readonly directory: AgentDirectory,
    private readonly webhooks: RelayWebhooks,
    shutdown: Shutdown,
  ) {
    shutdown.registerStep('intake', () => this.stop());
  }

  onApplicationBootstrap(): void {
    this.scheduleSweep();
  }

  private stop(): void {
    this.stopping.abort();
    clearTimeout(this.timer);
  }

  private scheduleSweep(): void {
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(() => void this.sweepAndWait(), SWEEP_MS).unref();
  }

  private async sweepAndWait(): Promise<void> {
    try {
      while ((await this.sweepOnce()) > 0 && !this.stopping.signal.aborted);
    } catch (error) {
      if (!this.stopping.signal.aborted && !isDatabaseAway(error))
        this.logger.warn({ err: error }, 'Polling the agents of parked tasks failed; retrying');
    }
    this.scheduleSweep();
  }

  /** Polls the Tasks that are due, at most MOST_POLLS. @returns their number */
  private async sweepOnce(): Promise<number> {
    const values = [MOST_DUE, MOST_OF_AGENT, MOST_POLLS, LONGEST_POLL_PAUSE_S];
    const { rows } = await this.database.pool.query<DueTask>({ name: 'relay-due', text: DUE, values });
    const agents = new Map<string, Promise<RegisteredAgent | undefined>>();
    const findAgent = ({ tenant, agent }: DueTask): Promise<RegisteredAgent | undefined> => {
      const key = JSON.stringify([tenant, agent]);
      const found = agents.get(key) ?? this.agents.get(tenant, agent.slice(ROOT.length));
      agents.set(key, found);
      return found;
    };
    await Promise.all(rows.map((task) => this.pollTask(task, findAgent)));
    return rows.length;
  }

  private async pollTask(
    task: DueTask,
    findAgent: (task: DueTask) => Promise<RegisteredAgent | undefined>,
  ): Promise<void> {
    if (!task.is_parked) return;
    const digest = await findAgent(task)
      .then((agent) => agent && this.readDigest(agent, task))
      .catch(() => undefined);
    if (digest === task.parked_digest || this.stopping.signal.aborted) return;
    await this.webhooks.wakeTask(task.task_id);
  }

  private async readDigest({ url, auth }: RegisteredAgent, task: DueTask): Promise<string> {
    const { tenant, owner, options } = task;
    const { extensions = [], headers } = options;
    const call = {
      scope: { tenant, owner },
      ...(auth !== undefined && { credential: auth }),
      ...(extensions.length > 0 && { extensions }),
      ...(headers && { headers }),
      timeouts: { refused: 0, firstEvent: POLL_MS, total: POLL_MS },
      signal: this.stopping.signal,
    };
    const client = await this.directory.resolveClient(url, call);
    return taskDigest(await client.getTask(task.remote_task_id, call));
  }
}

interface DueTask {
  task_id: string;
  /** False if the Task has ended, or something other than a poll has resumed it. */
  is_parked: boolean;
  tenant: string;
  owner: string;
  /** Path of the agent. */
  agent: string;
  remote_task_id: string;
  options: TurnOptions;
  parked_digest: string;
}

const DUE = `
  WITH chosen AS MATERIALIZED (
    SELECT task_id FROM (
      SELECT task_id, poll_at, row_number() OVER (PARTITION BY agent_key ORDER BY poll_at) AS place FROM (
        SELECT task_id, agent_key, poll_at FROM registered_agent_task
        WHERE poll_at <= now() ORDER BY poll_at LIMIT $1) AS due) AS placed
    WHERE place <= $2 ORDER BY poll_at LIMIT $3),
  locked AS MATERIALIZED (
    SELECT task_id FROM registered_agent_task
    WHERE task_id = ANY (ARRAY(SELECT task_id FROM chosen)) AND poll_at <= now() FOR UPDATE SKIP LOCKED),
  parked AS MATERIALIZED (
    SELECT task.task_id, tenant, owner, agent,
      claim_token IS NULL AND wake_at > now() AND state IN (${ACTIVE_STATES}) AS is_parked
    FROM task JOIN locked USING (task_id))
  UPDATE registered_agent_task AS turn
  SET poll_pause = least(turn.poll_pause * 2, $4::float8),
    poll_at = CASE WHEN parked.is_parked THEN now() + least(turn.poll_pause * 2, $4::float8) * interval '1 second' END
  FROM parked WHERE turn.task_id = parked.task_id
  RETURNING turn.task_id, parked.is_parked, parked.tenant, parked.owner, parked.agent, turn.remote_task_id, turn.options,
    turn.parked_digest`;
