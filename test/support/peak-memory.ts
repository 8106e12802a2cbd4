import { readFileSync, writeFileSync } from 'node:fs';

const RESET_PEAK = '5';

/** True if the system reports the peak memory of a process (Linux). */
export const TELLS_PEAKS = process.platform === 'linux';

/** Returns the resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  return bytesOf(pid, 'VmRSS');
}

/** Resets the peak memory of a process to its current memory (proc_pid_clear_refs(5)). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
}

/** Returns the peak memory of a process since `resetPeak`, in bytes, as the kernel measured it. */
export function peakBytes(pid: number): number {
  return bytesOf(pid, 'VmHWM');
}

function bytesOf(pid: number, field: string): number {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kib === undefined) throw new Error(`There is no ${field} of process ${pid}`);
  return Number(kib) * 1024;
}
