import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { before } from './until.js';

/** Direction over a link: `there` is from the connecting side to the listening side. */
export type Direction = 'there' | 'back';

interface Answer {
  id: number;
  port?: number;
}

/** TCP links in a separate process, each of which can be cut in one direction (see one-way-relay-process.mjs). */
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

  /** Opens a link to the port in `url`. The link's own URL leads to the same target. */
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

  /** Loses everything that is sent in this direction, until the link is mended. */
  async cut(direction: Direction): Promise<void> {
    await this.tell({ hold: direction });
  }

  /** Lets everything pass again. TCP then retransmits what was lost. */
  async mend(): Promise<void> {
    await this.tell({ hold: null });
  }

  /** Closes the link's connections, as a network does that has forgotten them. */
  async reset(): Promise<void> {
    await this.tell({ reset: true });
  }

  async close(): Promise<void> {
    await this.tell({ close: true });
  }
}
