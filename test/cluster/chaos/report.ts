import type { ClientLog } from './client-log.js';
import type { Fault } from './fault-plan.js';
import type { MemoryOfLife } from './replica-memory.js';
import type { Verdict } from './verdict.js';

const SHOWN = 10;

export interface Trial {
  log: ClientLog;
  faults: ReadonlyMap<Fault['kind'], number>;
  lives: readonly MemoryOfLife[];
  verdict: Verdict;
}

/** What the trial came to, for a reader at a terminal. */
export function report({ log, faults, lives, verdict }: Trial): string {
  const count = (kind: string) => String(log.tasks.filter((told) => told.kind === kind).length);
  return [
    table(
      ['runs', 'streams', 'conversations', 'cancels', 'requests made again'],
      [[count('run'), count('stream'), count('conversation'), count('cancel'), String(log.repeated)]],
    ),
    table([...faults.keys()], [[...faults.values()].map(String)]),
    table(Object.keys(verdict), [Object.values(verdict).map((breaches: string[]) => String(breaches.length))]),
    ...Object.entries(verdict).flatMap(([promise, breaches]) => shown(promise, breaches as string[])),
    table(['replica', 'seconds', 'RSS MiB at its start', 'in the middle', 'at its end'], lives.map(memory)),
  ].join('\n\n');
}

function shown(promise: string, breaches: readonly string[]): string[] {
  if (breaches.length === 0) return [];
  const more = breaches.length > SHOWN ? [`… and ${breaches.length - SHOWN} more`] : [];
  return [[`${promise}:`, ...breaches.slice(0, SHOWN), ...more].join('\n  ')];
}

function memory({ pid, seconds, start, middle, end }: MemoryOfLife): string[] {
  return [String(pid), seconds.toFixed(0), ...[start, middle, end].map((bytes) => (bytes / 1024 ** 2).toFixed(0))];
}

function table(header: readonly string[], rows: readonly string[][]): string {
  const widths = header.map((name, index) => Math.max(name.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]) => cells.map((cell, index) => cell.padStart(widths[index] ?? 0)).join('  ');
  return [line(header), ...rows.map(line)].join('\n');
}
