import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { before } from './until.js';

/** Other user of this machine: an account without further groups. */
export class OtherAccount {
  private readonly children = new Set<ChildProcess>();

  constructor(
    readonly uid: number,
    readonly gid: number,
  ) {}

  /** Runs a script (the text of an ES module) as that user. @returns the JSON that it wrote to standard output */
  async run<T>(script: string, argument: unknown): Promise<T> {
    const child = this.spawn(script, argument);
    let out = '';
    let problems = '';
    child.stdout!.on('data', (chunk: Buffer) => (out += chunk));
    child.stderr!.on('data', (chunk: Buffer) => (problems += chunk));
    const [code] = (await before(once(child, 'close'), { what: 'the other user' })) as [number];
    if (code !== 0) throw new Error(`The other user's script ended with ${code}: ${problems}`);
    return JSON.parse(out) as T;
  }

  /** Starts a script that keeps running until `end`. @returns the first line that it wrote */
  async begin(script: string, argument: unknown): Promise<string> {
    const child = this.spawn(script, argument);
    const lines = createInterface({ input: child.stdout! });
    const [line] = (await before(once(lines, 'line'), { what: 'the other user' })) as [string];
    return line;
  }

  /** Ends every script that `begin` started. */
  end(): void {
    for (const child of this.children) child.kill('SIGKILL');
  }

  private spawn(script: string, argument: unknown): ChildProcess {
    const text = `const given = JSON.parse(process.argv[1]);\n${script}`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', text, JSON.stringify(argument)], {
      uid: this.uid,
      gid: this.gid,
      cwd: tmpdir(),
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.children.add(child);
    child.once('exit', () => this.children.delete(child));
    return child;
  }
}
