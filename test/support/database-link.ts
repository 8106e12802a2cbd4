import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** TCP link to a database that a test can cut and restore, as a network may. */
export class DatabaseLink {
  private readonly sockets = new Set<Socket>();
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private isCut = false;
  private readonly refused: (() => void)[] = [];
  private poison: string | undefined;
  private lastWord: string | undefined;
  private alarm: string | undefined;
  private lastHeard: Socket | undefined;
  private fault: { text: string; kind: 'lost' | 'unanswered'; done: () => void } | undefined;

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('connection', (socket) => this.join(socket));
  }

  static async to(databaseUrl: string): Promise<DatabaseLink> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new DatabaseLink(server, new URL(databaseUrl));
  }

  /** URL of the database through this link. */
  get url(): string {
    const url = new URL(this.target);
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** Resolves when the cut link has refused the next connection. */
  nextRefusal(): Promise<void> {
    return new Promise((done) => this.refused.push(done));
  }

  /** Breaks every connection and refuses new ones. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
    this.poison = undefined;
    this.lastWord = undefined;
  }

  /** Breaks the connection over which a text is sent to the database, as if the text crashed the server. */
  breakOn(text: string): void {
    this.poison = text;
  }

  /** Breaks a connection before a text from the database arrives over it. */
  breakBefore(text: string): void {
    this.lastWord = text;
  }

  /**
   * Breaks the next connection over which a text is sent: before the text arrives (`lost`), or when the answer to it
   * arrives (`unanswered`). Resolves when that has happened.
   */
  breakOnce(text: string, kind: 'lost' | 'unanswered'): Promise<void> {
    return new Promise((done) => (this.fault = { text, kind, done }));
  }

  /**
   * Cuts the link when a text is sent over it. The sender's connection breaks once the link has refused another one.
   */
  cutOn(text: string): void {
    this.alarm = text;
  }

  /** Silently loses everything that is sent over existing connections, for good. New connections work. */
  lose(): void {
    for (const [near, far] of this.pairs) {
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        socket.unpipe(other).resume();
        socket.removeAllListeners('close').once('close', () => this.sockets.delete(socket));
      }
    }
    this.pairs.clear();
  }

  async stop(): Promise<void> {
    this.lastHeard?.destroy();
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private cutBut(near: Socket, far: Socket): void {
    this.lastHeard = near;
    for (const kept of [near, far]) this.sockets.delete(kept);
    near.unpipe(far);
    this.cut();
  }

  private breakFaulty(near: Socket, far: Socket, sent: Buffer): void {
    const { fault } = this;
    if (!fault || !sent.includes(fault.text)) return;
    this.fault = undefined;
    const breakNow = (): void => {
      far.unpipe(near);
      near.unpipe(far);
      near.destroy();
      far.destroy();
      fault.done();
    };
    if (fault.kind === 'lost') breakNow();
    else far.prependOnceListener('data', breakNow);
  }

  private join(near: Socket): void {
    if (this.isCut) {
      near.destroy();
      this.refused.splice(0).forEach((done) => done());
      return void this.lastHeard?.destroy();
    }
    const far = connect(Number(this.target.port), this.target.hostname);
    near.on('data', (sent: Buffer) => {
      if (this.alarm !== undefined && sent.includes(this.alarm)) this.cutBut(near, far);
      this.breakFaulty(near, far, sent);
      if (this.poison === undefined || !sent.includes(this.poison)) return;
      far.destroy();
      near.destroy();
    });
    far.on('data', (sent: Buffer) => {
      if (this.lastWord === undefined || !sent.includes(this.lastWord)) return;
      far.unpipe(near);
      near.destroy();
    });
    const pair = [near, far] as const;
    this.pairs.add(pair);
    near.once('close', () => this.pairs.delete(pair));
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
