import { mkdirSync, writeFileSync } from 'node:fs';
import { arch, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Report } from './bench-report.ts';
import { goalTable } from './goals.ts';
import { comparisonTables, factTables } from './tables.ts';

export const RESULTS = join(import.meta.dirname, '../results');

/** Prints the run as Markdown, and writes it to results/latest.md and results/latest.json. */
export function writeReport(report: Report): void {
  const text = markdown(report);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, 'latest.md'), text);
  writeFileSync(join(RESULTS, 'latest.json'), `${JSON.stringify({ machine: machine(), ...report }, null, 2)}\n`);
  process.stdout.write(text);
}

function markdown(report: Report): string {
  const { options, startedAt, seconds, notes } = report;
  const head =
    `${startedAt.toISOString().slice(0, 16)}Z, ${machine()}. ${options.quick ? 'Quick run' : 'Full run'}: ` +
    `${options.rounds} interleaved rounds of ${options.seconds} s after a warm-up, medians; ${seconds.toFixed(0)} s in all.`;
  const noted = notes.length > 0 ? ['### Notes', notes.map((note) => `- ${note}`).join('\n')] : [];
  return `${[head, ...comparisonTables(report.rows), ...factTables(report.tables), ...goalTable(report), ...noted].join('\n\n')}\n`;
}

function machine(): string {
  const gib = (totalmem() / 1024 ** 3).toFixed(0);
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${gib} GiB, ${process.platform} ${arch()}, Node ${process.version}`;
}
