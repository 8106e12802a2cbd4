import type { ClientLog } from './client-log.js';
import type { Failover, Loss } from './failover-driver.js';
import type { AgentTrialResult } from '../agents/agent-trial.js';
import type { TrialResult } from '../events/kill-trial.js';
import type { MemoryOfLife } from './replica-memory.js';
import type { CallCounts } from './overcalls.js';
import type { Takeovers } from './takeovers.js';
import type { Verdict } from './verdict.js';

const SHOWN = 10;

export interface Trial {
  log: ClientLog;
  /** Number of faults by kind. */
  faults: ReadonlyMap<string, number>;
  failovers: readonly Failover[];
  /** Number of Tasks in the database. */
  tasks: number;
  /** Maximum time that a Task took while there was a leader, in milliseconds. */
  settledMs: number;
  lives: readonly MemoryOfLife[];
  /** Errors that the replicas logged. */
  errors: readonly string[];
  verdict: Verdict;
  takeovers: Takeovers;
  /** Number of times that schedules decided. */
  firings: number;
  /** Number of calls of the model, by the question. */
  asked: CallCounts;
}

/** Returns the report of a random trial, as text for a terminal. */
export function report({ log, faults, failovers, lives, errors, verdict, ...calls }: Trial): string {
  const count = (kind: string) => String(log.tasks.filter((told) => told.kind === kind).length);
  return [
    table(
      [
        'runs',
        'streams',
        'conversations',
        'questions',
        'cancels',
        'messages',
        'requests made again',
        'firings',
        'tasks in all',
      ],
      [
        [
          ...['run', 'stream', 'conversation', 'thought', 'cancel', 'message'].map(count),
          `${log.repeated}`,
          `${calls.firings}`,
          `${calls.tasks}`,
        ],
      ],
    ),
    ...(faults.size > 0 ? [table([...faults.keys()], [[...faults.values()].map(String)])] : []),
    ...(failovers.length > 0 ? [failoverTable(failovers, calls.settledMs)] : []),
    callsOf(calls),
    table(Object.keys(verdict), [Object.values(verdict).map((breaches: string[]) => String(breaches.length))]),
    ...Object.entries(verdict).flatMap(([promise, breaches]) => shown(promise, breaches as string[])),
    ...shown('logged as errors', errors),
    table(['replica', 'seconds', 'RSS MiB at its start', 'in the middle', 'at its end'], lives.map(memory)),
  ].join('\n\n');
}

function callsOf({ takeovers, asked }: Pick<Trial, 'takeovers' | 'asked'>): string {
  const taken = [...takeovers.values()].reduce((sum, times) => sum + times.length, 0);
  const calls = [...asked.values()].reduce((sum, count) => sum + count, 0);
  return `Claims were taken over ${taken} times; a model was asked ${asked.size} questions in ${calls} calls.`;
}

/** Returns the report of a trial that kills at every event. */
export function eventReport({ scenarios, kills, calls, problems }: TrialResult, called = 'agents'): string {
  const rows = scenarios.map(({ name, events, runs, hits }) => [name, ...[events, runs, hits].map(String)]);
  return [
    table(['run', 'events', 'runs', 'killed at their place'], rows),
    `${kills} replicas were killed; ${called} were called ${calls} times; ${problems.length} promises were broken.`,
    ...shown('broken', problems, Infinity),
  ].join('\n\n');
}

/** Returns the report of a trial that kills at every event of agents with tools. */
export function agentReport({ counts: { calls, repeated, asked }, ...result }: AgentTrialResult): string {
  const told = `Of ${calls} calls ${repeated} were cut off and made again; ${asked} questions were asked about that.`;
  return `${eventReport(result, 'tools')}\n\n${told}`;
}

/** Returns a table with the seconds without a leader by the way of loss, and the maximum time that a Task took. */
function failoverTable(failovers: readonly Failover[], settledMs: number): string {
  const settled = settledMs / 1000;
  const rows = (['killed', 'frozen', 'handed over'] satisfies Loss[]).map((loss) => {
    const gaps = failovers
      .filter((it) => it.loss === loss)
      .map(({ lostAt, leaderAt }) => (leaderAt.getTime() - lostAt.getTime()) / 1000)
      .sort((a, b) => a - b);
    const seconds = (at: number): string => gaps.at(at)?.toFixed(1) ?? '';
    return [loss, String(gaps.length), seconds(0), seconds(Math.floor(gaps.length / 2)), seconds(-1)];
  });
  return [
    table(['leader', 'times', 'seconds without one', 'median', 'at most'], rows),
    `A Task was settled at most ${settled.toFixed(1)} s after it was made or there was a leader.`,
  ].join('\n');
}

function shown(promise: string, breaches: readonly string[], most = SHOWN): string[] {
  if (breaches.length === 0) return [];
  const more = breaches.length > most ? [`… and ${breaches.length - most} more`] : [];
  return [[`${promise}:`, ...breaches.slice(0, most), ...more].join('\n  ')];
}

function memory({ pid, seconds, start, middle, end }: MemoryOfLife): string[] {
  return [String(pid), seconds.toFixed(0), ...[start, middle, end].map((bytes) => (bytes / 1024 ** 2).toFixed(0))];
}

function table(header: readonly string[], rows: readonly string[][]): string {
  const widths = header.map((name, index) => Math.max(name.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]) => cells.map((cell, index) => cell.padStart(widths[index] ?? 0)).join('  ');
  return [line(header), ...rows.map(line)].join('\n');
}
