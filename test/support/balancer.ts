import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { resolve } from 'node:path';
import { before } from './until.js';

/** Load balancer in a separate process, without sticky sessions (see balancer-process.mjs). */
export class Balancer {
  private readonly ready = new Set<string>();
  private readonly changes = new EventEmitter();
  /** Number of times that a check found a ready replica not ready, such as one that answered late. */
  losses = 0;

  private constructor(
    private readonly child: ChildProcess,
    /** Base URL of the balancer, without a trailing slash. */
    readonly url: string,
  ) {
    child.on('message', (news: { url: string; ready: boolean }) => {
      if (news.ready) this.ready.add(news.url);
      else if (this.ready.delete(news.url)) this.losses += 1;
      this.changes.emit('change');
    });
  }

  static async start(): Promise<Balancer> {
    const child = fork(resolve(import.meta.dirname, 'balancer-process.mjs'), { execArgv: [] });
    const [{ port }] = (await before(once(child, 'message'), { what: 'the port of the balancer' })) as [
      { port: number },
    ];
    return new Balancer(child, `http://127.0.0.1:${port}`);
  }

  /** Sets the replicas to choose from; resolves when the balancer has found all of them ready. */
  async serve(...urls: string[]): Promise<void> {
    this.targets(...urls);
    const all = async (): Promise<void> => {
      while (!urls.every((url) => this.ready.has(url))) await once(this.changes, 'change');
    };
    await before(all(), { what: 'every replica to be ready' });
  }

  /** Sets the replicas to choose from, without waiting until they are ready. */
  targets(...urls: string[]): void {
    this.child.send({ targets: urls });
  }

  /** Drops each open connection with this probability. */
  cut(probability = 1): void {
    this.child.send({ cut: probability });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }
}
