import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { copyBuiltService } from '../../support/built-service.mjs';
import { OwnPostgres } from '../../support/own-postgres.js';
import { ReplicaCluster } from '../../support/replica-cluster.js';
import { hasEnded, storedLogs } from '../../support/stored-log.js';
import { Api } from '../../support/workflow.js';
import { ClientLog } from './client-log.js';
import { FaultDriver } from './fault-driver.js';
import { faultPlan } from './fault-plan.js';
import { Load } from './load.js';
import { type ChaosOptions, readOptions, USAGE } from './options.js';
import { ReplicaMemory } from './replica-memory.js';
import { report, type Trial } from './report.js';
import { setStage } from './stage.js';
import { verdict } from './verdict.js';

/** What has not ended so long after the last fault is stuck. */
const RECOVERY_MS = 60_000;

const ends: (() => Promise<unknown>)[] = [];
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort());

try {
  const options = parsed();
  const { minutes, seed, replicas, faults, http } = options;
  const only = faults.length > 0 ? ` --faults ${faults.join(',')}` : '';
  say(`npm run chaos -- --minutes ${minutes} --seed ${seed} --replicas ${replicas}${only}${http ? ' --http' : ''}`);
  const trial = await tryOut(options);
  process.stdout.write(`\n${report(trial)}\n`);
  const kept = Object.values(trial.verdict).every((breaches: string[]) => breaches.length === 0);
  process.exitCode = kept ? 0 : 1;
} finally {
  for (const end of ends.reverse()) await end().catch((error: Error) => say(error.message));
}

function parsed(): ChaosOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function tryOut({ minutes, seed, replicas, faults, http }: ChaosOptions): Promise<Trial> {
  process.env.PARLEY_TEST_MAIN = copyBuiltService();
  const postgres = await OwnPostgres.start();
  ends.push(() => postgres.stop());
  const pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
  pool.on('error', () => undefined);
  ends.push(() => pool.end());
  const query = async <T extends object>(sql: string, values: unknown[] = []) =>
    (await pool.query(sql, values)).rows as T[];
  const env = { SHUTDOWN_GRACE: '5', LOG_LEVEL: 'silent', ...(http && { NODE_DISPATCH: 'http' }) };
  const cluster = await ReplicaCluster.start({ url: postgres.url, query }, { replicas, env });
  ends.push(() => cluster.stop());
  const memory = new ReplicaMemory();
  for (const replica of cluster.replicas) memory.begun(replica);
  const stage = await setStage(new Api(cluster.balancer.url));
  for (const agent of stage.agents) ends.push(() => agent.stop());
  const log = new ClientLog();
  const load = new Load(cluster.balancer.url, stage, log);
  const driver = new FaultDriver(cluster, postgres, memory, say);
  const lengthMs = minutes * 60_000;
  const begun = performance.now();
  await driver.follow(faultPlan(seed, lengthMs, faults), interrupted.signal);
  const left = Math.max(0, begun + lengthMs - performance.now());
  await delay(left, undefined, { signal: interrupted.signal }).catch(() => undefined);
  say('The faults are over; what was begun is finished and checked.');
  await load.stop(RECOVERY_MS);
  const stored = await settled(query);
  return { log, faults: driver.done, lives: memory.stop(), verdict: verdict(log, stored, stage.agents) };
}

/** All Tasks, once each has ended or has had its time. */
async function settled(query: Parameters<typeof storedLogs>[0]): ReturnType<typeof storedLogs> {
  const deadline = performance.now() + RECOVERY_MS;
  for (;;) {
    const logs = await storedLogs(query);
    if (logs.every(hasEnded) || performance.now() > deadline) return logs;
    await delay(500);
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
