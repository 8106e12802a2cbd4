import type { FakeAgent } from '../../support/fake-agent.js';
import type { ReplicaCluster } from '../../support/replica-cluster.js';
import { hasEnded, storedLog } from '../../support/stored-log.js';
import { until } from '../../support/until.js';
import type { Api, Run } from '../../support/workflow.js';
import { unique } from '../../support/workflow.js';
import { type Comer, EventGates, type Moment } from './event-gates.js';
import { endOf, insistently } from './insistently.js';
import type { Scenario } from './scenarios.js';

/** Time limit for the start of a replica, while other replicas are killed as well. */
const START_MS = 180_000;

/** Run that was not disturbed. */
export interface Whole {
  scenario: Scenario;
  /** Number of events of the watched Task. */
  events: number;
  run: Run;
  about: string;
}

/** Run whose replica was to be killed. */
export interface Disturbed {
  scenario: Scenario;
  sequence: number;
  moment: Moment;
  about: string;
  run: Run;
  /** True if the replica was killed at the place of this run; false if another kill was first. */
  isHit: boolean;
}

/** Begins runs, and kills the replica that has written a certain event of a run, or is about to write the next one. */
export class EventKills {
  kills = 0;
  private begun = 0;
  private readonly mark = unique('kills');

  constructor(
    private readonly stage: { cluster: ReplicaCluster; api: Api; agent: FakeAgent },
    private readonly gates: EventGates,
  ) {}

  async whole(scenario: Scenario): Promise<Whole> {
    const { api, cluster } = this.stage;
    const { workflow, about, prepared } = await this.prepare(scenario);
    const run = await endOf(api, await scenario.begin(api, workflow, about, prepared));
    const { query } = cluster.database;
    const agent = scenario.watched(workflow);
    const [task] = await query<{ events: number }>(
      `SELECT task.last_sequence AS events FROM task LEFT JOIN task parent ON parent.task_id = task.parent_task_id
       WHERE $1 IN (task.agent, task.agent || ' of ' || parent.agent)
       ORDER BY task.created_at DESC LIMIT 1`,
      [agent],
    );
    return { scenario, events: task?.events ?? 0, run, about };
  }

  async disturbed(scenario: Scenario, sequence: number, moment: Moment): Promise<Disturbed> {
    const { api, cluster } = this.stage;
    const { workflow, about, prepared } = await this.prepare(scenario);
    const come = await this.gates.put(scenario.watched(workflow), sequence, moment);
    const runId = await scenario.begin(api, workflow, about, prepared);
    const isOver = async (): Promise<boolean> => hasEnded(await storedLog(cluster.database.query, runId));
    const comer = await come(isOver);
    const isHit = comer !== undefined && (await this.kill(comer));
    const run = await endOf(api, runId);
    return { scenario, sequence, moment, about, run, isHit };
  }

  private async prepare(scenario: Scenario): Promise<{ workflow: string; about: string; prepared: string }> {
    const { api, agent } = this.stage;
    this.begun += 1;
    const workflow = `${this.mark}_${this.begun}`;
    const about = `${scenario.name}-${workflow}.`;
    const definition = scenario.define(workflow, agent.url);
    await insistently(async () => {
      const { status, text } = await api.call('PUT', `/workflows/${workflow}`, definition);
      if (status !== 201 && status !== 200) throw new Error(`Saving failed: ${status} ${text}`);
    });
    return { workflow, about, prepared: (await scenario.prepare?.(api, workflow, about)) ?? '' };
  }

  /** Kills the replica. @returns true if it was still alive */
  private async kill({ pid, open }: Comer): Promise<boolean> {
    const { cluster } = this.stage;
    await until(() => cluster.replicas.length >= 2, { within: START_MS, what: 'another replica' });
    const replica = cluster.replicas.find((it) => it.pid === pid);
    if (replica) {
      this.kills += 1;
      await cluster.kill(replica);
    }
    await open();
    if (replica) await cluster.add();
    return replica !== undefined;
  }
}
