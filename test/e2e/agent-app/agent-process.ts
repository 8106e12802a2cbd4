import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { appMain, compileCache } from '../../support/parley.js';
import { before, until } from '../../support/until.js';

/** A stand-alone agent, seen from outside. */
export class AgentProcess {
  private written = '';
  private readonly closed: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    // Its last words may come after its end.
    this.closed = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (this.written += chunk));
  }

  /** Starts the built agent, on a free port unless `args` name one. */
  static spawn(args: readonly string[], databaseUrl: string, env: Record<string, string> = {}): AgentProcess {
    const given = { ...compileCache(), PATH: process.env.PATH, DATABASE_URL: databaseUrl, SHUTDOWN_GRACE: '1', ...env };
    return new AgentProcess(
      spawn(process.execPath, [appMain('agent'), ...args, ...(args.includes('--port') ? [] : ['--port', '0'])], {
        cwd: tmpdir(),
        env: given,
      }),
    );
  }

  get output(): string {
    return this.written;
  }

  /** The URL of its ready line. */
  async ready(): Promise<string> {
    return until(
      () => {
        if (this.child.exitCode !== null) throw new Error(`The agent ended: ${this.written}`);
        return /^Agent \S+ is ready on (\S+)$/m.exec(this.written)?.[1];
      },
      { what: 'the ready line' },
    );
  }

  /** The exit code, once it has ended. */
  async ended(): Promise<number | null> {
    await before(this.closed, { what: 'the agent to end' });
    return this.child.exitCode;
  }

  async signal(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.ended();
  }
}

/** The lines of a call log. */
export function callsIn(file: string): Record<string, unknown>[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
