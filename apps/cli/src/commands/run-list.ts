import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Schemas } from '#libs/client';
import { exampleText } from '../examples.js';
import { CommandError, EXIT } from '../exit-code.js';
import type { Session } from '../session.js';

/** Maximum number of rows that the service returns as one page. */
const LARGEST_PAGE = 100;
/** Milliseconds of the units of a duration such as `90m`. */
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Options of `parley runs` that select runs. */
interface RunFilterOptions {
  workflow?: string;
  status?: string;
  query?: string;
  search?: string;
  since?: string;
  until?: string;
  cause?: string;
}

interface BulkOptions extends RunFilterOptions {
  yes?: boolean;
  failed?: boolean;
  newest?: boolean;
  key?: string;
}

/** Adds the commands `runs`, `cancel-runs` and `rerun-runs`. */
export function addRunListCommands(program: Command, session: Session): void {
  addFilterOptions(program.command('runs'))
    .description('list runs, most recently updated first')
    .option('-n, --limit <number>', 'number of runs', '20')
    .option('--csv', 'print all of them as CSV, at most 10,000')
    .addHelpText(
      'after',
      exampleText(
        'parley runs',
        'parley runs -s failed,canceled --since 1h --search "order 4711"',
        'parley runs -w greeting -n 5 --json',
        'parley runs --since 7d --csv > runs.csv',
      ),
    )
    .action((options: RunFilterOptions & { limit: string; csv?: boolean }) =>
      options.csv ? exportRuns(session, options) : listRuns(session, options),
    );
  addFilterOptions(program.command('cancel-runs'))
    .description('cancel the runs that a filter selects; without --yes only report what would be done')
    .argument('[run...]', 'their ids, instead of a filter')
    .option('--yes', 'cancel them')
    .addHelpText('after', exampleText('parley cancel-runs -w greeting -s running', 'parley cancel-runs 019a… --yes'))
    .action((ids: string[], options: BulkOptions) => actOnRuns(session, 'cancel', ids, options));
  addFilterOptions(program.command('rerun-runs'))
    .description('rerun the ended runs that a filter selects; without --yes only report what would be done')
    .argument('[run...]', 'their ids, instead of a filter')
    .option('--failed', 'run again only the nodes that failed, with everything after them')
    .option('--newest', 'run the newest revision of each workflow')
    .option('--key <key>', 'idempotency key: with the same key no run is rerun twice')
    .option('--yes', 'rerun them')
    .addHelpText('after', exampleText('parley rerun-runs -s failed --since 1h --failed --key outage-7 --yes'))
    .action((ids: string[], options: BulkOptions) => actOnRuns(session, 'rerun', ids, options));
}

function addFilterOptions(command: Command): Command {
  return command
    .option('-w, --workflow <name>', 'only runs of this workflow')
    .option('-s, --status <status>', 'running, input-required, completed, failed or canceled, or several with commas')
    .option('-q, --query <text>', 'only runs with this in the workflow name, or at the start of the id')
    .option('--search <text>', 'only runs with this in the inputs, the error, the workflow name or the id')
    .option('--since <time>', 'only runs updated since a time, or for a duration such as 90m or 7d')
    .option('--until <time>', 'only runs last updated before that')
    .option('--cause <id>', 'only runs that failed by this cause of `parley overview`');
}

/** Returns the query parameters for options that select runs. @throws CommandError for an invalid time */
function filterQuery({
  workflow,
  status,
  query,
  search,
  since,
  until,
  cause,
}: RunFilterOptions): Record<string, string> {
  const parameters = {
    workflow,
    status,
    q: query,
    search,
    cause,
    since: since === undefined ? undefined : readTime('--since', since),
    until: until === undefined ? undefined : readTime('--until', until),
  };
  return Object.fromEntries(Object.entries(parameters).filter((it): it is [string, string] => it[1] !== undefined));
}

/**
 * Converts the value of an option, a time or a duration before now such as `90m`, to a time in ISO 8601.
 * @throws CommandError if the text is neither
 */
export function readTime(option: string, text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const time = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (UNITS[unit] ?? 0);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new CommandError(`${option} ${text}: must be a time such as 2026-01-31T09:30Z, or a duration such as 90m`);
}

