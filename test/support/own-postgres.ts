import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { before } from './until.js';

/** A throw-away PostgreSQL that a test may stop and start again, on the same port and with the same data. */
export class OwnPostgres {
  private constructor(
    private readonly supervisor: ChildProcess,
    private readonly lines: Interface,
    /** Of a database that is there from the start. */
    readonly url: string,
  ) {}

  /** @param settings of the server, as `name=value` */
  static async start(settings: readonly string[] = []): Promise<OwnPostgres> {
    const script = resolve(import.meta.dirname, 'postgres-supervisor.mjs');
    // In a group of its own, so that it outlives whoever ends this process's group, and cleans up.
    const supervisor = spawn(process.execPath, [script, ...settings], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    const lines = createInterface({ input: supervisor.stdout });
    const [url] = (await before(once(lines, 'line'), { what: 'PostgreSQL' })) as [string];
    return new OwnPostgres(supervisor, lines, url);
  }

  /** Ends the server as a crash would: every session breaks, nothing is written down. */
  async crash(): Promise<void> {
    await this.tell('stop', 'stopped');
  }

  async restart(): Promise<void> {
    await this.tell('start', 'started');
  }

  /** Removes its files as well. */
  async stop(): Promise<void> {
    const exit = once(this.supervisor, 'exit');
    this.supervisor.stdin?.end();
    await before(exit, { what: 'PostgreSQL to end' });
  }

  private async tell(command: string, answer: string): Promise<void> {
    const answered = once(this.lines, 'line');
    this.supervisor.stdin?.write(`${command}\n`);
    const [line] = (await before(answered, { what: `PostgreSQL to be ${answer}` })) as [string];
    if (line !== answer) throw new Error(`PostgreSQL was to be ${answer}: ${line}`);
  }
}
