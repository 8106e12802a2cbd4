// `npm run bench`: starts every server on loopback, measures Parley beside its peers, and reports.
import { CASE_WORK } from './cases/index.ts';
import type { Bench, FactTable, Row } from './comparison.ts';
import { LoadProcess } from './load/load-process.ts';
import { type BenchOptions, readOptions, USAGE } from './options.ts';
import { checkBaseline, recordBaseline } from './report/baseline.ts';
import type { Report } from './report/bench-report.ts';
import { writeReport } from './report/write-report.ts';
import { startPostgres } from './servers/postgres.ts';

const say = (line: string): boolean => process.stderr.write(`${line}\n`);
let interrupted = false;
const stops: (() => Promise<void>)[] = [];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void stopFrom(0).finally(() => process.exit(130));
  });
}

const options = parsed();
try {
  const report = await runCases(options);
  if (!interrupted) finish(report);
} finally {
  await stopFrom(0);
}

function finish(report: Report): void {
  writeReport(report);
  if (options.record) recordBaseline(report);
  if (options.check && !checkBaseline(report)) process.exitCode = 1;
  if (report.failed) process.exitCode = 1;
}

function parsed(): BenchOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function runCases(options: BenchOptions): Promise<Report> {
  const begun = Date.now();
  const report: Report = {
    options,
    startedAt: new Date(begun),
    seconds: 0,
    rows: [],
    tables: [],
    facts: {},
    notes: [],
    failed: false,
  };
  const using = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    stops.push(() => started.stop());
    return started;
  };
  const progress = (text: string): void =>
    void say(`${((Date.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${text}`);
  const note = (text: string): void => {
    progress(text);
    report.notes.push(text);
  };
  const table = (figures: FactTable): void => void report.tables.push(figures);
  const fact: Bench['fact'] = (name, value) => void (report.facts[name] = value);
  for (const name of options.cases) {
    if (interrupted) break;
    const before = stops.length;
    try {
      const postgres = await using(startPostgres());
      const load = new LoadProcess();
      stops.push(() => load.stop());
      const bench: Bench = { options, postgres, load, using, table, fact, note, progress };
      const rows: Row[] = await CASE_WORK[name](bench);
      report.rows.push(...rows);
    } catch (error) {
      report.failed = true;
      note(`The case ${name} failed: ${(error as Error).stack}`);
    } finally {
      await stopFrom(before);
    }
  }
  report.seconds = (Date.now() - begun) / 1000;
  return report;
}

/** Stops what was started, in reverse order. */
async function stopFrom(index: number): Promise<void> {
  for (const stop of stops.splice(index).toReversed()) {
    await stop().catch((error: Error) => say(`Could not stop: ${error.message}`));
  }
}
