import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtLib, compileCache } from '../../support/parley.js';

const HERE = import.meta.dirname;

/** A process that has the embedded PostgreSQL of a data directory in use. */
export class EmbeddedUserProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    private readonly lines: AsyncIterator<string>,
  ) {}

  static async start(dataDir: string, listening: 'socket' | 'loopback' = 'socket'): Promise<EmbeddedUserProcess> {
    const child = spawn(process.execPath, [join(HERE, 'embedded-user.mjs'), builtLib('postgres'), dataDir, listening], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...compileCache(), PATH: process.env['PATH'] },
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done) throw new Error('The process ended before it had a database');
    return new EmbeddedUserProcess(child, (JSON.parse(first.value) as { url: string }).url, lines);
  }

  async stop(): Promise<void> {
    this.child.stdin!.write('stop\n');
    await this.lines.next();
    await this.ended();
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended();
  }

  private async ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}
