import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../comparison.ts';
import { type LoadResult, NUMBER_MARK, type RequestTemplate } from '../load/closed-loop.ts';
import { startMeter } from '../measure/meter.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { saveWorkflow } from './parley-workflows.ts';

const SECRET = 'a-long-random-secret';
const CONNECTIONS = 64;
/** Deliveries a second that are offered. */
const RATES = [250, 500, 1_000] as const;
const WARM_UP_S = 3;
/** Milliseconds until all promised runs must have ended. */
const ENDED_WITHIN_MS = 60_000;
const LOOK_MS = 100;

/**
 * Measures how many deliveries a second a webhook accepts while the runs that they start are executed, and how many
 * whose condition is false.
 */
export async function triggersCase(bench: Bench): Promise<Row[]> {
  const server = await bench.using(startParley(await bench.postgres.database('triggers'), { LOG_LEVEL: 'error' }));
  await saveWorkflow(server.url, {
    name: 'take',
    nodes: [{ id: 'event', type: 'input' }],
    edges: [],
  });
  await post(server, '/api/credentials', { name: 'hook', kind: 'bearer', token: SECRET });
  const starting = await createWebhook(server, 'starting', 'true');
  const filtered = await createWebhook(server, 'filtered', 'has(body.wanted)');
  const rows: (string | number)[][] = [];
  const warm = await deliver(bench, server, starting, RATES[0], WARM_UP_S);
  let promised = warm.requests - (warm.refused ?? 0);
  await waitForRuns(server, promised);
  for (const [what, template, rate] of [
    ...RATES.map((rate) => ['starts a run', starting, rate] as const),
    ['is filtered', filtered, RATES[2]] as const,
  ]) {
    const meter = await startMeter(server.pid, bench.postgres);
    const {
      requests,
      refused = 0,
      seconds,
      ...times
    } = await deliver(bench, server, template, rate, bench.options.seconds);
    const accepted = requests - refused;
    const answered = performance.now();
    if (template === starting) promised += accepted;
    await waitForRuns(server, promised);
    const later = performance.now() - answered;
    const { nodeCpu, postgresCpu = 0 } = await meter();
    const perSecond = accepted / seconds;
    const { p50, p99, max } = times;
    bench.progress(`${rate}/s, each ${what}: ${perSecond.toFixed(0)}/s accepted, ${refused} refused`);
    const cpu = [nodeCpu, postgresCpu].map((it) => it / requests);
    rows.push([what, rate, perSecond, refused, p50, p99, max, later, ...cpu]);
  }
  bench.table({
    title: `Deliveries to a webhook, ${bench.options.seconds} s each over ${CONNECTIONS} connections`,
    header: [
      'each delivery',
      'offered/s',
      'accepted/s',
      'refused (429)',
      'p50 ms',
      'p99 ms',
      'longest ms',
      'last run ended, ms later',
      'Node µs',
      'PostgreSQL µs',
    ],
    rows,
  });
  return [];
}

/** Sends deliveries with different bodies, so that each is a new one. @throws Error if one is not accepted */
function deliver(
  bench: Bench,
  { url }: BenchServer,
  template: RequestTemplate,
  rate: number,
  seconds: number,
): Promise<LoadResult> {
  return bench.load.load({ url, connections: CONNECTIONS, seconds, rate, template });
}

async function createWebhook(server: BenchServer, name: string, when: string): Promise<RequestTemplate> {
  const inputs = { event: '${body.number}' };
  const webhook = { scheme: 'bearer', secrets: ['hook'] };
  const { url } = await post(server, '/api/triggers', { name, workflow: 'take', webhook, when, inputs });
  return {
    method: 'POST',
    path: new URL(String(url)).pathname,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${SECRET}` },
    body: JSON.stringify({ number: NUMBER_MARK }),
    expect: when === 'true' ? '"runId"' : '"reason"',
    status: 202,
    refusal: 429,
  };
}

/** Resolves when the service has completed so many runs. @throws Error if it has not in time */
async function waitForRuns({ url }: BenchServer, wanted: number): Promise<void> {
  const until = performance.now() + ENDED_WITHIN_MS;
  for (let completed = -1; completed < wanted;) {
    const answer = await fetch(`${url}/api/runs/count?status=completed`);
    ({ runs: completed } = (await answer.json()) as { runs: number });
    if (completed >= wanted) return;
    if (performance.now() > until)
      throw new Error(`${completed} of ${wanted} runs were completed within ${ENDED_WITHIN_MS / 1_000} s`);
    await delay(LOOK_MS);
  }
}

async function post({ url }: BenchServer, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} was refused: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}
