import pg from 'pg';
import type { Bench, Row } from '../comparison.ts';
import { startMeter } from '../measure/meter.ts';
import { residentBytes } from '../measure/processes.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';

const CONNECTIONS = 32;
const MINUTE_S = 60;
const MIB = 1024 ** 2;
/** Minutes after which memory and tables may not grow any more. */
const SETTLED_AFTER = 5;
const MOST_GROWTH = 1.1;

interface Minute {
  nodeCpu: number;
  postgresCpu: number;
  rssMib: number;
  heapMib: number;
  tablesMib: number;
  indexesMib: number;
  deadRows: number;
}

/**
 * Measures Messages at half of the maximum rate of a replica, for the duration of `--minutes`, while Tasks are purged a
 * minute after their end. Whatever still grows at the end is a leak. The commit log, which is kept for 48 hours, is
 * measured separately.
 */
export async function soakCase(bench: Bench): Promise<Row[]> {
  const { minutes } = bench.options;
  const url = await bench.postgres.database('parley');
  const database = new pg.Pool({ connectionString: url, max: 1 });
  try {
    const server = await bench.using(startParley(url, { TASK_RETENTION: '1m' }));
    await saveWorkflow(server.url, ECHO);
    const most = await load(bench, server, 10);
    const rate = most.requests / most.seconds / 2;
    const all: Minute[] = [];
    for (let minute = 1; minute <= minutes; minute += 1) {
      all.push(await soaked(bench, server, database, rate));
      bench.progress(`soak, minute ${minute}: ${JSON.stringify(rounded(all.at(-1)!))}`);
    }
    report(bench, all, rate);
  } finally {
    await database.end();
  }
  return [];
}

async function soaked(bench: Bench, server: BenchServer, database: pg.Pool, rate: number): Promise<Minute> {
  // Parley purges every ten minutes; here sizes are to settle sooner.
  await database.query(`SELECT graphile_worker.add_job('tasks.purge')`);
  const stop = await startMeter(server.pid, bench.postgres);
  const { requests } = await load(bench, server, MINUTE_S, rate);
  const { nodeCpu, postgresCpu = 0 } = await stop();
  const { rows } = await database.query(SIZES);
  return {
    nodeCpu: nodeCpu / requests,
    postgresCpu: postgresCpu / requests,
    rssMib: residentBytes(server.pid) / MIB,
    heapMib: (await heapBytes(server)) / MIB,
    tablesMib: Number(rows[0].tables) / MIB,
    indexesMib: Number(rows[0].indexes) / MIB,
    deadRows: Number(rows[0].dead),
  };
}

function load(bench: Bench, { url }: BenchServer, seconds: number, rate?: number) {
  const template = rpc(ECHO_PATH, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
  return bench.load.load({ url, connections: CONNECTIONS, seconds, template, rate });
}

async function heapBytes({ url }: BenchServer): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1]);
}

function report(bench: Bench, all: readonly Minute[], rate: number): void {
  const shown = all.flatMap((minute, index) => {
    const isShown = index === 0 || (index + 1) % SETTLED_AFTER === 0 || index === all.length - 1;
    return isShown ? [[String(index + 1), ...Object.values(minute)]] : [];
  });
  bench.table({
    title: `Soak: ${Math.round(rate)} Messages a second`,
    header: ['minute', 'Node µs', 'PostgreSQL µs', 'RSS MiB', 'heap MiB', 'tables MiB', 'indexes MiB', 'dead rows'],
    rows: shown,
  });
  const [settled, end] = [all[SETTLED_AFTER - 1], all.at(-1)];
  if (!settled || !end || settled === end) return;
  const grown = (Object.keys(end) as (keyof Minute)[]).filter((key) => end[key] > settled[key] * MOST_GROWTH);
  bench.note(
    grown.length === 0
      ? `Nothing is more than ${MOST_GROWTH} times what it was after ${SETTLED_AFTER} minutes.`
      : `More than ${MOST_GROWTH} times what it was after ${SETTLED_AFTER} minutes: ${grown.join(', ')}.`,
  );
}

function rounded(minute: Minute): Record<string, number> {
  return Object.fromEntries(Object.entries(minute).map(([name, value]) => [name, Math.round(value)]));
}

const SIZES = `
  SELECT sum(pg_table_size(relid)) AS tables, sum(pg_indexes_size(relid)) AS indexes, sum(n_dead_tup) AS dead
  FROM pg_stat_user_tables WHERE schemaname = 'public' AND relname <> 'task_commit'`;
