import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compileCache } from './parley.js';
import { before } from './until.js';

const MAIN = join(resolve(import.meta.dirname, '../..'), 'dist/apps/cli/src/main.js');

/** Exit code and output of a command. */
export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Folder in which a test runs `parley` commands as a user would: each in a separate process. */
export class ParleyCommand {
  readonly folder = mkdtempSync(join(tmpdir(), 'parley-command-'));
  private readonly children = new Set<ChildProcess>();

  /**
   * @param env environment besides PATH; PARLEY_URL selects the service
   * @param main program, relative to the folder; default: the built command
   */
  constructor(
    private readonly env: Record<string, string>,
    private readonly main = MAIN,
  ) {}

  /** Runs a command to its end. */
  async run(...args: string[]): Promise<Ended> {
    return this.start(...args).ended();
  }

  /** Starts a command that keeps running. */
  start(...args: string[]): { child: ChildProcess; out: () => string; err: () => string; ended: () => Promise<Ended> } {
    const env = { ...compileCache(), PATH: process.env.PATH ?? '', ...this.env };
    const child = spawn(process.execPath, [resolve(this.folder, this.main), ...args], {
      cwd: this.folder,
      env,
      stdio: [args[0] === 'chat' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    this.children.add(child);
    let [out, err] = ['', ''];
    child.stdout!.on('data', (chunk: Buffer) => (out += chunk));
    child.stderr!.on('data', (chunk: Buffer) => (err += chunk));
    const what = { what: `parley ${args.join(' ')} to end` };
    const over = once(child, 'close').then(([code]): Ended => ({ code: code as number | null, out, err }));
    // What goes on is waited for from when somebody does.
    return { child, out: () => out, err: () => err, ended: () => before(over, what) };
  }

  end(): void {
    for (const child of this.children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
