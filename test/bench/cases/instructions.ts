import type { Bench, Row } from '../comparison.ts';
import { Callgrind, type Executed } from '../measure/callgrind.ts';
import { type BenchServer, startParley, startPeer, type Under } from '../servers/bench-server.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';
import { COMMIT_FLOOR, NEST_FLOOR, NODE_FLOOR, PARLEY, SDK_MEMORY } from './subject-names.ts';

const CONNECTIONS = 32;
/**
 * Seconds of warm-up, in which V8 must compile everything. A server under valgrind is ten times as slow, and fifty
 * times while valgrind counts.
 */
const WARM_UP_SECONDS = 80;
const COUNTED_WARM_UP_SECONDS = 4;
const WINDOW_SECONDS = 10;
/**
 * Number of measurements. The one with the fewest instructions is used, since V8 compiles or marks its whole heap in
 * some.
 */
const WINDOWS = 3;

/**
 * Environment that selects the allocator of glibc for all subjects, so that counts are comparable between machines with
 * and without jemalloc.
 */
const GLIBC = { LD_PRELOAD: '' };

interface Counted {
  name: string;
  path: string;
  start(under: Under): Promise<BenchServer>;
}

/** Counts the instructions of a blocking SendMessage with 32 connections, for one server after the other. */
export async function instructionsCase(bench: Bench): Promise<Row[]> {
  if (!Callgrind.isInstalled())
    throw new Error('The case instructions needs valgrind (Debian: apt-get install valgrind)');
  const rows: (string | number)[][] = [];
  for (const counted of await subjects(bench)) {
    const { instructions, codeMisses, dataMisses } = await measure(bench, counted);
    bench.progress(`${counted.name}: ${(instructions / 1000).toFixed(0)} thousand instructions a Message`);
    rows.push([counted.name, instructions / 1000, codeMisses, dataMisses]);
  }
  bench.table({
    title: `What a Message executes outside the kernel at ${CONNECTIONS} connections, and lines of 64 bytes from beyond a second-level cache of 512 KiB (callgrind)`,
    header: ['subject', 'thousand instructions', 'lines of code', 'lines of data'],
    rows,
  });
  return [];
}

async function subjects({ postgres }: Bench): Promise<Counted[]> {
  const [parleyUrl, floorUrl] = [await postgres.database('parley'), await postgres.database('floor')];
  const startOwn = async (under: Under): Promise<BenchServer> => {
    const server = await startParley(parleyUrl, GLIBC, under);
    await saveWorkflow(server.url, ECHO);
    return server;
  };
  const peer =
    (file: string, environment = {}) =>
    (under: Under) =>
      startPeer(file, environment, under);
  return [
    { name: PARLEY, path: ECHO_PATH, start: startOwn },
    { name: SDK_MEMORY, path: '/', start: peer('sdk-memory.ts') },
    { name: COMMIT_FLOOR, path: '/', start: peer('stored-echo.ts', { DATABASE_URL: floorUrl }) },
    { name: NEST_FLOOR, path: '/', start: peer('nest-echo.ts') },
    { name: NODE_FLOOR, path: '/', start: peer('node-echo.ts') },
  ];
}

async function measure({ load, using }: Bench, { path, start }: Counted): Promise<Executed> {
  const callgrind = new Callgrind();
  try {
    const server = await using(start(callgrind.under));
    const template = rpc(path, 'SendMessage', userMessage(), 'TASK_STATE_COMPLETED');
    const work = async (seconds: number): Promise<number> =>
      (await load.load({ url: server.url, connections: CONNECTIONS, seconds, template })).requests;
    const counted = async (): Promise<Executed> => {
      let requests = 0;
      const all = await callgrind.during(server.pid, async () => {
        requests = await work(WINDOW_SECONDS);
      });
      return perRequest(all, requests);
    };
    await patiently(() => work(WARM_UP_SECONDS));
    callgrind.count(server.pid);
    await patiently(() => work(COUNTED_WARM_UP_SECONDS));
    const windows: Executed[] = [];
    while (windows.length < WINDOWS) windows.push(await patiently(counted));
    await server.stop('SIGKILL');
    return windows.reduce((least, next) => (next.instructions < least.instructions ? next : least));
  } finally {
    callgrind.clear();
  }
}

/** Retries work: such a slow server may close an idle connection while the next request is on its way. */
async function patiently<T>(work: () => Promise<T>, tries = 3): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (tries <= 1) throw error;
    return patiently(work, tries - 1);
  }
}

function perRequest({ instructions, codeMisses, dataMisses }: Executed, requests: number): Executed {
  return {
    instructions: instructions / requests,
    codeMisses: codeMisses / requests,
    dataMisses: dataMisses / requests,
  };
}
