import type { TestDatabase } from './postgres.js';
import type { InnerReplica } from './replica.js';
import { until } from './until.js';

/** The Tasks that the replica claims and does not execute. */
export async function idleClaims(server: TestDatabase, replica: InnerReplica): Promise<string[]> {
  const { replicaId } = replica.life;
  const rows = await server.query<{ task_id: string }>('SELECT task_id FROM task WHERE replica_id = $1', [replicaId]);
  return rows.map((row) => row.task_id).filter((taskId) => !replica.registry.has(taskId));
}

/** Sweeps until the replica executes whatever it claims. */
export async function takenUp(server: TestDatabase, replica: InnerReplica): Promise<void> {
  const sweep = async (): Promise<boolean> => {
    await replica.recovery.sweep().catch(() => undefined);
    return (await idleClaims(server, replica)).length === 0;
  };
  await until(sweep, { within: 60_000, what: 'every claim to be executed or let go' });
}
