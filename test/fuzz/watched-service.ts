import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { residentBytes } from '../bench/measure/processes.js';
import { type Parley, startParley } from '../support/parley.js';
import { until } from '../support/until.js';
import { Inspector } from './inspector.js';

export interface Memory {
  /** Bytes; 0 where the system does not tell. */
  resident: number;
  /** Bytes of the JavaScript heap in use after a collection. */
  heap: number;
}

/** A time in which the event loop stood still. */
export interface Pause {
  ms: number;
  /** What the loop's own thread worked of that; far less: the machine ran others, or it waited for a device. */
  cpuMs: number;
  /** What garbage collections took of it, and which ones. */
  gcMs: number;
  gc: string[];
  /** Unix milliseconds. */
  from: number;
  to: number;
}

/** How late the event loop was; milliseconds. */
export interface LoopDelay {
  max: number;
  p999: number;
  /** The longest, and those in which the thread worked most; the longest first. */
  pauses: Pause[];
}

const WATCH = pathToFileURL(resolve(import.meta.dirname, 'event-loop-watch.mjs')).href;

/** The built service with an inspector, so that its heap and its event loop can be measured from inside. */
export class WatchedService {
  private constructor(
    readonly parley: Parley,
    private readonly inspector: Inspector,
  ) {}

  /** @param callers the environment of a service that knows who will call */
  static async start(databaseUrl: string, callers: Record<string, string>): Promise<WatchedService> {
    const env = {
      ...callers,
      GRPC_PORT: '0',
      BODY_LIMIT: '256kb',
      LOG_LEVEL: 'error',
      NODE_OPTIONS: `--inspect=127.0.0.1:0 --import=${WATCH}`,
    };
    const parley = await startParley({ databaseUrl, env });
    const address = await until(() => /ws:\/\/127\.0\.0\.1:\S+/.exec(parley.logs())?.[0], { what: 'the inspector' });
    return new WatchedService(parley, await Inspector.open(address));
  }

  /** From now on the event loop's delays count. */
  async watchLoop(): Promise<void> {
    await this.inspector.evaluate('parleyEventLoop.begin()');
  }

  /** Collects first, for which the loop stands still: that does not count. */
  async memory(): Promise<Memory> {
    await this.inspector.evaluate('parleyEventLoop.suspend()');
    await this.inspector.call('HeapProfiler.collectGarbage');
    const { usedSize } = (await this.inspector.call('Runtime.getHeapUsage')) as { usedSize: number };
    return { resident: residentBytes(this.parley.pid), heap: usedSize };
  }

  /** Of all the time that counted. */
  async loopDelay(): Promise<LoopDelay> {
    await this.inspector.evaluate('parleyEventLoop.suspend()');
    return this.inspector.evaluate<LoopDelay>('parleyEventLoop.read()');
  }

  /** What was logged as an error: a fault that no answer told of. */
  errors(): string[] {
    return this.parley
      .logs()
      .split('\n')
      .filter((line) => /"level":"(error|fatal)"/.test(line) || /^\s+at /.test(line));
  }

  async grpcTarget(): Promise<string> {
    const card = (await (await fetch(`${this.parley.url}/.well-known/agent-card.json`)).json()) as {
      supportedInterfaces: { url: string; protocolBinding: string }[];
    };
    return card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')?.url ?? '';
  }

  async stop(): Promise<number | null> {
    this.inspector.close();
    return this.parley.stop();
  }
}
