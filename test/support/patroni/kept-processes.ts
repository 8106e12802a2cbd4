import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { before } from '../until.js';
import { processesIn } from './processes-in.mjs';

interface News {
  name: string;
  pid?: number;
  error?: string;
}

/** Programs that run in a folder, and end at the latest with this process, however it ends (process-keeper.mjs). */
export class KeptProcesses {
  private readonly keeper: ChildProcess;

  constructor(
    readonly folder: string,
    uid: number,
    gid: number,
  ) {
    const script = resolve(import.meta.dirname, 'process-keeper.mjs');
    // In a group of its own: a signal from the terminal is for this process alone.
    this.keeper = fork(script, [folder, String(uid), String(gid)], { execArgv: [], detached: true });
  }

  /** Starts a program, whose output goes to `<name>.log`. @returns its process id */
  async start(name: string, command: string, args: readonly string[]): Promise<number> {
    const told = this.told(name);
    this.keeper.send({ name, command, args });
    const { pid, error } = await before(told, { what: `${name} to start` });
    if (pid === undefined) throw new Error(`${name}: ${error}`);
    return pid;
  }

  /** Returns the ids of the processes whose working directory is in a subfolder. */
  in(folder: string): number[] {
    return processesIn(folder);
  }

  /** Kills all programs and removes the folder. */
  async end(): Promise<void> {
    if (this.keeper.exitCode !== null || this.keeper.signalCode !== null) return;
    const exit = once(this.keeper, 'exit');
    this.keeper.send({ end: true });
    await before(exit, { what: 'all programs to end' });
  }

  private async told(name: string): Promise<News> {
    for (;;) {
      const [news] = (await once(this.keeper, 'message')) as [News];
      if (news.name === name) return news;
    }
  }
}

/** Sends a signal to a process. @returns true if the process exists */
export function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
