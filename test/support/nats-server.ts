import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { placeOf, whyNone } from './debian-program.js';
import { describeWithProgram } from './describe-with-program.js';
import { freePort } from './parley.js';
import { before } from './until.js';

const PROGRAM = { package: 'nats-server', path: '/usr/sbin/nats-server' };
/** Password that occurs nowhere else, so that a log that contains it got it from the URL. */
export const NATS_PASSWORD = 'p@ss-word-of-nats';

/** Describes tests that need NATS. If NATS cannot be provided, they are reported as skipped, with the reason. */
export function describeWithNats(name: string, tests: () => void): void {
  describeWithProgram(PROGRAM, name, tests);
}

/**
 * Starts the NATS server for the signals of this test run if `PARLEY_TEST_SIGNALS=nats`; otherwise returns `undefined`,
 * and signals use the database.
 */
export async function natsOfThisRun(): Promise<NatsServer | undefined> {
  return process.env.PARLEY_TEST_SIGNALS === 'nats' ? NatsServer.start() : undefined;
}

/** NATS server on loopback that requires a password, and can be stopped, frozen and restarted on its port. */
export class NatsServer {
  private child: ChildProcess | undefined;

  private constructor(private readonly port: number) {}

  /** Starts a server. @throws the reason why NATS cannot be provided */
  static async start(): Promise<NatsServer> {
    const server = await NatsServer.stopped();
    await server.restart();
    return server;
  }

  /** Prepares a server without starting it. */
  static async stopped(): Promise<NatsServer> {
    const reason = whyNone(PROGRAM);
    if (reason !== undefined) throw new Error(reason);
    return new NatsServer(await freePort());
  }

  /** URL with user and password. */
  get url(): string {
    return `nats://parley:${encodeURIComponent(NATS_PASSWORD)}@127.0.0.1:${this.port}`;
  }

  async restart(): Promise<void> {
    const child = spawn(
      placeOf(PROGRAM),
      ['--addr', '127.0.0.1', '--port', String(this.port), '--user', 'parley', '--pass', NATS_PASSWORD],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.child = child;
    let log = '';
    const ready = new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        log += chunk;
        if (log.includes('Server is ready')) resolve();
      });
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`NATS ended: ${log}`)));
    });
    await before(ready, { what: 'NATS' });
  }

  /** Suspends the process (SIGSTOP). Its connections stay open. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  /** Resumes the process (SIGCONT). */
  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}
