import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, until } from './until.js';

/**
 * Time limit of the service's end after its starter was killed. It should take two seconds; the limit is far longer, so
 * that only a service that never ends fails the test.
 */
const END_WITHIN_MS = 180_000;

/** Command that starts a service, and can be killed as the out-of-memory killer does. */
export class KilledCommand {
  private said = '';
  private readonly gone: Promise<unknown>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly what: string,
  ) {
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (this.said += chunk));
    // Every process below the command writes to its output, which closes with the last of them.
    this.gone = once(child, 'close');
  }

  /** Starts a command. Call `ready` to wait for its service. */
  static start(command: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): KilledCommand {
    const [program = '', ...args] = command;
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    return new KilledCommand(child, command.join(' '));
  }

  /** Returns the URL of the service. @throws Error with the output if the command ends before its service is ready */
  async ready(): Promise<string> {
    let isOver = false;
    void this.gone.then(() => (isOver = true));
    const url = (): string | undefined => / is ready on (http:\S+?)\/?\s/.exec(this.said)?.[1];
    await until(() => isOver || url() !== undefined, { what: `${this.what} to be ready` });
    const found = url();
    if (found === undefined) throw new Error(`${this.what} ended before it was ready: ${this.said}`);
    return found;
  }

  /**
   * Kills the started process only. Resolves when no process of the command is left.
   * @returns true if the port of the service is free
   */
  async kill(): Promise<boolean> {
    const port = Number(new URL(await this.ready()).port);
    this.child.kill('SIGKILL');
    await before(this.gone, { within: END_WITHIN_MS, what: `every process of ${this.what} to end` });
    return !(await isListening(port));
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const connected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return connected;
}
