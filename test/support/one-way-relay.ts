import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { before } from './until.js';

/** From the one that connects to the one that listens, or from that one back. */
export type Direction = 'there' | 'back';

interface Answer {
  id: number;
  port?: number;
}

/** TCP links, in a process of their own, that may be closed in one direction (see one-way-relay-process.mjs). */
export class OneWayRelay {
  private asked = 0;
  private readonly waiting = new Map<number, (answer: Answer) => void>();

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (answer: Answer) => {
      this.waiting.get(answer.id)?.(answer);
      this.waiting.delete(answer.id);
    });
  }

  static start(): OneWayRelay {
    return new OneWayRelay(fork(resolve(import.meta.dirname, 'one-way-relay-process.mjs'), { execArgv: [] }));
  }

  /** Opens a link to a port of this machine; `url` with the port of the link reaches the same. */
  async linkTo(url: string): Promise<OneWayLink> {
    const target = new URL(url);
    const { port } = await this.ask({ open: Number(target.port) });
    target.port = String(port);
    return new OneWayLink(target.href.replace(/\/$/, ''), (what) => this.ask({ port, ...what }));
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }

  private ask(what: object): Promise<Answer> {
    this.asked += 1;
    const id = this.asked;
    const answered = new Promise<Answer>((answer) => this.waiting.set(id, answer));
    this.child.send({ id, ...what });
    return before(answered, { what: 'the relay to answer' });
  }
}

export class OneWayLink {
  constructor(
    readonly url: string,
    private readonly tell: (what: object) => Promise<unknown>,
  ) {}

  /** Loses everything that is sent in this direction, until it is mended. */
  async cut(direction: Direction): Promise<void> {
    await this.tell({ hold: direction });
  }

  /** Lets everything pass again; what was lost meanwhile is sent again, as TCP does. */
  async mend(): Promise<void> {
    await this.tell({ hold: null });
  }

  /** Ends its connections, as a network does that has forgotten them. */
  async reset(): Promise<void> {
    await this.tell({ reset: true });
  }

  async close(): Promise<void> {
    await this.tell({ close: true });
  }
}
