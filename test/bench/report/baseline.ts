import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_FLOOR } from '../cases/subject-names.ts';
import type { Row } from '../comparison.ts';
import type { Report } from './bench-report.ts';
import { number, table } from './tables.ts';
import { RESULTS } from './write-report.ts';

/** CPU time of Node and PostgreSQL together, in µs per unit of work, by subject. */
interface Recorded {
  recordedAt: string;
  /** CPU time of the bare node:http echo server in the same run, which shows how fast the machine was. */
  floor?: number;
  cpu: Record<string, number>;
}

const FILE = join(RESULTS, 'baseline.json');
/** Factor that tolerates differences between runs: up to a tenth on an idle machine, more on a busy one. */
const TOLERANCE = 1.35;
/** Difference in µs that is always tolerated, since such small costs cannot be distinguished. */
const SLACK = 10;

/** Records the run's results in results/baseline.json, beside those of the other mode. */
export function recordBaseline(report: Report): void {
  const recorded: Recorded = {
    recordedAt: report.startedAt.toISOString(),
    floor: floorOf(report),
    cpu: Object.fromEntries(guarded(report).map((row) => [keyOf(row), Number(cpuOf(row).toFixed(1))])),
  };
  writeFileSync(FILE, `${JSON.stringify({ ...readBaseline(), [modeOf(report)]: recorded }, null, 2)}\n`);
  process.stdout.write(
    `\nRecorded ${Object.keys(recorded.cpu).length} figures of the ${modeOf(report)} run in ${FILE}\n`,
  );
}

/**
 * Compares the run with the results recorded in the same mode, scaled by the floor's cost then and now, and prints the
 * outcome. Returns false if something costs more than the tolerance allows, or nothing could be compared.
 */
export function checkBaseline(report: Report): boolean {
  const recorded = readBaseline()[modeOf(report)];
  if (!recorded) {
    process.stdout.write(`\nNothing was recorded for a ${modeOf(report)} run: npm run bench -- --record\n`);
    return false;
  }
  const floor = floorOf(report);
  const scale = floor !== undefined && recorded.floor !== undefined ? floor / recorded.floor : 1;
  const compared = guarded(report).flatMap((row) => {
    const before = recorded.cpu[keyOf(row)];
    if (before === undefined) return [];
    const allowed = before * scale * TOLERANCE + SLACK;
    return [{ key: keyOf(row), before, allowed, now: cpuOf(row), worse: cpuOf(row) > allowed }];
  });
  const lines = compared.map(({ key, before, allowed, now, worse }) => [
    key,
    number(before),
    number(allowed),
    number(now),
    worse ? 'WORSE' : 'ok',
  ]);
  const header = ['CPU µs, Node and PostgreSQL', 'recorded', 'allowed', 'now', ''];
  process.stdout.write(`\n### Against the record of ${recorded.recordedAt}\n\n${table(header, lines)}\n\n`);
  process.stdout.write(`The machine's floor costs ${number(scale)} times what it cost then.\n`);
  return compared.length > 0 && compared.every(({ worse }) => !worse);
}

function readBaseline(): Partial<Record<'full' | 'quick', Recorded>> {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
}

function modeOf({ options }: Report): 'full' | 'quick' {
  return options.quick ? 'quick' : 'full';
}

function guarded({ rows }: Report): Row[] {
  return rows.filter(({ subject }) => subject.startsWith('Parley'));
}

function floorOf({ rows }: Report): number | undefined {
  const floor = rows.find(
    ({ id, subject, connections }) => id === 'send' && subject === NODE_FLOOR && connections === 32,
  );
  return floor?.measurement.nodeCpu;
}

function keyOf({ id, subject, connections }: Row): string {
  return `${id} · ${connections} · ${subject}`;
}

function cpuOf({ measurement }: Row): number {
  return measurement.nodeCpu + (measurement.postgresCpu ?? 0);
}
