import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../comparison.ts';
import { median } from '../measure/measurement.ts';
import { cpuMicroseconds, residentBytes } from '../measure/processes.ts';
import { startParley } from '../servers/bench-server.ts';

/** Milliseconds after which compiled code has been stored, and V8 and the allocator have returned memory. */
const IDLE_MS = 20_000;
const MIB = 1024 ** 2;

interface Start {
  readyMs: number;
  cpuMs: number;
  /** Resident bytes when the service is ready, and after IDLE_MS without a request. */
  ready: number;
  idle: number;
  firstRunMs: number;
}

/**
 * Measures the start of a replica on a database that has its tables: time and CPU time to ready, memory of the idle
 * replica, and the time of its first request. With and without compiled code of an earlier start.
 */
export async function startCase(bench: Bench): Promise<Row[]> {
  const url = await bench.postgres.database('parley');
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-compiled-'));
  const cached = { NODE_COMPILE_CACHE: folder };
  try {
    await measureStart(url, cached);
    const rows: (string | number)[][] = [];
    for (const [what, environment] of [
      ['compiled by an earlier start', cached],
      ['nothing compiled', { NODE_DISABLE_COMPILE_CACHE: '1' }],
    ] as const) {
      const starts: Start[] = [];
      for (let round = 0; round < bench.options.rounds; round += 1) starts.push(await measureStart(url, environment));
      const of = (key: keyof Start): number => median(starts.map((start) => start[key]));
      const [cpuMs, idle] = [of('cpuMs'), of('idle') / MIB];
      bench.progress(`${what}: ready after ${cpuMs.toFixed(0)} ms of CPU, idle with ${idle.toFixed(1)} MiB`);
      rows.push([what, of('readyMs'), cpuMs, of('ready') / MIB, idle, of('firstRunMs')]);
    }
    bench.table({
      title: 'Start of a replica',
      header: ['code', 'ms to ready', 'CPU ms to ready', 'RSS MiB when ready', 'RSS MiB idle', 'first request ms'],
      rows,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [];
}

async function measureStart(databaseUrl: string, environment: Record<string, string>): Promise<Start> {
  const begun = performance.now();
  const server = await startParley(databaseUrl, environment);
  try {
    const readyMs = performance.now() - begun;
    const [cpuMs, ready] = [cpuMicroseconds(server.pid) / 1_000, residentBytes(server.pid)];
    await delay(IDLE_MS);
    const idle = residentBytes(server.pid);
    const asked = performance.now();
    const answer = await fetch(`${server.url}/api/runs`);
    if (!answer.ok) throw new Error(`The list of runs failed: ${await answer.text()}`);
    await answer.text();
    return { readyMs, cpuMs, ready, idle, firstRunMs: performance.now() - asked };
  } finally {
    await server.stop();
  }
}
