import type { BenchPostgres } from '../servers/postgres.ts';
import { cpuMicroseconds, familyCpuMicroseconds } from './processes.ts';

/** Resources that processes used between two points in time. */
export interface Usage {
  /** CPU time of Node in microseconds. */
  nodeCpu: number;
  postgresCpu?: number;
  walBytes?: number;
  commits?: number;
}

/** Starts to measure a server and, if it has one, its PostgreSQL. The returned function ends the measurement. */
export async function startMeter(pid: number, postgres: BenchPostgres | undefined): Promise<() => Promise<Usage>> {
  const counters = await postgres?.counters();
  const before = { node: cpuMicroseconds(pid), postgres: postgres ? familyCpuMicroseconds(postgres.pid) : 0 };
  return async () => {
    const nodeCpu = cpuMicroseconds(pid) - before.node;
    if (!postgres || !counters) return { nodeCpu };
    const postgresCpu = familyCpuMicroseconds(postgres.pid) - before.postgres;
    const after = await postgres.counters();
    return {
      nodeCpu,
      postgresCpu,
      walBytes: after.walBytes - counters.walBytes,
      commits: after.commits - counters.commits,
    };
  };
}
