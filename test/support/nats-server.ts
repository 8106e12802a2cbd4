import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { placeOf, whyNone } from './debian-program.js';
import { describeWithProgram } from './describe-with-program.js';
import { freePort } from './parley.js';
import { before } from './until.js';

const PROGRAM = { package: 'nats-server', path: '/usr/sbin/nats-server' };
/** Stands nowhere else, so that a log that has it has it from the URL. */
export const NATS_PASSWORD = 'p@ss-word-of-nats';

/** A group of tests with NATS; where it cannot be had they are reported as skipped, with the reason. */
export function describeWithNats(name: string, tests: () => void): void {
  describeWithProgram(PROGRAM, name, tests);
}

/** What signals of this run go over, where its environment says `PARLEY_TEST_SIGNALS=nats`: the database otherwise. */
export async function natsOfThisRun(): Promise<NatsServer | undefined> {
  return process.env.PARLEY_TEST_SIGNALS === 'nats' ? NatsServer.start() : undefined;
}

/** A NATS server on loopback that asks for a password, and can be stopped, frozen and started again on its port. */
export class NatsServer {
  private child: ChildProcess | undefined;

  private constructor(private readonly port: number) {}

  /** @throws the reason where there is none to be had */
  static async start(): Promise<NatsServer> {
    const server = await NatsServer.stopped();
    await server.restart();
    return server;
  }

  /** One that does not run yet. */
  static async stopped(): Promise<NatsServer> {
    const reason = whyNone(PROGRAM);
    if (reason !== undefined) throw new Error(reason);
    return new NatsServer(await freePort());
  }

  /** With its user and password. */
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

  /** SIGSTOP: it stands still, and its connections stay open. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  /** SIGCONT. */
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
