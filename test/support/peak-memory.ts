import { readFileSync, writeFileSync } from 'node:fs';

const RESET_PEAK = '5';

/** True where the system tells the most memory that a process had (Linux). */
export const TELLS_PEAKS = process.platform === 'linux';

/** Bytes of memory that a process has at the moment. */
export function residentBytes(pid: number): number {
  return bytesOf(pid, 'VmRSS');
}

/** Has the peak of a process count from now on (proc_pid_clear_refs(5)). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
}

/** The most bytes of memory that a process had since `resetPeak`: nothing is missed between two looks. */
export function peakBytes(pid: number): number {
  return bytesOf(pid, 'VmHWM');
}

function bytesOf(pid: number, field: string): number {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kib === undefined) throw new Error(`There is no ${field} of process ${pid}`);
  return Number(kib) * 1024;
}
