import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadJob, LoadResult } from './closed-loop.ts';
import type { Order } from './generator.ts';
import type { StreamsJob } from './stream-readers.ts';

/** Load generator in a separate process. It executes one order at a time. */
export class LoadProcess {
  private readonly child: ChildProcess = fork(join(import.meta.dirname, 'generator.ts'));

  get pid(): number {
    return this.child.pid ?? 0;
  }

  load(job: LoadJob): Promise<LoadResult> {
    return this.order<LoadResult>({ kind: 'load', job });
  }

  openStreams(job: StreamsJob): Promise<void> {
    return this.order<void>({ kind: 'open', job });
  }

  /** Sends a request, and returns for each open stream the milliseconds until an event with the needle arrived. */
  deliver(
    request: { path: string; body: string; headers?: Record<string, string> },
    needle: string,
  ): Promise<LoadResult> {
    return this.order<LoadResult>({ kind: 'deliver', request, needle });
  }

  closeStreams(): Promise<void> {
    return this.order<void>({ kind: 'close' });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }

  private async order<T>(order: Order): Promise<T> {
    this.child.send(order);
    const gone = new AbortController();
    const exit = once(this.child, 'exit', { signal: gone.signal }).then(
      () => [{ problem: 'The load generator died' }],
      () => [],
    );
    const [answer] = await Promise.race([once(this.child, 'message'), exit]);
    gone.abort();
    const { result, problem } = answer as { result?: T; problem?: string };
    if (problem !== undefined) throw new Error(problem);
    return result as T;
  }
}