async function listRuns(session: Session, options: RunFilterOptions & { limit: string }): Promise<void> {
  const { client, terminal, signal } = session;
  const most = parseCount('--limit', options.limit);
  const filter = filterQuery(options);
  const runs: Schemas['RunSummary'][] = [];
  for (let pageToken = ''; ;) {
    const pageSize = Math.min(most - runs.length, LARGEST_PAGE);
    const page = await client.list({ ...filter, pageSize, pageToken }, { signal });
    runs.push(...page.runs);
    pageToken = page.nextPageToken;
    if (pageToken === '' || runs.length >= most) break;
  }
  terminal.writeResult(runs, () =>
    runs.length === 0
      ? `There are no ${Object.keys(filter).length > 0 ? 'such ' : ''}runs.`
      : terminal.formatTable(
          ['RUN', 'WORKFLOW', 'STATUS', 'STARTED', 'LAST CHANGE', 'REVISION'],
          runs.map((run) => [
            run.runId,
            run.workflow,
            `${paintStatus(session, run.status)}${placeText(run)}`,
            shortTime(run.createdAt),
            shortTime(run.updatedAt),
            run.revision ?? '-',
          ]),
        ),
  );
}

async function exportRuns({ client, terminal, signal }: Session, options: RunFilterOptions): Promise<void> {
  for await (const piece of client.streamText('/api/runs.csv', { query: filterQuery(options), signal }))
    terminal.writePiece(terminal.stripControls(piece));
}

/**
 * Cancels or reruns runs, by their ids or by a filter. Without the option `--yes` it only reports what would be done.
 * The exit code is 1 if the service refused the action for a run (`refused`), or has not completed it (`pending`).
 */
async function actOnRuns(
  session: Session,
  action: 'cancel' | 'rerun',
  ids: readonly string[],
  options: BulkOptions,
): Promise<void> {
  const { client, terminal, signal } = session;
  const query = filterQuery(options);
  if (ids.length === 0 && Object.keys(query).length === 0)
    throw new CommandError('Name runs, or select them by an option such as --workflow or --status');
  const report = await client.call<Schemas['BulkReport']>(`/api/runs/${action}`, {
    method: 'POST',
    query,
    body: {
      dryRun: !options.yes,
      ...(ids.length > 0 && { ids }),
      ...(options.failed && { failed: true }),
      ...(options.newest && { newest: true }),
    },
    headers: { 'idempotency-key': options.key ?? randomUUID() },
    signal,
  });
  if (report.runs.some(({ outcome }) => outcome === 'refused' || outcome === 'pending')) session.code = EXIT.failed;
  terminal.writeResult(report, () => describeReport(session, report));
}

function describeReport({ terminal }: Session, { dryRun, runs, more }: Schemas['BulkReport']): string {
  if (runs.length === 0) return 'There are no such runs.';
  const rows = runs.map(({ runId, status, outcome, newRunId, reason }) => [
    runId,
    status ?? '-',
    outcome,
    terminal.stripControls(newRunId ?? reason ?? ''),
  ]);
  const notes = [
    ...(more ? [`The filter selects more than these ${runs.length} runs.`] : []),
    ...(dryRun ? ['Nothing was changed; --yes does it.'] : []),
  ];
  return [terminal.formatTable(['RUN', 'STATUS', 'OUTCOME', ''], rows), ...notes].join('\n');
}

/** Returns the position in the queue of a run that waits for other runs of its workflow; empty for any other run. */
function placeText({ waitsFor }: Schemas['RunSummary']): string {
  return waitsFor?.slot ? ` (waits, place ${waitsFor.slot.place})` : '';
}

function paintStatus({ terminal }: Session, status: string): string {
  const colour = { completed: 'green', failed: 'red', 'input-required': 'yellow', running: 'blue' } as const;
  return terminal.paintText(colour[status as keyof typeof colour] ?? 'dim', status);
}

function shortTime(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}

/** Reads a whole number from an option. @throws CommandError if the text is no whole number, or is less than `least` */
export function parseCount(option: string, text: string, least = 1): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least) return number;
  throw new CommandError(`${option} ${text}: must be a whole number of at least ${least}`);
}
