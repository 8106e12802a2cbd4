import type pg from 'pg';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { OwnPostgres } from '../../support/own-postgres.js';
import { clusterPrograms } from '../../support/patroni/debian-packages.js';
import { PatroniCluster } from '../../support/patroni/patroni-cluster.js';
import { patientPool } from '../../support/postgres.js';
import type { ClusterDatabase } from '../../support/replica-cluster.js';

const ANSWER_MS = 60_000;

/** PostgreSQL of a trial: a single server that crashes and returns, or two that replace each other as the leader. */
export class TriedDatabase implements ClusterDatabase {
  private readonly pool: pg.Pool;

  private constructor(
    readonly url: string,
    readonly own: OwnPostgres | undefined,
    readonly patroni: PatroniCluster | undefined,
  ) {
    this.pool = patientPool({ connectionString: url, max: 2 });
  }

  /**
   * @param options options of a single server (see OwnPostgres)
   * @throws NoClusterHere if a cluster is requested and not possible
   */
  static async start(
    failover: boolean,
    say: (line: string) => void,
    { settings = [], disk = false }: { settings?: readonly string[]; disk?: boolean } = {},
  ): Promise<TriedDatabase> {
    if (!failover) {
      const own = await OwnPostgres.start(settings, disk);
      return new TriedDatabase(own.url, own, undefined);
    }
    const programs = clusterPrograms(say);
    say('A Patroni cluster of two nodes is built …');
    const patroni = await PatroniCluster.start(programs);
    return new TriedDatabase(patroni.url, undefined, patroni);
  }

  /**
   * Executes a statement that only reads, or may run twice, and returns its rows. Retries while the database is
   * unreachable.
   */
  readonly query = async <T extends object = Record<string, unknown>>(
    sql: string,
    values: unknown[] = [],
  ): Promise<T[]> => {
    const rows = await retryWhileDatabaseDown(() => this.pool.query(sql, values), AbortSignal.timeout(ANSWER_MS));
    return rows.rows as T[];
  };

  async stop(): Promise<void> {
    await this.pool.end();
    await (this.own ?? this.patroni)?.stop();
  }
}
