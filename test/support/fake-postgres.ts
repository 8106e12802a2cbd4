import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/**
 * Answers to a startup packet: those of a server that requests the password, or that claims to have authenticated the
 * client.
 */
export const FAKE_ANSWERS = {
  'asks for the password in clear': authentication(3),
  'asks for an MD5 of the password': authentication(5, Buffer.from('salt')),
  'says that no password is needed': Buffer.concat([authentication(0), message('Z', Buffer.from('I'))]),
  'asks for the password in clear and goes on at once': Buffer.concat([
    authentication(3),
    authentication(0),
    message('Z', Buffer.from('I')),
  ]),
  'claims to have proved itself': Buffer.concat([
    authentication(10, Buffer.from('SCRAM-SHA-256\0\0')),
    authentication(12, Buffer.from('v=AAAA')),
    authentication(0),
    message('Z', Buffer.from('I')),
  ]),
} as const;

export type FakeAnswer = keyof typeof FAKE_ANSWERS;

/** Impostor that listens where a PostgreSQL is expected, and records what clients send. */
export class FakePostgres {
  private readonly sockets = new Set<Socket>();
  private text = '';
  private visits = 0;

  private constructor(
    private readonly server: Server,
    answer: FakeAnswer,
  ) {
    server.on('connection', (socket) => this.receive(socket, answer));
  }

  static async listen(answer: FakeAnswer, port = 0): Promise<FakePostgres> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new FakePostgres(server, answer);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Number of clients that have connected. */
  get clients(): number {
    return this.visits;
  }

  /** Everything that clients sent after their startup packets, which contain only names. */
  get told(): string {
    return this.text;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private receive(socket: Socket, answer: FakeAnswer): void {
    this.sockets.add(socket);
    this.visits += 1;
    socket.on('error', () => undefined);
    socket.once('close', () => this.sockets.delete(socket));
    socket.once('data', () => {
      socket.on('data', (chunk: Buffer) => (this.text += chunk.toString('latin1')));
      socket.write(FAKE_ANSWERS[answer]);
    });
  }
}

function authentication(kind: number, rest: Buffer = Buffer.alloc(0)): Buffer {
  const code = Buffer.alloc(4);
  code.writeInt32BE(kind);
  return message('R', Buffer.concat([code, rest]));
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
