import type { Bench, Row } from '../comparison.ts';
import { startMeter } from '../measure/meter.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { storeRuns, WORKFLOWS } from '../servers/stored-runs.ts';
import { completeRun, type PageMeter, SCROLL_HEADER, scrollRow, startBrowser } from './console.ts';
import { saveWorkflow } from './parley-workflows.ts';

const REPEATS = 7;
const TEXT = 'Customer number';
const DAY_MS = 86_400_000;

interface ListedRuns {
  runs: unknown[];
  nextPageToken: string;
  search?: { searched: number };
}

/** Measures the first page of the list of runs with each filter, and how the console scrolls the list. */
export async function runListCase(bench: Bench): Promise<Row[]> {
  const { storedTasks } = bench.options;
  const url = await bench.postgres.database('parley');
  const server = await bench.using(startParley(url));
  for (let n = 0; n < WORKFLOWS; n += 1)
    await saveWorkflow(server.url, { name: `flow_${n}`, nodes: [{ id: 'in', type: 'input' }], edges: [] });
  const runId = await completeRun(server, 'flow_1', { in: TEXT });
  await storeRuns(url, runId, TEXT, storedTasks);
  bench.progress(`${storedTasks} runs stored`);
  await reportFilters(bench, server);
  await reportScrolling(bench, server, await bench.using(startBrowser()));
  return [];
}

/** Queries of the list, by what they ask for. */
function queries(count: number): Record<string, string> {
  const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();
  const search = (text: string): string => `search=${encodeURIComponent(text)}`;
  return {
    'all runs': '',
    'status: completed': 'status=completed',
    'status: failed, 1 in 1,000': 'status=failed',
    'status: canceled, only old runs': 'status=canceled',
    'status: input-required, none': 'status=input-required',
    'two statuses': 'status=failed,canceled',
    'five statuses': 'status=running,input-required,completed,failed,canceled',
    'workflow with half of the runs': 'workflow=flow_0',
    'workflow, failed': 'workflow=flow_7&status=failed',
    'large workflow, failed: none': 'workflow=flow_0&status=failed',
    'large workflow, canceled: none': 'workflow=flow_0&status=canceled',
    'workflow without runs': 'workflow=flow_2',
    'last hour': `since=${ago(DAY_MS / 24)}`,
    'older than 30 days': `until=${ago(30 * DAY_MS)}`,
    'one hour, 30 days ago': `since=${ago(30 * DAY_MS)}&until=${ago(30 * DAY_MS - DAY_MS / 24)}`,
    'one hour, failed': `since=${ago(30 * DAY_MS)}&until=${ago(30 * DAY_MS - DAY_MS / 24)}&status=failed`,
    'workflow name': 'q=flow_1',
    'run id': `q=01900000-0000-7000-8000-0000000000`,
    'search: in every run': search(TEXT),
    'search: in a new run': search(`number ${count - 10}.`),
    'search: in an old run': search('number 77.'),
    'search: nothing': search('nothing at all'),
    'search in failed runs: nothing': `${search('nothing at all')}&status=failed`,
    'search: run id': search('01900000-0000-7000-8000-000000000077'),
  };
}

async function reportFilters(bench: Bench, server: BenchServer): Promise<void> {
  const { storedTasks } = bench.options;
  const rows: (string | number)[][] = [];
  for (const [what, query] of Object.entries(queries(storedTasks))) {
    await listRuns(server, query);
    const meter = await startMeter(server.pid, bench.postgres);
    const times: number[] = [];
    let page: ListedRuns = { runs: [], nextPageToken: '' };
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      const begun = performance.now();
      page = await listRuns(server, query);
      times.push(performance.now() - begun);
    }
    const { nodeCpu, postgresCpu = 0 } = await meter();
    times.sort((a, b) => a - b);
    const cpu = [nodeCpu, postgresCpu].map((it) => it / REPEATS / 1_000);
    const median = times[Math.floor(REPEATS / 2)] ?? 0;
    bench.progress(`${what}: ${median.toFixed(1)} ms, at most ${times.at(-1)?.toFixed(1)} ms`);
    rows.push([what, median, times.at(-1) ?? 0, ...cpu, String(page.runs.length), String(page.search?.searched ?? '')]);
  }
  bench.table({
    title: `List of runs, first page of 100, ${storedTasks.toLocaleString('en-US')} stored runs`,
    header: ['filter', 'ms', 'most ms', 'Node CPU ms', 'PostgreSQL CPU ms', 'runs', 'searched'],
    rows,
  });
}

async function listRuns({ url }: BenchServer, query: string): Promise<ListedRuns> {
  const answer = await fetch(`${url}/api/runs?pageSize=100&${query}`);
  if (answer.status !== 200) throw new Error(`The list failed: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as ListedRuns;
}

async function reportScrolling(bench: Bench, { url }: BenchServer, browser: PageMeter): Promise<void> {
  const scroll = { isReady: `document.querySelectorAll('table tbody tr').length > 5`, frames: 600, step: 120 };
  const selector = '[role=region][aria-label=Runs]';
  const measured = await browser.measureScrolling(`${url}/runs`, { ...scroll, selector });
  bench.progress(`scrolling: ${measured.perSecond.toFixed(1)} frames a second, ${measured.cpuMs.toFixed(1)} ms of CPU`);
  bench.table({
    title: 'List of runs, scrolling from the first page through the next ones',
    header: SCROLL_HEADER,
    rows: [scrollRow('runs', measured)],
  });
}
