import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../comparison.ts';
import { type BenchServer, ROOT, startParley } from '../servers/bench-server.ts';
import { layersOf } from '../servers/graphs/layers.ts';
import { saveWorkflow, type WorkflowDefinition } from './parley-workflows.ts';

/** Sizes of the graphs that are drawn. */
const SIZES = [300, 1_000];
/** List entries, and steps for each, of the run with a long log. */
const CHATTY = { entries: 200, steps: 98 };
/** Frames for which a list is scrolled, and pixels in each frame. */
const SCROLL = { frames: 300, step: 120 };

interface Opening {
  wallMs: number;
  cpuMs: number;
  scriptMs: number;
  longestMs: number;
  elements: number;
}

interface Scrolling {
  frames: number;
  perSecond: number;
  p95Ms: number;
  late: number;
  cpuMs: number;
  maxCpuMs: number;
}

/** Browser that measures pages (scripts/console/measured-browser.mjs). */
export interface PageMeter {
  stop(): Promise<void>;
  measureOpening(url: string, isReady: string, options?: { phone?: boolean }): Promise<Opening>;
  measureScrolling(url: string, scroll: { isReady: string; selector: string } & typeof SCROLL): Promise<Scrolling>;
}

/** Page to open, and the expression that is true when its last part is drawn. */
interface MeasuredPage {
  what: string;
  path: string;
  isReady: string;
  phone?: boolean;
}

/** Measures how long the console takes to draw large graphs, timelines and logs, and to scroll them. */
export async function consoleCase(bench: Bench): Promise<Row[]> {
  const server = await bench.using(startParley(await bench.postgres.database('parley')));
  const browser = await bench.using(startBrowser());
  const pages: MeasuredPage[] = [];
  for (const size of SIZES) pages.push(...(await graphPages(server, size)));
  const log = await logPages(server);
  await reportOpenings(bench, server, browser, [...pages, ...log]);
  await reportScrolling(bench, server, browser, [...pages, ...log]);
  return [];
}

export async function startBrowser(): Promise<PageMeter> {
  const { MeasuredBrowser } = await import(join(ROOT, 'scripts/console/measured-browser.mjs'));
  return MeasuredBrowser.start();
}

async function graphPages(server: BenchServer, size: number): Promise<MeasuredPage[]> {
  const { nodes, edges } = layersOf(size);
  const workflow: WorkflowDefinition = {
    name: `graph-${size}`,
    nodes: nodes.map((id) => ({ id, type: 'input', config: { optional: true } })),
    edges,
  };
  await saveWorkflow(server.url, workflow);
  const runId = await completeRun(server, workflow.name);
  const drawn = (more = ''): string => `document.querySelectorAll('[data-node]${more}').length === ${size}`;
  return [
    { what: `editor, ${size} nodes`, path: `/workflows/edit/${workflow.name}`, isReady: drawn() },
    { what: `run, ${size} nodes`, path: `/runs/${runId}`, isReady: drawn('[data-status="completed"]') },
    { what: `timeline, ${size} nodes`, path: `/runs/${runId}?view=timeline`, isReady: TIMELINE_READY },
  ];
}

const TIMELINE_READY = `document.querySelector('[data-row] [data-took]') !== null`;

/** Creates a run with a long log, and returns the pages that show it. */
async function logPages(server: BenchServer): Promise<MeasuredPage[]> {
  const steps = Array.from({ length: CHATTY.steps }, (_, step) => ({ status: 'working', text: `Step ${step}` }));
  const script = { rules: [], otherwise: [...steps, { complete: 'Done' }] };
  const entries = Array.from({ length: CHATTY.entries }, (_, entry) => entry);
  const each = { items: `[${entries.join(', ')}]`, concurrency: 20, maxItems: CHATTY.entries };
  const node = { id: 'chatty', type: 'script', config: { script }, each };
  await saveWorkflow(server.url, { name: 'chatty', nodes: [node], edges: [] });
  const runId = await completeRun(server, 'chatty');
  const isReady = `document.querySelector('[data-line="done"]') !== null`;
  return [
    { what: 'run, long log', path: `/runs/${runId}`, isReady },
    { what: 'run on a phone, long log', path: `/runs/${runId}?view=log`, isReady, phone: true },
  ];
}

/** Starts a run, and returns its id when it has completed. */
export async function completeRun({ url }: BenchServer, workflow: string, inputs: object = {}): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ inputs });
  const started = await fetch(`${url}/api/workflows/${workflow}/runs`, { method: 'POST', headers, body });
  if (started.status !== 202) throw new Error(`A run was not started: ${await started.text()}`);
  const { runId } = (await started.json()) as { runId: string };
  for (;;) {
    const { status } = (await (await fetch(`${url}/api/runs/${runId}`)).json()) as { status: string };
    if (status === 'completed') return runId;
    if (status !== 'running') throw new Error(`The run of ${workflow} is ${status}`);
    await delay(200);
  }
}

async function reportOpenings(
  bench: Bench,
  { url }: BenchServer,
  browser: PageMeter,
  pages: readonly MeasuredPage[],
): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const { what, path, isReady, phone = false } of pages) {
    const measured: Opening[] = [];
    for (let round = 0; round <= bench.options.rounds; round += 1)
      measured.push(await browser.measureOpening(`${url}${path}`, isReady, { phone }));
    // The first round compiles code and fills the caches of the service.
    const { wallMs, cpuMs, scriptMs, longestMs, elements } = medianOpening(measured.slice(1));
    bench.progress(`${what}: drawn after ${wallMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU`);
    rows.push([what, wallMs, cpuMs, scriptMs, longestMs, elements]);
  }
  bench.table({
    title: 'Console, from the navigation to the last part drawn',
    header: ['page', 'ms', 'CPU ms, main thread', 'of these script', 'longest task ms', 'DOM elements'],
    rows,
  });
}

function medianOpening(measured: readonly Opening[]): Opening {
  const keys = ['wallMs', 'cpuMs', 'scriptMs', 'longestMs', 'elements'] as const;
  const medianOf = (key: (typeof keys)[number]): number => {
    const values = measured.map((it) => it[key]).toSorted((a, b) => a - b);
    return values[Math.floor(values.length / 2)] ?? 0;
  };
  return Object.fromEntries(keys.map((key) => [key, medianOf(key)])) as unknown as Opening;
}

async function reportScrolling(
  bench: Bench,
  { url }: BenchServer,
  browser: PageMeter,
  pages: readonly MeasuredPage[],
): Promise<void> {
  const scrolled = pages.flatMap(({ what, path, isReady, phone }) => {
    const selector = what.startsWith('timeline') ? '[role=region][aria-label=Timeline]' : '[role=log]';
    return phone || !/^timeline|long log/.test(what) ? [] : [{ what, path, isReady, selector }];
  });
  const rows: (string | number)[][] = [];
  for (const { what, path, ...scroll } of scrolled) {
    const step = scroll.selector === '[role=log]' ? -SCROLL.step : SCROLL.step;
    rows.push(scrollRow(what, await browser.measureScrolling(`${url}${path}`, { ...scroll, ...SCROLL, step })));
  }
  bench.table({ title: 'Console, scrolling', header: SCROLL_HEADER, rows });
}

export const SCROLL_HEADER = [
  'page',
  'frames/s',
  'p95 ms',
  'late frames',
  'CPU ms/frame, main thread',
  'most CPU ms in a frame',
];

export function scrollRow(what: string, { perSecond, p95Ms, late, cpuMs, maxCpuMs }: Scrolling): (string | number)[] {
  return [what, perSecond, p95Ms, late, cpuMs, maxCpuMs];
}
