import { once } from 'node:events';
import { WebSocket } from 'ws';
import { residentBytes } from '../bench/measure/processes.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { type Parley, startParley } from '../support/parley.js';
import { until } from '../support/until.js';

export interface Memory {
  /** Bytes; 0 where the system does not tell. */
  resident: number;
  /** Bytes of the JavaScript heap in use after a collection. */
  heap: number;
}

/** The built service with an inspector, so that its heap can be measured after a collection. */
export class WatchedService {
  private constructor(
    readonly parley: Parley,
    /** What a caller sends that may do everything. */
    readonly credentials: Record<string, string>,
    private readonly inspector: Inspector,
  ) {}

  static async start(databaseUrl: string, auth: 'api-key' | 'none'): Promise<WatchedService> {
    const caller = testCaller('fuzzer');
    const env = {
      ...(auth === 'api-key' && apiKeyEnv(caller)),
      GRPC_PORT: '0',
      BODY_LIMIT: '256kb',
      LOG_LEVEL: 'error',
      NODE_OPTIONS: '--inspect=127.0.0.1:0',
    };
    const parley = await startParley({ databaseUrl, env });
    const address = await until(() => /ws:\/\/127\.0\.0\.1:\S+/.exec(parley.logs())?.[0], { what: 'the inspector' });
    return new WatchedService(parley, auth === 'api-key' ? caller.headers : {}, await Inspector.open(address));
  }

  async memory(): Promise<Memory> {
    await this.inspector.call('HeapProfiler.collectGarbage');
    const { usedSize } = (await this.inspector.call('Runtime.getHeapUsage')) as { usedSize: number };
    return { resident: residentBytes(this.parley.pid), heap: usedSize };
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

/** As much of the Chrome DevTools protocol as is needed. */
class Inspector {
  private last = 0;

  private constructor(private readonly socket: WebSocket) {}

  static async open(address: string): Promise<Inspector> {
    const socket = new WebSocket(address);
    await once(socket, 'open');
    return new Inspector(socket);
  }

  call(method: string): Promise<unknown> {
    const id = ++this.last;
    return new Promise((resolve) => {
      const take = (data: Buffer): void => {
        const answer = JSON.parse(data.toString()) as { id?: number; result?: unknown };
        if (answer.id !== id) return;
        this.socket.off('message', take);
        resolve(answer.result);
      };
      this.socket.on('message', take);
      this.socket.send(JSON.stringify({ id, method }));
    });
  }

  close(): void {
    this.socket.terminate();
  }
}
