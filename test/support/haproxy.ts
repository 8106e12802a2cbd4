import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithPackages } from './debian-install.js';
import { until } from './until.js';
import { endChild } from './end-child.js';

const PROGRAM = '/usr/sbin/haproxy';

/** Describes tests that need Debian's HAProxy. */
export function describeWithHaproxy(name: string, tests: () => void): void {
  describeWithPackages(['haproxy'], () => existsSync(PROGRAM), name, tests);
}

/** A running HAProxy. */
export class Haproxy {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /** @param url address at which HAProxy listens, as set in the configuration */
  static async start(configuration: string, url: string): Promise<Haproxy> {
    const folder = mkdtempSync(join(tmpdir(), 'parley-haproxy-'));
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configuration);
    const child = spawn(PROGRAM, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (log += chunk));
    const haproxy = new Haproxy(child, folder);
    const answers = async (): Promise<boolean> => {
      if (child.exitCode !== null) throw new Error(`HAProxy ended with ${child.exitCode}: ${log}`);
      const reply = await fetch(url).catch(() => undefined);
      await reply?.body?.cancel();
      return reply !== undefined;
    };
    await until(answers, { what: 'HAProxy' }).catch(async (error: Error) => {
      await haproxy.stop();
      throw error;
    });
    return haproxy;
  }

  async stop(): Promise<void> {
    await endChild(this.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
