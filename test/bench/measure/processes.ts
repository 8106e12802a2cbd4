import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** CPU that a process has used so far, user and system, in microseconds; 0 where it is gone. */
export function cpuMicroseconds(pid: number): number {
  const fields = statFields(pid);
  if (!fields) return 0;
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
}

/** CPU of a process, its living children, and those it has waited for. */
export function familyCpuMicroseconds(pid: number): number {
  const own = statFields(pid);
  if (!own) return 0;
  const reaped = ((Number(own[13]) + Number(own[14])) * 1e6) / TICKS_PER_SECOND;
  return childrenOf(pid).reduce((sum, child) => sum + familyCpuMicroseconds(child), cpuMicroseconds(pid) + reaped);
}

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => Number(statFields(candidate)?.[1]) === pid);
}

/** The fields of /proc/PID/stat after the command's name, so that field 0 is the state. */
function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
