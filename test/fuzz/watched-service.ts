import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { residentBytes } from '../bench/measure/processes.js';
import { type Parley, startParley } from '../support/parley.js';
import { until } from '../support/until.js';
import { Inspector } from './inspector.js';

export interface Memory {
  /** Resident memory in bytes; 0 if the system does not report it. */
  resident: number;
  /** Bytes of the JavaScript heap in use after a garbage collection. */
  heap: number;
}

/** Period in which the event loop was blocked. */
export interface Pause {
  ms: number;
  /**
   * CPU time of the event loop's thread in the pause. If it is far less than the pause, the machine ran other
   * processes, or the thread waited for a device.
   */
  cpuMs: number;
  /** Milliseconds of garbage collections in the pause. `gc` names them. */
  gcMs: number;
  gc: string[];
  /** Start of the pause in milliseconds since 1970. */
  from: number;
  to: number;
}

/** Delays of the event loop in milliseconds. */
export interface LoopDelay {
  max: number;
  p999: number;
  /** Longest pauses, and those with the most CPU time; the longest first. */
  pauses: Pause[];
}

const WATCH = pathToFileURL(resolve(import.meta.dirname, 'event-loop-watch.mjs')).href;

/** Built service with an inspector, so that its heap and event loop can be measured from inside. */
export class WatchedService {
  private constructor(
    readonly parley: Parley,
    private readonly inspector: Inspector,
  ) {}

  /** @param callers environment of a service that knows the callers */
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

  /** Starts to measure the delays of the event loop. */
  async watchLoop(): Promise<void> {
    await this.inspector.evaluate('parleyEventLoop.begin()');
  }

  /** Measures memory after a garbage collection. The pause that this causes is not counted. */
  async memory(): Promise<Memory> {
    await this.inspector.evaluate('parleyEventLoop.suspend()');
    await this.inspector.call('HeapProfiler.collectGarbage');
    const { usedSize } = (await this.inspector.call('Runtime.getHeapUsage')) as { usedSize: number };
    return { resident: residentBytes(this.parley.pid), heap: usedSize };
  }

  /** Returns the delays over all measured time. */
  async loopDelay(): Promise<LoopDelay> {
    await this.inspector.evaluate('parleyEventLoop.suspend()');
    return this.inspector.evaluate<LoopDelay>('parleyEventLoop.read()');
  }

  /** Returns the lines that were logged as errors, which are faults that no answer reports. */
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
