import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Under } from '../servers/bench-server.ts';

/**
 * Instructions and cache misses of a program outside the kernel, as valgrind simulates them. They do not depend on
 * other load of the machine.
 */
export interface Executed {
  instructions: number;
  /**
   * Number of cache lines (64 bytes) of code that were missing in the second-level cache. `dataMisses` is that of data.
   */
  codeMisses: number;
  dataMisses: number;
}

/** Options of valgrind: first-level caches of 32 KiB, and one second-level cache of 512 KiB for code and data. */
const CACHES = ['--I1=32768,8,64', '--D1=32768,8,64', '--LL=524288,8,64'];
const TOOL = ['--tool=callgrind', '--instr-atstart=no', '--cache-sim=yes', '--smc-check=all-non-file', '-q'];

/** Runs one server under valgrind, and counts its instructions on request. */
export class Callgrind {
  private readonly folder = mkdtempSync(join(tmpdir(), 'parley-callgrind-'));

  static isInstalled(): boolean {
    try {
      execFileSync('callgrind_control', ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Way to start the server: under valgrind, and with a flag of Node, without which V8 would take such a slow server
   * for an idle one and collect garbage.
   */
  get under(): Under {
    const program = ['valgrind', ...TOOL, ...CACHES, `--callgrind-out-file=${join(this.folder, 'counts')}`];
    return { program, nodeFlags: ['--no-memory-reducer'] };
  }

  /** Starts to count, which makes the server even slower. */
  count(pid: number): void {
    control('-i', 'on', pid);
  }

  /** Counts what the server executes during `work`. */
  async during(pid: number, work: () => Promise<void>): Promise<Executed> {
    control('-z', pid);
    await work();
    control('-d', pid);
    const newest =
      readdirSync(this.folder)
        .sort((a, b) => partOf(a) - partOf(b))
        .at(-1) ?? '';
    return read(readFileSync(join(this.folder, newest), 'utf8'));
  }

  clear(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function control(...args: (string | number)[]): void {
  execFileSync('callgrind_control', args.map(String), { stdio: 'ignore' });
}

function partOf(file: string): number {
  return Number(/\.(\d+)$/.exec(file)?.[1] ?? 0);
}

function read(counts: string): Executed {
  const events = /^events: (.*)$/m.exec(counts)?.[1]?.split(' ') ?? [];
  const totals = /^(?:summary|totals): (.*)$/m.exec(counts)?.[1]?.split(' ') ?? [];
  const of = (event: string): number => Number(totals[events.indexOf(event)]);
  return { instructions: of('Ir'), codeMisses: of('ILmr'), dataMisses: of('DLmr') + of('DLmw') };
}
