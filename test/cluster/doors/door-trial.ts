import { DatabaseLink } from '../../support/database-link.js';
import { openDoor } from '../../support/doors.js';
import { MortalAgent } from '../../support/mortal-agent.js';
import { SCRIPT } from '../../support/mortal-agent-script.js';
import type { Parley } from '../../support/parley.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { stopScheduledPurges } from '../../support/purges.js';
import { ReplicaCluster } from '../../support/replica-cluster.js';
import { range } from '../../support/sse.js';
import { unique } from '../../support/workflow.js';
import { DoorCall, type DoorCallOptions } from './door-call.js';

/** Possible numbers of events that the agent has sent when something is killed. */
const POINTS = range(0, SCRIPT.length);

/** Two replicas behind a balancer, on a database that can be cut off, and one agent of each kind. */
export class DoorTrial {
  private readonly calls: DoorCall[] = [];

  private constructor(
    readonly database: TestDatabase,
    readonly link: DatabaseLink,
    readonly cluster: ReplicaCluster,
    /** Agent that keeps its Tasks over a restart. */
    readonly surviving: MortalAgent,
    /** Agent that keeps its Tasks in memory only. */
    readonly forgetful: MortalAgent,
  ) {}

  static async start(): Promise<DoorTrial> {
    const database = await freshDatabase();
    const link = await DatabaseLink.to(database.url);
    const env = { TASK_RETENTION: '1s' };
    const [cluster, surviving, forgetful] = await Promise.all([
      ReplicaCluster.start({ url: link.url, query: database.query }, { replicas: 2, env }),
      MortalAgent.start({ survives: true }),
      MortalAgent.start({ survives: false }),
    ]);
    await stopScheduledPurges(database.query);
    return new DoorTrial(database, link, cluster, surviving, forgetful);
  }

  async stop(): Promise<void> {
    for (const call of this.calls) call.stop();
    await this.cluster.stop();
    await Promise.all([this.surviving.stop(), this.forgetful.stop()]);
    await this.link.stop();
    await this.database.drop();
  }

  /** Registers an agent. @returns its path */
  async open(agent: MortalAgent, policy: object = {}): Promise<string> {
    return `agents/${(await openDoor(this.cluster.balancer.url, agent.url, { policy })).name}`;
  }

  /** Begins a Task for each number of events, all at one replica, and waits until the agent has sent the events. */
  async beginAll(
    replica: Parley,
    options: Omit<DoorCallOptions, 'about' | 'said'>,
    points: readonly number[] = POINTS,
  ): Promise<DoorCall[]> {
    const mark = unique('t');
    const calls = points.map(
      (said) => new DoorCall(this.cluster.balancer.url, { ...options, said, about: `${mark}/${said}` }),
    );
    this.calls.push(...calls);
    await Promise.all(calls.map((call) => call.begin(replica.url)));
    await Promise.all(calls.map((call) => call.reached(this.database.query)));
    return calls;
  }
}
