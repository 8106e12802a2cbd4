import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Under } from '../servers/bench-server.ts';

/** What a program did outside the kernel, as valgrind simulates it: other work of the machine does not change it. */
export interface Executed {
  instructions: number;
  /** Lines of 64 bytes, of code and of data, that were not in the second-level cache. */
  codeMisses: number;
  dataMisses: number;
}

/** Caches of 32 KiB next to the core, and below them one of 512 KiB for code and data. */
const CACHES = ['--I1=32768,8,64', '--D1=32768,8,64', '--LL=524288,8,64'];
const TOOL = ['--tool=callgrind', '--instr-atstart=no', '--cache-sim=yes', '--smc-check=all-non-file', '-q'];

/** Runs one server and counts what it executes, once it is told to. */
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

  /** V8 would take a server that is slowed down for one that has nothing to do, and collect garbage. */
  get under(): Under {
    const program = ['valgrind', ...TOOL, ...CACHES, `--callgrind-out-file=${join(this.folder, 'counts')}`];
    return { program, nodeFlags: ['--no-memory-reducer'] };
  }

  /** From now on it counts, which makes the server slower once more. */
  count(pid: number): void {
    control('-i', 'on', pid);
  }

  /** What the server executes while this is under way. */
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
