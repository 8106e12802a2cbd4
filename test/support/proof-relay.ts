import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Type of the message AuthenticationSASLFinal. CLEARTEXT_PASSWORD is a complete AuthenticationCleartextPassword
 * (PostgreSQL's protocol, "Message Formats").
 */
const SASL_FINAL = 12;
const CLEARTEXT_PASSWORD = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);

/**
 * Attacker between a client and its database server: relays all messages until the server has proved itself, and then
 * requests the password in the server's name.
 */
export class ProofRelay {
  asked = false;
  toldAfterwards = '';
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on('connection', (near) => this.join(near));
  }

  static async before(target: number): Promise<ProofRelay> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ProofRelay(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(near: Socket): void {
    const far = connect(this.target, '127.0.0.1');
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
    }
    near.on('data', (sent: Buffer) => {
      if (this.asked) this.toldAfterwards += sent.toString('latin1');
      else far.write(sent);
    });
    near.once('close', () => far.destroy());
    far.on('data', (said: Buffer) => {
      if (!this.asked) near.write(this.withQuestion(said));
    });
  }

  /**
   * Returns everything up to the proof, followed by the request for the password. The real AuthenticationOk is held
   * back.
   */
  private withQuestion(said: Buffer): Buffer {
    for (let at = 0; at + 9 <= said.length; at += 1 + said.readInt32BE(at + 1)) {
      if (said[at] !== 0x52 || said.readInt32BE(at + 5) !== SASL_FINAL) continue;
      this.asked = true;
      return Buffer.concat([said.subarray(0, at + 1 + said.readInt32BE(at + 1)), CLEARTEXT_PASSWORD]);
    }
    return said;
  }
}
