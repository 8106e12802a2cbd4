import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const TICKS_PER_SECOND = 100;
const MICROSECONDS = 1e6;

/**
 * Returns the CPU time of all threads of a process so far, user and system, in microseconds; 0 if the process has
 * ended.
 */
export function cpuMicroseconds(pid: number): number {
  const threads = entriesOf(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => Number(textOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]));
  if (nanoseconds.every((it) => it > 0)) return nanoseconds.reduce((sum, it) => sum + it, 0) / 1000;
  // A kernel without scheduler statistics counts in hundredths of a second.
  const fields = statFields(pid);
  return ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MICROSECONDS) / TICKS_PER_SECOND;
}

/** Returns the CPU time of a process, its living children, and its ended children. */
export function familyCpuMicroseconds(pid: number): number {
  const own = statFields(pid);
  const reaped = ((Number(own[13] ?? 0) + Number(own[14] ?? 0)) * MICROSECONDS) / TICKS_PER_SECOND;
  return childrenOf(pid).reduce((sum, child) => sum + cpuMicroseconds(child), cpuMicroseconds(pid) + reaped);
}

/** Returns the resident memory of a process in bytes; 0 if the process has ended. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Returns the number of open sockets of a process. */
export function openSockets(pid: number): number {
  return entriesOf(`/proc/${pid}/fd`).filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`).startsWith('socket:')).length;
}

/** Returns the maximum number of open files, including sockets, of a process. */
export function openFilesLimit(pid: number): number {
  return Number(/Max open files\s+(\d+)/.exec(textOf(`/proc/${pid}/limits`))?.[1] ?? 0);
}

export function childrenOf(pid: number): number[] {
  return entriesOf('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => Number(statFields(candidate)[1]) === pid);
}

/**
 * Returns the fields of /proc/PID/stat after the command's name, so that field 0 is the state; an empty list if the
 * process has ended.
 */
function statFields(pid: number): string[] {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
