import type { Command } from 'commander';
import type { Schemas } from '#libs/client';
import { exampleText } from '../examples.js';
import type { Session } from '../session.js';
import { toOneLine } from '../terminal.js';
import { readTime } from './run-list.js';

type ShownOverview = Schemas['Overview'];
type ShownSums = ShownOverview['usage'];

interface OverviewOptions {
  since?: string;
  until?: string;
}

/** Statuses of runs in the order of their columns. */
const STATUSES = ['failed', 'input-required', 'running', 'completed', 'canceled'] as const;
const WAITS = { questions: 'questions', parked: 'parked until a time', queued: 'not begun' } as const;

/** Adds the command `overview`: what fails, what waits, and what runs take and cost. */
export function addOverview(program: Command, session: Session): void {
  program
    .command('overview')
    .description('show failures by cause, waiting work, and latency and cost by workflow')
    .option('--since <time>', 'begin of the range: a time, or a duration such as 90m or 7d; default: 24h')
    .option('--until <time>', 'end of the range; default: now')
    .addHelpText('after', exampleText('parley overview', 'parley overview --since 7d', 'parley overview --json'))
    .action((options: OverviewOptions) => showOverview(session, options));
}

async function showOverview({ client, terminal, signal }: Session, { since, until }: OverviewOptions): Promise<void> {
  const query = {
    ...(since !== undefined && { since: readTime('--since', since) }),
    ...(until !== undefined && { until: readTime('--until', until) }),
  };
  const overview = await client.call<ShownOverview>('/api/overview', { query, signal });
  terminal.writeResult(overview, () => terminal.stripControls(describeOverview(terminal, overview)));
}

function describeOverview(terminal: Session['terminal'], overview: ShownOverview): string {
  const { since, until, more, moreBefore, moreFailures, moreWorkflows, usage, usageDays } = overview;
  const sections = [
    `Runs that changed from ${timeText(since)} to ${timeText(until)}`,
    describeCounts(terminal, overview),
    ...(more || moreBefore ? ['There are more runs than are counted: the numbers are too low.'] : []),
    '',
    ...describeFailures(terminal, overview),
    ...(moreFailures ? ['Further failures are not listed.'] : []),
    '',
    'Waiting now',
    describeWaiting(terminal, overview),
    '',
    ...describeWorkflows(terminal, overview),
    ...(moreWorkflows ? ['Further workflows are not listed.'] : []),
    `Models from ${usageDays.since} to ${usageDays.until} (UTC): ${usageText(usage)}`,
  ];
  return sections.join('\n');
}

function describeCounts(terminal: Session['terminal'], { runs, before }: ShownOverview): string {
  const rowOf = (title: string, counts: ShownOverview['runs']): string[] => [
    title,
    ...STATUSES.map((status) => String(counts[status])),
  ];
  return terminal.formatTable(
    ['', ...STATUSES.map((status) => status.toUpperCase())],
    [rowOf('in this range', runs), rowOf('in the range before', before)],
  );
}

function describeFailures(terminal: Session['terminal'], { failures }: ShownOverview): string[] {
  if (failures.length === 0) return ['No run failed.'];
  const rows = failures.map(({ id, node = '-', kind, message, runs, firstSeen, lastSeen, workflows }) =>
    [String(runs), id, timeText(firstSeen), timeText(lastSeen), node, kind, workflows.join(' '), message].map(
      toOneLine,
    ),
  );
  return [
    'Failures by cause',
    terminal.formatTable(['RUNS', 'CAUSE', 'FIRST SEEN', 'LAST SEEN', 'NODE', 'KIND', 'WORKFLOWS', 'MESSAGE'], rows),
    `\`parley runs --cause ${failures[0]!.id}\` lists the runs of the first one.`,
  ];
}

function describeWaiting(terminal: Session['terminal'], { waiting }: ShownOverview): string {
  const rows = Object.entries(WAITS).map(([kind, title]) => {
    const { total, underHour, underDay, longer, oldest, more } = waiting[kind as keyof typeof WAITS];
    const first = oldest && `${oldest.workflow} ${oldest.runId} since ${timeText(oldest.since)}`;
    const question = oldest?.question === undefined ? '' : `: ${oldest.question}`;
    return [
      title,
      `${total}${more ? '+' : ''}`,
      ...[underHour, underDay, longer].map(String),
      `${first ?? '-'}${question}`,
    ];
  });
  return terminal.formatTable(
    ['', 'TOTAL', 'UNDER 1 H', 'UNDER 1 D', 'LONGER', 'OLDEST'],
    rows.map((row) => row.map(toOneLine)),
  );
}

function describeWorkflows(terminal: Session['terminal'], { workflows }: ShownOverview): string[] {
  if (workflows.length === 0) return [];
  const rows = workflows.map(({ workflow, runs, p50, p95, usage }) => [
    workflow,
    ...STATUSES.map((status) => String(runs[status])),
    secondsText(p50),
    secondsText(p95),
    usage === undefined ? '-' : usageText(usage),
  ]);
  const titles = ['WORKFLOW', ...STATUSES.map((status) => status.toUpperCase()), 'P50', 'P95', 'MODELS'];
  return [terminal.formatTable(titles, rows), ''];
}

function secondsText(seconds: number | undefined): string {
  return seconds === undefined ? '-' : `${seconds} s`;
}

/** Formats sums of model calls: `12 calls, 1200 + 34 tokens, $0.0121`. A sum that misses calls ends with ` + unknown`. */
function usageText({ calls, inputTokens, outputTokens, unreportedCalls, cost, unpricedCalls }: ShownSums): string {
  if (calls === 0) return 'no calls';
  const withUnknown = (text: string | undefined, unknown: number): string =>
    text === undefined ? 'unknown' : `${text}${unknown > 0 ? ' + unknown' : ''}`;
  const tokens = inputTokens === undefined ? undefined : `${inputTokens} + ${outputTokens ?? 0}`;
  const price = cost === undefined ? undefined : `$${cost}`;
  return `${calls} calls, ${withUnknown(tokens, unreportedCalls)} tokens, cost ${withUnknown(price, unpricedCalls)}`;
}

function timeText(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}
