import { Balancer } from './balancer.js';
import { natsOfThisRun, type NatsServer } from './nats-server.js';
import { type Parley, type ParleyOptions, startParley } from './parley.js';
import type { TestDatabase } from './postgres.js';
import { until } from './until.js';

export interface ClusterOptions extends Omit<ParleyOptions, 'databaseUrl'> {
  replicas: number;
  /** Starts a replica with the options of the cluster; default `startParley`. */
  launch?: (options: ParleyOptions) => Promise<Parley>;
}

/** Members of a database that the cluster uses. */
export type ClusterDatabase = Pick<TestDatabase, 'url' | 'query'>;

/**
 * Replicas of the built service on one database, behind a load balancer without sticky sessions. They exchange signals
 * over the database, or over a separate NATS server if `PARLEY_TEST_SIGNALS=nats`.
 */
export class ReplicaCluster {
  /** Running replicas in the order of their start. Those killed or stopped through this class are removed. */
  readonly replicas: Parley[] = [];

  private constructor(
    readonly database: ClusterDatabase,
    readonly balancer: Balancer,
    private readonly options: Omit<ClusterOptions, 'replicas'>,
    private readonly nats: NatsServer | undefined,
  ) {}

  static async start(database: ClusterDatabase, { replicas, ...options }: ClusterOptions): Promise<ReplicaCluster> {
    const nats = options.env?.['SIGNALS_URL'] === undefined ? await natsOfThisRun() : undefined;
    const cluster = new ReplicaCluster(database, await Balancer.start(), options, nats);
    try {
      await Promise.all(Array.from({ length: replicas }, () => cluster.add()));
      await cluster.balanced();
      if (nats) await cluster.heardOverNats();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Starts another replica. `options` take precedence over those of the cluster. */
  async add(options: ParleyOptions = {}): Promise<Parley> {
    const signals = this.nats && { SIGNALS_URL: this.nats.url };
    const env = { INTERNAL_URL: this.balancer.url, ...signals, ...this.options.env, ...options.env };
    const { launch = startParley, ...shared } = this.options;
    const replica = await launch({ databaseUrl: this.database.url, ...shared, ...options, env });
    this.replicas.push(replica);
    this.balancer.targets(...this.urls());
    return replica;
  }

  /** Resolves when the balancer has found every replica ready. */
  async balanced(): Promise<void> {
    await this.balancer.serve(...this.urls());
  }

  /** Kills a replica by SIGKILL. The balancer detects that by itself. */
  async kill(replica: Parley): Promise<void> {
    this.leave(replica);
    await replica.kill9();
  }

  /** Stops a replica by SIGTERM, and waits for its end. The balancer detects that by itself. */
  async retire(replica: Parley): Promise<void> {
    await replica.stop();
    this.leave(replica);
    this.balancer.targets(...this.urls());
  }

  /**
   * Returns the living replica that executes a Task: the one whose session holds the lock of the replica that claims
   * the Task.
   */
  async owner(taskId: string): Promise<Parley | undefined> {
    const [row] = await this.database.query<{ pid: number }>(OWNER, [taskId]);
    return this.replicas.find(({ pid }) => pid === row?.pid);
  }

  /** Waits until a replica of this cluster executes the Task, and returns the replica. */
  owned(taskId: string): Promise<Parley> {
    return until(() => this.owner(taskId), { what: `an owner of task ${taskId}` });
  }

  async stop(): Promise<void> {
    await this.balancer.stop();
    for (const replica of this.replicas) replica.thaw();
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await this.nats?.stop();
  }

  /** Asserts that the replicas receive signals over NATS: otherwise they would poll, and no test would fail. */
  private async heardOverNats(): Promise<void> {
    for (const { url } of this.replicas) {
      const heard = async (): Promise<boolean> => {
        const { details } = (await (await fetch(`${url}/health/ready`)).json()) as {
          details: { signals?: { degraded?: boolean } };
        };
        return details.signals !== undefined && details.signals.degraded !== true;
      };
      await until(heard, { what: `signals over NATS at ${url}` });
    }
  }

  private urls(): string[] {
    return this.replicas.map(({ url }) => url);
  }

  private leave(replica: Parley): void {
    this.replicas.splice(this.replicas.indexOf(replica), 1);
  }
}

/**
 * SQL that finds the process of a Task's owner: the name of a session contains the process id, as in
 * `parley:PID:replica`.
 */
const OWNER = `
  SELECT split_part(a.application_name, ':', 2)::int AS pid
  FROM task t JOIN replica r ON r.id = t.replica_id
    JOIN pg_locks l ON l.locktype = 'advisory' AND l.objsubid = 1
      AND l.classid = (r.lock_key >> 32)::oid AND l.objid = (r.lock_key & 4294967295)::oid
    JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE t.task_id = $1`;
