import { Database, POSTGRES_MIGRATIONS, ReplicaLife } from '#libs/postgres';
import type { TestDatabase } from '../support/postgres.js';

/** Replicas that do nothing but live. Their sessions are apart from those of a test: heartbeats teach a database the time. */
export class LivingReplicas {
  private readonly lives: ReplicaLife[] = [];

  private constructor(private readonly database: Database) {}

  static async of(server: TestDatabase): Promise<LivingReplicas> {
    return new LivingReplicas(await Database.connectAndMigrate({ url: server.url, migrations: POSTGRES_MIGRATIONS }));
  }

  /** Starts one more; gives its id. */
  async add(): Promise<string> {
    const life = new ReplicaLife(this.database);
    await life.beginLife();
    this.lives.push(life);
    return life.replicaId;
  }

  async end(): Promise<void> {
    for (const life of this.lives) await life.endLife();
    await this.database.close();
  }
}
