import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { childrenOf } from './processes.ts';

/**
 * Pins the measured processes to the first processor and all others (load, PostgreSQL) to the rest, with all their
 * threads, so that slow answers are caused by the server itself. @throws Error on a machine with one processor, or
 * without `taskset`
 */
export function keepApart(servers: readonly number[], others: readonly number[]): void {
  const cores = availableParallelism();
  if (cores < 2) throw new Error('There is one core: nothing can be kept apart');
  for (const pid of servers) keepOn('0', pid);
  for (const pid of others) for (const each of [pid, ...childrenOf(pid)]) keepOn(`1-${cores - 1}`, each);
}

function keepOn(cores: string, pid: number): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
