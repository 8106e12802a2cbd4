import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentDirectory } from '#libs/a2a-client';
import { Database, isDatabaseAway } from '#libs/postgres';
import { Shutdown } from '#libs/service';
import { type RegisteredAgent, RegisteredAgents } from '../agents/registered-agents.js';
import { taskDigest } from './relay-parking.js';
import type { TurnOptions } from './relay-tasks.js';
import { ACTIVE_STATES, RelayWebhooks } from './relay-webhooks.js';

/** Milliseconds between two sweeps. */
const SWEEP_MS = 1_000;
/** Maximum milliseconds of one poll of an agent. */
const POLL_MS = 10_000;
/** Maximum number of parked Tasks that a replica polls at the same time: in total, and for one agent. */
const [MOST_POLLS, MOST_OF_AGENT] = [64, 8];
/** Maximum number of agents whose Tasks one statement looks up. */
const MOST_AGENTS = 256;
/** Maximum pause between two polls of a Task, in seconds. */
const LONGEST_POLL_PAUSE_S = 600;
/** Beginning of the path of every registered agent; the name of the agent follows. */
const ROOT = 'agents/';

/**
 * Polls the agents of parked Tasks slowly, because a notification may never come. One sweep of each replica serves all
 * Tasks.
 * - A Task is polled a minute after it was parked, then after pauses that double, up to ten minutes.
 * - A Task resumes if its agent's Task has changed since it was parked, or cannot be read.
 * - Agents take turns: no agent gets a second poll while another one waits for its first. An agent gets no new polls
 *   before its running polls have ended, so an agent that does not answer delays no other agent.
 */
@Injectable()
export class RelayPolls implements OnApplicationBootstrap {
  private readonly logger = new Logger(RelayPolls.name);
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  /** Running polls, by the key of the agent that they call. */
  private readonly underWay = new Map<string, Promise<void>>();

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
      for (let after = ''; ;) {
        const { started, next } = await this.sweepOnce(after);
        if (this.stopping.signal.aborted || (started === 0 && next === '')) break;
        // With free places, the next sweep begins at once: these polls may take long.
        if (started > 0) await Promise.race([...this.underWay.values(), delay(SWEEP_MS, undefined, { ref: false })]);
        after = next;
      }
    } catch (error) {
      if (!this.stopping.signal.aborted && !isDatabaseAway(error))
        this.logger.warn({ err: error }, 'Polling the agents of parked tasks failed; retrying');
    }
    this.scheduleSweep();
  }

  /**
   * Begins to poll Tasks that are due, of at most MOST_AGENTS agents.
   * @param after key of the last agent that the previous sweep looked at; `''` to begin with the first agent
   * @returns `started`: number of agents whose Tasks are being polled; `next`: the `after` of the next sweep
   */
  private async sweepOnce(after: string): Promise<{ started: number; next: string }> {
    const busy = [...this.underWay.keys()];
    const room = Math.max(MOST_POLLS - busy.length * MOST_OF_AGENT, 0);
    if (room === 0) return { started: 0, next: '' };
    const values = [after, MOST_AGENTS, busy, MOST_OF_AGENT, room, LONGEST_POLL_PAUSE_S];
    const { rows } = await this.database.pool.query<DueTask>({ name: 'relay-due', text: DUE, values });
    const ofAgent = Map.groupBy(
      rows.filter(({ task_id: id }) => id !== null),
      (task) => task.agent_key,
    );
    for (const [key, tasks] of ofAgent) {
      const polls = this.pollAgent(tasks).finally(() => this.underWay.delete(key));
      this.underWay.set(key, polls);
    }
    return { started: ofAgent.size, next: rows[0]?.last_agent ?? '' };
  }

  /** Polls the parked Tasks of one agent. Never rejects. */
  private async pollAgent(tasks: readonly DueTask[]): Promise<void> {
    const [{ tenant, agent }] = tasks as [DueTask];
    const found = this.agents.get(tenant, agent.slice(ROOT.length));
    await Promise.all(tasks.map((task) => this.pollTask(task, found)));
  }

  /** Wakes a Task if its agent's Task has changed or cannot be read. Never rejects. */
  private async pollTask(task: DueTask, found: Promise<RegisteredAgent | undefined>): Promise<void> {
    if (!task.is_parked) return;
    const digest = await found.then((agent) => agent && this.readDigest(agent, task)).catch(() => undefined);
    if (digest === task.parked_digest || this.stopping.signal.aborted) return;
    await this.webhooks.wakeTask(task.task_id).catch((error: unknown) => {
      // The next poll finds the Task again.
      if (!isDatabaseAway(error)) this.logger.warn({ err: error }, 'Waking a parked task failed');
    });
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

/**
 * Parked Task whose agent is due to be polled. All members but `last_agent` are null in the single row of a sweep
 * without such a Task.
 */
interface DueTask {
  /** Key of the last agent that the sweep looked at if there may be further ones, else ''. */
  last_agent: string;
  agent_key: string;
  task_id: string;
  /** False if the Task has ended, or something other than a poll has resumed it. */
  is_parked: boolean;
  tenant: string;
  owner: string;
  /** Path of the agent that the Task belongs to. */
  agent: string;
  remote_task_id: string;
  options: TurnOptions;
  parked_digest: string;
}

/** Returns a subquery for the next agent with parked Tasks: an index is read once for each agent, not for each Task. */
const nextAgent = (before: string): string => `(
  SELECT agent_key FROM registered_agent_task WHERE poll_at IS NOT NULL AND agent_key > ${before}
  ORDER BY agent_key LIMIT 1)`;
const DUE = `
  WITH RECURSIVE parked_agent (agent_key, number) AS (
    SELECT ${nextAgent('$1::text')}, 1
    UNION ALL
    SELECT ${nextAgent('parked_agent.agent_key')}, number + 1 FROM parked_agent
    WHERE agent_key IS NOT NULL AND number < $2),
  place AS (
    SELECT coalesce((SELECT agent_key FROM parked_agent WHERE number = $2), '') AS last_agent),
  chosen AS MATERIALIZED (
    SELECT due.task_id FROM parked_agent CROSS JOIN LATERAL (
      SELECT task_id, poll_at, row_number() OVER (ORDER BY poll_at) AS turn FROM (
        SELECT task_id, poll_at FROM registered_agent_task
        WHERE agent_key = parked_agent.agent_key AND poll_at <= now() ORDER BY poll_at LIMIT $4) AS first) AS due
    WHERE agent_key <> ALL ($3::text[])
    ORDER BY due.turn, due.poll_at LIMIT $5),
  locked AS MATERIALIZED (
    SELECT task_id FROM registered_agent_task
    WHERE task_id = ANY (ARRAY(SELECT task_id FROM chosen)) AND poll_at <= now() FOR UPDATE SKIP LOCKED),
  parked AS MATERIALIZED (
    SELECT task.task_id, tenant, owner, agent,
      claim_token IS NULL AND wake_at > now() AND state IN (${ACTIVE_STATES}) AS is_parked
    FROM task JOIN locked USING (task_id)),
  postponed AS (
    UPDATE registered_agent_task AS turn
    SET poll_pause = least(turn.poll_pause * 2, $6::float8),
      poll_at = CASE WHEN parked.is_parked THEN now() + least(turn.poll_pause * 2, $6::float8) * interval '1 second' END
    FROM parked WHERE turn.task_id = parked.task_id
    RETURNING turn.agent_key, turn.task_id, parked.is_parked, parked.tenant, parked.owner, parked.agent,
      turn.remote_task_id, turn.options, turn.parked_digest)
  SELECT * FROM place LEFT JOIN postponed ON true`;
