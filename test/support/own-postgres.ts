import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { before } from './until.js';

/** Temporary PostgreSQL that a test can stop and start again, on the same port and with the same data. */
export class OwnPostgres {
  private constructor(
    private readonly supervisor: ChildProcess,
    private readonly lines: Interface,
    /** URL of a database that exists from the start. */
    readonly url: string,
  ) {}

  /**
   * @param settings settings of the server, as `name=value`
   * @param disk true to put the data on a separate disk, and to restart the server whenever it ends; requires
   * `canMount()`
   */
  static async start(settings: readonly string[] = [], disk = false): Promise<OwnPostgres> {
    const script = resolve(import.meta.dirname, 'postgres-supervisor.mjs');
    // In a group of its own, so that it outlives whoever ends this process's group, and cleans up.
    const command = [process.execPath, script, ...settings];
    // In a mount namespace of its own, the disk goes with the last process that sees it.
    const [program = '', ...args] = disk ? ['unshare', '--mount', ...command] : command;
    const supervisor = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
      env: { ...process.env, DISK: disk ? '1' : '' },
    });
    const lines = createInterface({ input: supervisor.stdout });
    const [url] = (await before(once(lines, 'line'), { what: 'PostgreSQL' })) as [string];
    return new OwnPostgres(supervisor, lines, url);
  }

  /** Ends the server as a crash would: every session breaks, and no data is flushed. */
  async crash(): Promise<void> {
    await this.tell('stop', 'stopped');
  }

  async restart(): Promise<void> {
    await this.tell('start', 'started');
  }

  /**
   * Fills the server's disk. Statements that need more space fail, and a write-ahead log without space ends the server.
   */
  async fillDisk(): Promise<void> {
    await this.tell('fill', 'filled');
  }

  async freeDisk(): Promise<void> {
    await this.tell('free', 'freed');
  }

  /** Suspends all processes of the server, as if its disk did not respond. On Linux only. */
  async hang(): Promise<void> {
    await this.tell('hang', 'hanging');
  }

  async goOn(): Promise<void> {
    await this.tell('run', 'running');
  }

  /** Stops the server and removes its files. */
  async stop(): Promise<void> {
    const exit = once(this.supervisor, 'exit');
    this.supervisor.stdin?.end();
    await before(exit, { what: 'PostgreSQL to end' });
  }

  /** True if this process may mount a disk. */
  static canMount(): boolean {
    const options = { stdio: 'ignore' } as const;
    return process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'mount', '--version'], options).status === 0;
  }

  private async tell(command: string, answer: string): Promise<void> {
    const answered = once(this.lines, 'line');
    this.supervisor.stdin?.write(`${command}\n`);
    const [line] = (await before(answered, { what: `PostgreSQL to be ${answer}` })) as [string];
    if (line !== answer) throw new Error(`PostgreSQL was to be ${answer}: ${line}`);
  }
}
