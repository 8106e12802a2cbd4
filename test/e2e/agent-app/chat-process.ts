import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { appMain, compileCache } from '../../support/parley.js';
import { before, until } from '../../support/until.js';

/** The terminal client, seen from outside: lines go in, lines come out. */
export class ChatProcess {
  private written = '';
  private readonly closed: Promise<unknown>;
  private answers = 0;

  private constructor(private readonly child: ChildProcessWithoutNullStreams) {
    // Its last words may come after its end.
    this.closed = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (this.written += chunk));
  }

  static spawn(...args: string[]): ChatProcess {
    return new ChatProcess(
      spawn(process.execPath, [appMain('cli'), 'chat', ...args], {
        cwd: tmpdir(),
        env: { ...process.env, ...compileCache() },
        stdio: 'pipe',
      }),
    );
  }

  get output(): string {
    return this.written;
  }

  /** Types a line and gives the agent's answer to it. */
  async say(line: string): Promise<string> {
    this.type(line);
    const index = this.answers++;
    return until(() => [...this.written.matchAll(/^(?:you> )*(?:agent|error)> (.*)\n/gm)][index]?.[1], {
      what: `an answer to ${line}: ${this.written}`,
    });
  }

  type(line: string): void {
    this.child.stdin.write(`${line}\n`);
  }

  /** Ends the input; gives the exit code. */
  async end(): Promise<number | null> {
    this.child.stdin.end();
    return this.ended();
  }

  async ended(): Promise<number | null> {
    await before(this.closed, { what: 'the chat to end' });
    return this.child.exitCode;
  }

  /** Ctrl-C. */
  interrupt(): void {
    this.child.kill('SIGINT');
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
